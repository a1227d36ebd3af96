"""Exact and near de-duplication of documents, by datatrove's MinHash with a tokenizer for Chinese.

One character is one token. Equal documents are found by their letters and characters only
(punctuation, spaces, case and digits are ignored), near duplicates by MinHash over character
n-grams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
from datatrove.utils.word_tokenizers import WordTokenizer
from numpy.typing import NDArray

from corpora_tools.sentences import sentence_spans, split_sentences
from corpora_tools.shingles import Hashes, window_hashes
from zh_albert.files.textio import atomic_write
from zh_albert.pretraining.bulk_tokenizer import code_points

_UNCOUNTED = re.compile(r"[\W\d_]+")
_CHUNK = 4096  # n-grams permuted at once, so that memory does not grow with the document


def letters(text: str) -> str:
    """Return the characters of a text that are compared.

    >>> letters("2024年，Go 1.2 很好！")
    '年go很好'
    """
    return _UNCOUNTED.sub("", text).lower()


class CharacterTokenizer(WordTokenizer):
    """Word tokenizer for datatrove in which each character is a word."""

    def __init__(self) -> None:
        super().__init__(language="zho")

    def word_tokenize(self, text: str) -> list[str]:
        """Return the characters that are compared."""
        return list(letters(text))

    def sent_tokenize(self, text: str) -> list[str]:
        """Return the sentences."""
        return split_sentences(text)

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences' spans."""
        return sentence_spans(text)

    def ngram_hashes(self, text: str, width: int) -> Hashes:
        """Return the hashes of the distinct n-grams of ``width`` words."""
        return np.unique(window_hashes(code_points(letters(text)), width))


class SignDocuments(MinhashDedupSignature):
    """MinHash signatures, computed by numpy in memory that does not depend on a document's
    length.
    """

    def __init__(self, folder: Path, config: MinhashConfig) -> None:
        super().__init__(output_folder=str(folder), config=config, language=CharacterTokenizer())

    def get_shingles(self, text: str) -> Hashes:
        """Return the hashes of the text's n-grams. Shape: (n-grams, 1)."""
        hashes: Hashes = self.word_tokenizer.ngram_hashes(text, self.config.n_grams)
        return hashes.reshape(-1, 1)

    def get_signature(self, shingles: Hashes) -> list[list[int]]:
        """Return the smallest permuted hashes, one list per bucket."""
        chunks = (shingles[i : i + _CHUNK] for i in range(0, len(shingles), _CHUNK))
        parts = list(map(super().get_signature, chunks))
        smallest = np.min(np.array(parts, np.uint64), axis=0)
        return [[int(value) for value in bucket] for bucket in smallest]


class DigestDocuments(PipelineStep):
    """First step of exact de-duplication: writes the digests of documents, one file per task."""

    type = "dedup"
    name = "digests"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def run(self, data: Iterator[Document], rank: int = 0, world_size: int = 1) -> None:
        """Write the digests in the documents' order. Shape: (documents, 2)."""
        digests = bytearray()
        for document in data:
            text = letters(document.text).encode("utf-8", "surrogatepass")
            digests += blake2b(text, digest_size=16).digest()
        with atomic_write(self.folder / f"{rank:05d}.npy") as file:
            np.save(file, np.frombuffer(digests, np.uint64).reshape(-1, 2))


class FindEqual(PipelineStep):
    """Second step, in one task: marks documents that equal an earlier one, one file per task."""

    type = "dedup"
    name = "equal digests"

    def __init__(self, digests: Path, folder: Path, tasks: int) -> None:
        super().__init__()
        self.digests = digests
        self.folder = folder
        self.tasks = tasks

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Write a mark for each document. Shape: (documents,)."""
        files = [np.load(self.digests / f"{task:05d}.npy") for task in range(self.tasks)]
        digests = np.concatenate(files)
        order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable: the first stays the first
        ordered = digests[order]
        again = np.zeros(len(digests), np.bool_)
        again[order[1:]] = (ordered[1:] == ordered[:-1]).all(axis=1)
        edges = np.cumsum([len(file) for file in files])[:-1]
        for task, marks in enumerate(np.split(again, edges)):
            with atomic_write(self.folder / f"{task:05d}.npy") as file:
                np.save(file, marks)


class DropEqual(PipelineStep):
    """Third step: yields the documents that do not equal an earlier one."""

    type = "dedup"
    name = "exact"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def run(
        self, data: Iterator[Document], rank: int = 0, world_size: int = 1
    ) -> Iterator[Document]:
        """Drop the marked documents."""
        marks: NDArray[np.bool_] = np.load(self.folder / f"{rank:05d}.npy")
        for document, again in zip(data, marks, strict=True):
            if again:
                self.stat_update("dropped_equal")
            else:
                yield document
