"""Shards of a few texts, for tests that need no files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora_tools.sentences import sentence_spans
from zh_albert.pretraining.bulk_tokenizer import BlockEncoder, SentenceSpans
from zh_albert.pretraining.shards import KINDS, Part, ShardCounts, Shards, tokenizer_digest
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.tokenization.words import Cut, segmenter

TOKENIZER = default_tokenizer()


def shards_of(*texts: str, tokenizer: Tokenizer = TOKENIZER) -> Shards:
    return shards_of_texts(texts, tokenizer, segmenter().cut, sentence_spans)


def shards_of_texts(
    texts: Iterable[str], tokenizer: Tokenizer, cut: Cut, spans: SentenceSpans
) -> Shards:
    """Make the shards of some texts without a folder."""
    blocks = list(BlockEncoder(tokenizer, cut, spans).blocks(texts))
    sizes = [0, *np.cumsum([len(block.token_ids) for block in blocks]).tolist()]

    def joined(arrays: Iterable[NDArray[Any]], kind: str) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, np.int64), *arrays]).astype(KINDS[kind])

    tokens = joined((block.token_ids for block in blocks), "tokens")
    starts = np.concatenate([np.zeros(0, np.bool_), *(block.word_starts for block in blocks)])
    arrays = {
        "tokens": tokens,
        "words": np.packbits(starts),
        "sentences": joined(
            (b.sentences + f for b, f in zip(blocks, sizes, strict=False)), "sentences"
        ),
        "documents": joined(
            (b.documents + f for b, f in zip(blocks, sizes, strict=False)), "documents"
        ),
    }
    counts = ShardCounts(
        documents=len(arrays["documents"]),
        sentences=len(arrays["sentences"]),
        words=int(starts.sum()),
        tokens=len(tokens),
        unknown=int((tokens == tokenizer.special.unk).sum()),
        characters=sum(block.characters for block in blocks),
    )
    digest = hashlib.sha256(tokenizer_digest(tokenizer).encode())
    for array in arrays.values():
        digest.update(array.tobytes())
    return Shards([Part(arrays)], counts, digest=digest.hexdigest())
