"""What the estimators share: texts and seeds as scikit-learn hands them in, models as pickles."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from operator import index
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from zh_albert.errors import DataError
from zh_albert.tasks.texts import Content
from zh_albert.training.events import Event, Warned

M = TypeVar("M")


class Savable(Protocol):
    """A task's model."""

    def save(self, folder: Path, *, card: str, dtype: torch.dtype) -> None:
        """Write the model folder."""
        ...


def as_contents(X: ArrayLike) -> Sequence[Content]:  # noqa: N803
    """Return a list of texts, or of pairs where ``X`` has two columns; see ``as_texts``."""
    if isinstance(X, str):
        raise DataError(f"expected a list of texts, found one string: {X!r:.50}")
    array = np.asarray(X, dtype=object)
    if array.ndim == 2 and array.shape[1] == 2:
        first, second = (as_texts(array[:, side]) for side in (0, 1))
        return list(zip(first, second, strict=True))
    return as_texts(array)


def as_texts(X: ArrayLike) -> Sequence[str]:  # noqa: N803
    """Return a list of texts; a column of them is taken too.

    Raises:
        DataError: If it is one string, or has another shape.
    """
    if isinstance(X, str):
        raise DataError(f"expected a list of texts, found one string: {X!r:.50}")
    array = np.asarray(X, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"expected texts of shape (n,) or (n, 1), found shape {array.shape}")
    return [str(text) if isinstance(text, np.str_) else text for text in array.tolist()]


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed; None and a generator give another one each time."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31))
    return index(random_state)


def pass_on_warnings(event: Event) -> None:
    """Make a Python warning of what a run warns of; an observer."""
    if isinstance(event, Warned):
        warnings.warn(event.text, ConvergenceWarning, stacklevel=2)


def packed(model: Savable) -> dict[str, bytes]:
    """Return a model's folder as bytes, so that weights travel in a pickle as safetensors."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "model"
        model.save(folder, card="", dtype=torch.float32)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def unpacked(files: dict[str, bytes], load: Callable[[Path], M]) -> M:
    """Undo ``packed``."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        return load(Path(folder))


def texts_as_input(tags: Any) -> Any:
    """Say in an estimator's tags that a sample is a string."""
    tags.input_tags.string = True
    tags.input_tags.two_d_array = False
    tags.non_deterministic = False
    return tags
