"""SentencePiece unigram tokenizer with the same interface as WordPiece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError, MissingExtraError
from zh_albert.tokenization.characters import lower, replace_surrogates
from zh_albert.tokenization.encoding import Encoding, SpecialIds
from zh_albert.tokenization.settings import CONFIG_NAME, flag, write_settings
from zh_albert.tokenization.simplified import simplified

FILE_NAME = "spiece.model"
_SPACE = "\u2581"  # SentencePiece's symbol for a space
_PAD_NAMES = ("<pad>", "[PAD]")


class UnigramTokenizer:
    """Text to token ids and offsets, by a SentencePiece model.

    Offsets are exact even where the model's normalization changes a string's length: pieces of the
    same character share it. A ``▁`` that stands for no character, or for white space alone, has an
    empty offset, and a piece's offset excludes the space before its word.

    Args:
        model: The content of a ``spiece.model``.
        lowercase: Convert text to lower case first, as ALBERT's published models require.
        simplify: Read traditional characters as simplified ones; see ``simplified``.
        source: Origin of the model, named in errors.

    Raises:
        MissingExtraError: If sentencepiece is not installed.
        DataError: If ``model`` is not a SentencePiece model, or lacks ``<pad>``, ``[CLS]``,
            ``[SEP]`` or ``[MASK]`` (all missing ones are named).
    """

    def __init__(
        self,
        model: bytes,
        *,
        lowercase: bool = True,
        simplify: bool = False,
        source: Path | str = FILE_NAME,
    ) -> None:
        try:
            import sentencepiece  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtraError.of("sentencepiece", "unigram") from None
        self.model = model
        self.lowercase, self.simplify = lowercase, simplify
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, ValueError):
            raise DataError(f"{source}: not a SentencePiece model") from None
        self.special = self._find_special(source)
        self._reserved = set(self.special)

    @property
    def vocab_size(self) -> int:
        """Number of ids."""
        return int(self._processor.get_piece_size())

    def encode(self, text: str) -> Encoding:
        """Tokenize one text; no special tokens are added. An empty text has none."""
        text = replace_surrogates(text)
        if self.lowercase:
            text = lower(text)
        if self.simplify:
            text = simplified(text)
        found = self._processor.encode(text, return_type="offset_mapping")
        # A model may have [MASK] as a piece that text matches; in a user's text it is not special.
        ids = [self.special.unk if i in self._reserved else i for i in found["ids"]]
        return Encoding(ids, _shared_offsets(text, found["pieces"], found["offsets"]))

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """Tokenize several texts, in order."""
        return [self.encode(text) for text in texts]

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of ``ids``."""
        return [self._processor.id_to_piece(token_id) for token_id in ids]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids``, without spaces around it."""
        return str(self._processor.decode(list(ids))).strip()

    def to_config(self) -> dict[str, Any]:
        """Return the settings as ``transformers`` names them; ``simplify`` is ours."""
        return {"do_lower_case": self.lowercase, "simplify": self.simplify}

    @classmethod
    def from_config(
        cls, model: bytes, config: Mapping[str, Any], *, source: Path | str = FILE_NAME
    ) -> UnigramTokenizer:
        """Return a tokenizer with the settings from ``to_config``, or from a published file.

        Raises:
            ConfigError: If a setting has the wrong type.
            DataError: See the class.
        """
        lowercase = flag(config, "do_lower_case", True, source=CONFIG_NAME)
        simplify = flag(config, "simplify", False, source=CONFIG_NAME)
        return cls(model, lowercase=lowercase, simplify=simplify, source=source)

    def simplifying(self) -> UnigramTokenizer:
        """Return the same tokenizer with ``simplify``."""
        return self.from_config(self.model, self.to_config() | {"simplify": True})

    def save_files(self, *, max_tokens: int = 512) -> dict[str, bytes]:
        """Return the files of a model folder, by name.

        Args:
            max_tokens: The model's window, special tokens included.
        """
        config = {"tokenizer_class": "AlbertTokenizer", "model_max_length": max_tokens}
        return {FILE_NAME: self.model, CONFIG_NAME: write_settings(config | self.to_config())}

    def __reduce__(self) -> tuple[Any, ...]:  # the C++ object does not pickle
        return self.from_config, (self.model, self.to_config())

    def _find_special(self, source: Path | str) -> SpecialIds:
        unknown = self._processor.unk_id()
        ids = {name: self._processor.piece_to_id(name) for name in (*_PAD_NAMES, *_NEEDED)}
        pad = next((ids[name] for name in _PAD_NAMES if ids[name] != unknown), unknown)
        missing = [name for name in _NEEDED if ids[name] == unknown]
        if pad == unknown:
            missing.insert(0, _PAD_NAMES[0])
        if missing:
            raise DataError(f"{source}: the model lacks the special tokens {' '.join(missing)}")
        return SpecialIds(pad, unknown, *(ids[name] for name in _NEEDED))


_NEEDED = ("[CLS]", "[SEP]", "[MASK]")


def _shared_offsets(
    text: str, pieces: Sequence[str], offsets: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the characters of each piece.

    For a character with several pieces, the library assigns it to the last of them and nothing to
    the others; and it assigns the space before a word to the word.
    """
    result: list[tuple[int, int]] = []
    following = (0, 0)
    for index in range(len(pieces) - 1, -1, -1):
        start, end = offsets[index]
        piece = pieces[index]
        if start == end and not (index == 0 and piece == _SPACE) and following[0] == start:
            start, end = following
        if piece.startswith(_SPACE) and piece != _SPACE:
            while start < end - 1 and text[start].isspace():
                start += 1
        elif piece == _SPACE and text[start:end].isspace():
            end = start  # else entities and answers would begin or end with a line end
        following = (start, end)
        result.append(following)
    return result[::-1]
