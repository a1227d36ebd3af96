"""Trained sentence vectors: an array for texts, a stream in constant memory, order kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import DataError
from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.chunks import as_list, pools
from zh_albert.tasks.embedding.embedder import NO_CONTENT, TextEmbedder


class Embedder:
    """Texts → vectors; what ``zh_albert.load`` returns for a model of sentence vectors.

    Attributes:
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder
        self.metadata = embedder.metadata

    @classmethod
    def load(cls, folder: Path, **how: Unpack[RuntimeSettings]) -> Embedder:
        """Open a model folder; see ``zh_albert.load`` for what runs it.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        return cls(with_runtimes(TextEmbedder.load(folder), folder, **how))

    def encode(self, texts: str | Iterable[str], *, normalize: bool = False) -> NDArray[np.float32]:
        """Return a vector for each text, in order; a single string counts as a list of one.

        Args:
            texts: Of any length each.
            normalize: Give all vectors length 1, so that dot products are cosines.

        Returns:
            Shape: (texts, hidden).

        Raises:
            DataError: If a text is not a string, or empty (its index is named).
        """
        return self._embedder.vectors(as_list(texts), normalize=normalize)

    def __call__(self, texts: str | Iterable[str]) -> NDArray[np.float32]:
        """Return ``encode(texts)``."""
        return self.encode(texts)

    def stream(
        self, texts: Iterable[str], *, normalize: bool = False
    ) -> Iterator[NDArray[np.float32] | DataError]:
        """Yield the vector of each of any number of texts in constant memory, in order.

        An empty text yields its error in its place.
        """
        for pool in pools(texts):
            encoded = self._embedder.encode_or_none(pool)
            there = [one for one in encoded if one is not None]
            vectors = iter(self._embedder.vectors_of(there, normalize=normalize))
            for one in encoded:
                yield DataError(f"the text {NO_CONTENT}") if one is None else next(vectors)
