"""Interface of all tokenizers, and the choice of the one that a model folder needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import read_plain
from zh_albert.tokenization import unigram, vocab
from zh_albert.tokenization.encoding import Encoding, SpecialIds
from zh_albert.tokenization.settings import CONFIG_NAME, read_normalizer, read_settings
from zh_albert.tokenization.unigram import UnigramTokenizer
from zh_albert.tokenization.vocab import Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer


class Tokenizer(Protocol):
    """Text to token ids and character offsets: the WordPiece or the unigram tokenizer."""

    @property
    def special(self) -> SpecialIds:
        """Ids of the special tokens."""

    @property
    def vocab_size(self) -> int:
        """Number of ids."""

    def encode(self, text: str) -> Encoding:
        """Tokenize one text; no special tokens are added."""

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """Tokenize several texts, in order."""

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the vocabulary rows of ``ids``."""

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids``, as far as they determine it."""

    def to_config(self) -> dict[str, Any]:
        """Return the settings as ``transformers`` names them."""

    def simplifying(self) -> Tokenizer:
        """Return the same tokenizer, which reads traditional characters as simplified ones."""

    def save_files(self, *, max_tokens: int = 512) -> dict[str, bytes]:
        """Return the files of a model folder, by name."""


@cache
def default_tokenizer() -> WordPieceTokenizer:
    """Return the tokenizer of this project's own vocabulary."""
    return WordPieceTokenizer(
        default_vocabulary(), fold_width=True, simplify=True, split_unknown=True
    )


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read a model folder's tokenizer: ``vocab.txt``, ``spiece.model`` or ``tokenizer.json``.

    The vocabulary is used as it is. Settings come from ``tokenizer_config.json`` if it is there,
    and from the normalizer of a ``tokenizer.json``; without them, text is lowercased and full-width
    characters are unchanged.

    Raises:
        CheckpointError: If the folder does not exist or holds none of these files.
        DataError: If a file cannot be read; see ``Vocabulary`` and ``UnigramTokenizer``.
        ConfigError: If a setting cannot be used.
        MissingExtraError: If ``spiece.model`` needs a library that is not installed.
    """
    names = (vocab.FILE_NAME, unigram.FILE_NAME, vocab.JSON_NAME)
    vocabulary_path, model_path, json_path = (folder / name for name in names)
    settings = read_settings(folder)
    source = folder / CONFIG_NAME
    if vocabulary_path.is_file():
        return WordPieceTokenizer.from_config(
            Vocabulary.read(vocabulary_path), settings, source=source
        )
    if model_path.is_file():
        return UnigramTokenizer.from_config(read_plain(model_path), settings, source=model_path)
    if json_path.is_file():
        vocabulary = Vocabulary.read_json(json_path)
        settings = read_normalizer(json_path) | settings
        return WordPieceTokenizer.from_config(vocabulary, settings, source=source)
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such folder; expected a model folder")
    raise CheckpointError(
        f"{folder}: not a model folder: expected {vocab.FILE_NAME}, {unigram.FILE_NAME} or "
        f"{vocab.JSON_NAME}, found none; put that of the model in it (in transformers: "
        "tokenizer.save_pretrained)"
    )
