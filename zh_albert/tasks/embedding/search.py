"""Semantic search: the texts whose vectors are nearest to a question's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.chunks import as_count, as_list
from zh_albert.tasks.embedding.predictor import Embedder


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found.

    Attributes:
        index: Its number among the texts, from 0.
        text: As it was given.
        cosine: Of its vector and the question's, at most 1, to six digits.
    """

    index: int
    text: str
    cosine: float


class SemanticSearch:
    """Finds the texts that say what a question asks, in whatever words.

    Args:
        embedder: Makes the vectors.
        texts: What is searched; texts with nothing to read are never found. A single string counts
            as a list of one.
        width: Numbers of a vector that are kept; see ``Embedder.encode``.

    Attributes:
        texts: All of them.
        unread: How many have nothing to read.

    Raises:
        ConfigError: If the model makes no vectors.
        DataError: If ``texts`` are no list of strings.
    """

    def __init__(
        self, embedder: Embedder, texts: Iterable[str], *, width: int | None = None
    ) -> None:
        if not isinstance(embedder, Embedder):
            raise ConfigError(
                'embedder: expected a model of sentence vectors, such as load("embedder"), found '
                f"{embedder!r:.50}"
            )
        self._embedder, self._width = embedder, width
        self.texts = as_list(texts)
        indices, vectors = [], []
        for index, vector in enumerate(embedder.stream(self.texts, normalize=True, width=width)):
            if not isinstance(vector, DataError):
                indices.append(index)
                vectors.append(vector)
        self.unread = len(self.texts) - len(indices)
        self._indices = np.array(indices, int)
        self._vectors = np.array(vectors, np.float32)

    def __call__(self, question: str, *, top_k: int = 10) -> list[Hit]:
        """Return the nearest texts, nearest first; equally near ones in their order.

        Args:
            question: Any text.
            top_k: At most so many.

        Raises:
            DataError: If the question is no string or has nothing to read, or ``top_k`` is no whole
                number above 0.
        """
        most = as_count(top_k, "top_k")
        if not isinstance(question, str):
            raise DataError(
                f"question: expected a string, found {type(question).__name__}: {question!r:.50}"
            )
        try:
            asked = self._embedder.encode([question], normalize=True, width=self._width)[0]
        except DataError:
            problem = "the question is empty (or only spaces and control characters)"
            raise DataError(f"{problem}: there is nothing to search for") from None
        if not len(self._indices):
            return []
        # Not "@", whose last bits depend on the row: equal texts have to be equally near.
        cosines = np.clip(np.einsum("ij,j->i", self._vectors, asked), -1, 1)
        best = np.argsort(-cosines, kind="stable")[:most]
        return [
            Hit(int(self._indices[n]), self.texts[self._indices[n]], round(float(cosines[n]), 6))
            for n in best
        ]
