"""The predictor of sentence vectors: a vector for each text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from zh_albert.errors import DataError
from zh_albert.tasks.chunks import as_list
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.predictor import TaskPredictor
from zh_albert.tasks.windows import EncodedText


class Vector(BaseModel):
    """The vector of one text."""

    vector: list[float]


class Embedder(TaskPredictor[str, EncodedText, NDArray[np.float32]]):
    """Predictor: texts → vectors."""

    kind = "sentence vectors"
    unanswered: ClassVar[Mapping[str, Any]] = {"vector": []}
    written_as: ClassVar[Sequence[str]] = (".npy", ".jsonl")
    row_type = Vector

    _model: TextEmbedder

    def encode(
        self, texts: str | Iterable[str], *, normalize: bool = False, width: int | None = None
    ) -> NDArray[np.float32]:
        """Return a vector for each text, in order; a single string counts as a list of one.

        Args:
            texts: Of any length each.
            normalize: Scale all vectors to length 1, so that dot products are cosines.
            width: The first so many numbers of each vector; None: all. A model says at which
                ``widths`` its vectors may be cut.

        Returns:
            Shape: (texts, width).

        Raises:
            ConfigError: If ``width`` is more than vectors have.
            DataError: If a text is not a string, or empty (its index is named).
        """
        width = self._model.checked_width(width)
        vectors = self._all(as_list(texts), normalize=normalize, width=width)
        columns = width or self._model.config.hidden_size
        return np.array(vectors, np.float32).reshape(len(vectors), columns)

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths that vectors were trained to be cut to; empty: none."""
        return self._model.widths

    def __call__(self, contents: str | Iterable[str]) -> NDArray[np.float32]:
        """Return ``encode(contents)``."""
        return self.encode(contents)

    def stream(
        self, contents: Iterable[str], *, normalize: bool = False, width: int | None = None
    ) -> Iterator[NDArray[np.float32] | DataError]:
        """Yield the vector of each of any number of texts; see ``Predictor.stream``.

        Args:
            contents: Of any length each.
            normalize: See ``encode``.
            width: See ``encode``.
        """
        width = self._model.checked_width(width)
        return self._stream(contents, normalize=normalize, width=width)

    def answers(
        self,
        contents: Sequence[str],  # noqa: ARG002
        encoded: Sequence[EncodedText],
        *,
        normalize: bool = False,
        width: int | None = None,
    ) -> list[NDArray[np.float32]]:
        """See ``Predictor``."""
        return list(self._model.vectors_of(encoded, normalize=normalize, width=width))

    def row(self, answer: NDArray[np.float32]) -> dict[str, Any]:
        """See ``Predictor``."""
        return {"vector": answer.tolist()}
