"""Change of a model's vocabulary: rows of the word table are kept, dropped and added.

Texts with the same tokens in both vocabularies have exactly the same outputs before and after.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from zh_albert.checkpoints.stored_model import StoredModel
from zh_albert.errors import CheckpointError
from zh_albert.tokenization.settings import CONFIG_NAME, parse_settings
from zh_albert.tokenization.vocab import FILE_NAME, Vocabulary
from zh_albert.tokenization.wordpiece import CONTINUATION, WordPieceTokenizer

_WORDS, _BIAS = "encoder.embeddings.word.weight", "masked_lm.bias"
_LOOK_ALIKES = str.maketrans("“”‘’—–", "\"\"''--")  # characters without an NFKC form


@dataclass(frozen=True)
class VocabularyChange:
    """Origin of the rows of the new vocabulary; each token is in one of the first four lists."""

    same: list[str]
    """Rows of the same token."""
    alike: list[str]
    """Rows of a similar token: its NFKC form, straight for curly quotation marks."""
    other_form: list[str]
    """Rows of ``##字`` for ``字``, or vice versa."""
    pieced: list[str]
    """Means of the token's rows in the old vocabulary; ``[UNK]`` if it has none."""
    dropped: list[str]
    """Tokens of the old vocabulary that the new one lacks."""

    def __str__(self) -> str:
        kinds = {
            "from a similar token": self.alike,
            "from the other form of 字 and ##字": self.other_form,
            "from pieces or [UNK]": self.pieced,
            "dropped": self.dropped,
        }
        parts = [f"{len(self.same):,} rows kept"]
        for what, tokens in kinds.items():
            examples = f" ({' '.join(tokens[:5])}{' …' if len(tokens) > 5 else ''})"
            parts.append(f"{len(tokens):,} {what}{examples if tokens else ''}")
        return ", ".join(parts)


def change_vocabulary(
    stored: StoredModel, vocabulary: Vocabulary, *, merge_pieces: bool = False
) -> tuple[StoredModel, VocabularyChange]:
    """Give a model another vocabulary.

    A new row is that of the same token; else of a similar one; else of the token with or without
    the prefix of a piece that does not start a word; else the mean of the rows of its tokens in the
    old vocabulary. The mean gives exactly the old outputs if it is of one row, as for unknown
    characters.

    Args:
        stored: Has ``vocab.txt`` among its files, and tensors that fit its config.
        vocabulary: The new one.
        merge_pieces: Add the masked-LM probability of a dropped ``##字`` to that of ``字``, as far
            as it depends on their bias. For checkpoints that were trained to predict such pieces;
            the encoder's outputs do not change.

    Raises:
        CheckpointError: If there is no ``vocab.txt``, or it has more tokens than the table has
            rows.
        DataError: If it or ``tokenizer_config.json`` is damaged.
    """
    old = _old_tokenizer(stored)
    table, bias = stored.tensors[_WORDS], stored.tensors.get(_BIAS)
    change = VocabularyChange([], [], [], [], [])
    rows = [_rows_for(token, old, change) for token in vocabulary.tokens]
    change.dropped.extend(token for token in old.vocabulary.tokens if token not in vocabulary)
    tensors = stored.tensors | {_WORDS: _means(table, rows)}
    if bias is not None:
        tensors[_BIAS] = _means(bias, rows)
        if merge_pieces:
            _merge(tensors[_BIAS], bias, vocabulary, old.vocabulary)
    config = replace(stored.config, vocab_size=len(vocabulary), pad_token_id=vocabulary.special.pad)
    files = stored.files | {FILE_NAME: vocabulary.to_bytes()}
    return replace(stored, config=config, tensors=tensors, files=files), change


def _old_tokenizer(stored: StoredModel) -> WordPieceTokenizer:
    if FILE_NAME not in stored.files:
        raise CheckpointError(
            f"{stored.source}: expected {FILE_NAME} beside the weights, found none; it tells which "
            "row belongs to which token"
        )
    vocabulary = Vocabulary.parse(stored.files[FILE_NAME], f"{stored.source}, {FILE_NAME}")
    if len(vocabulary) > stored.config.vocab_size:
        raise CheckpointError(
            f"{stored.source}: {FILE_NAME} has {len(vocabulary)} tokens, the word table "
            f"{stored.config.vocab_size} rows; find the vocabulary it was trained with"
        )
    content = stored.files.get(CONFIG_NAME, b"{}")
    settings = parse_settings(content, f"{stored.source}, {CONFIG_NAME}")
    return WordPieceTokenizer.from_config(vocabulary, settings, source=str(stored.source))


def _rows_for(token: str, old: WordPieceTokenizer, change: VocabularyChange) -> list[int]:
    """Return the old rows whose mean becomes the row of a token, and record their origin."""
    ids = old.vocabulary.ids
    if token in ids:
        change.same.append(token)
        return [ids[token]]
    for alike in _look_alikes(token):
        if alike in ids:
            change.alike.append(token)
            return [ids[alike]]
    bare = token.removeprefix(CONTINUATION)
    other_form = bare if bare != token else CONTINUATION + token
    if other_form in ids:
        change.other_form.append(token)
        return [ids[other_form]]
    change.pieced.append(token)
    return old.encode(bare).ids or [old.special.unk]


def _look_alikes(token: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", token).translate(_LOOK_ALIKES)
    yield plain
    yield plain.lower()
    if len({*plain}) == 1:  # the NFKC form of … is three dots
        yield plain[0]


def _means(table: Tensor, rows: list[list[int]]) -> Tensor:
    """Return the mean of the given rows for each new row; for a single row, exactly that row."""
    result = table[[some[0] for some in rows]]
    for row, some in enumerate(rows):
        if len(some) > 1:
            result[row] = table[some].mean(0)
    return result


def _merge(merged: Tensor, bias: Tensor, new: Vocabulary, old: Vocabulary) -> None:
    """Add, as probabilities, the bias of each token and of its dropped piece."""
    for row, token in enumerate(new.tokens):
        piece = CONTINUATION + token
        if token in old and piece in old and piece not in new:
            merged[row] = torch.logaddexp(bias[old.ids[token]], bias[old.ids[piece]])
