"""Shared code of the estimators: arguments as scikit-learn passes them, models as pickles."""

from __future__ import annotations

import math
import tempfile
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from operator import index
from pathlib import Path
from typing import Any, ClassVar, Literal, SupportsFloat, SupportsIndex

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from zh_albert.checkpoints.resolve import expanded, resolve_model
from zh_albert.configio import write_toml
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.chunks import as_count
from zh_albert.tasks.config import NetworkConfig
from zh_albert.tasks.fields import label_name
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.run import finetune
from zh_albert.tasks.texts import Content, refuse_non_pairs, refuse_non_strings
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.characters import replace_surrogates
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, Observer, Warned
from zh_albert.training.precision import settled
from zh_albert.training.run_folder import refuse_foreign

_LEARNING = threading.RLock()


def as_contents(X: ArrayLike) -> Sequence[Content]:  # noqa: N803
    """Return a list of texts, or of pairs if ``X`` has two columns; see ``as_texts``."""
    array = _array(X)
    if array.ndim == 2 and array.shape[1] == 2:
        first, second = (as_texts(array[:, side]) for side in (0, 1))
        return list(zip(first, second, strict=True))
    return as_texts(array)


def _array(X: ArrayLike) -> NDArray[Any]:  # noqa: N803
    if isinstance(X, str):
        raise DataError(f"expected a list of texts, found one string: {X!r:.50}")
    array = np.asarray(X, dtype=object)
    if array.ndim == 0:
        found = type(X).__name__
        raise DataError(f"expected a list of texts, found {found}; of several texts make a list")
    return array


def as_texts(X: ArrayLike) -> Sequence[str]:  # noqa: N803
    """Return a list of texts; one column of them is accepted, too.

    Raises:
        DataError: If ``X`` is a single string, or has another shape.
    """
    array = _array(X)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"expected texts of shape (n,) or (n, 1), found shape {array.shape}")
    return [str(text) if isinstance(text, np.str_) else text for text in array.tolist()]


def contents_to_learn(X: ArrayLike) -> Sequence[Content]:  # noqa: N803
    """Return texts, or pairs of texts, to train on; see ``as_contents``.

    Raises:
        DataError: If there are none; else names the first that is not a string.
    """
    contents = as_contents(X)
    if not contents:
        raise DataError("expected texts to learn from, found none")
    if any(isinstance(content, tuple) for content in contents):
        refuse_non_pairs(contents)
    else:
        refuse_non_strings(contents)
    return contents


def refuse_no_targets(y: object, what: str) -> None:
    """Check that there are targets; the message contains the words that scikit-learn's checks
    expect.

    Raises:
        DataError: If ``y`` is None.
    """
    if y is None:
        raise DataError(f"requires y to be passed, but the target y is None: {what}")


def is_missing(cell: Any) -> bool:
    """Return whether a table's cell is empty: None, NaN or pandas' NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    is_nan = isinstance(cell, float) and math.isnan(cell)
    return cell is None or is_nan or type(cell).__name__ == "NAType"


def refuse_missing_labels(y: ArrayLike) -> None:
    """Check for missing labels, before NumPy converts an empty cell to a class "nan".

    Raises:
        DataError: Names the first row without a label; or there is no list of labels.
    """
    if issparse(y):  # its cells are numbers
        return
    labels = np.asarray(y, dtype=object)
    if labels.ndim == 0:
        raise DataError(f"y: expected a list of labels, found {type(y).__name__}: {y!r:.50}")
    for row, cells in enumerate(labels.reshape(len(labels), labels[:1].size)):
        for label in cells:
            if is_missing(label) or (isinstance(label, str) and not label_name(label)):
                raise DataError(
                    f"labels[{row}]: expected a label, found {label!r}: leave out the texts "
                    "without one"
                )
            if isinstance(label, str) and replace_surrogates(label) != label:
                raise DataError(
                    f"labels[{row}]: expected a label that UTF-8 can hold, found {label!r}"
                )


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed; for None or a generator, a new one each time.

    Raises:
        DataError: If ``random_state`` is none of these.
    """
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31))
    if not isinstance(random_state, SupportsIndex):
        raise DataError(
            f"random_state: expected a whole number, a RandomState or None, found "
            f"{random_state!r:.50}"
        )
    return index(random_state)


def as_number(value: object, name: str) -> float:
    """Return a number that a caller gave as a Python float; a string is none.

    Raises:
        DataError: If it is not a number.
    """
    if isinstance(value, SupportsFloat):
        with suppress(TypeError, ValueError):  # of an array of several
            return float(value)
    raise DataError(f"{name}: expected a number, found {value!r:.50}")


def pass_on_warnings(event: Event) -> None:
    """Turn a run's warning into a Python warning; an observer."""
    if isinstance(event, Warned):
        warnings.warn(event.text, ConvergenceWarning, stacklevel=2)


@dataclass(eq=False, repr=False)
class AlbertEstimator(BaseEstimator):
    """Base of the estimators of texts, with the trained model in one attribute.

    The fields are scikit-learn's parameters: a subclass adds its own, and has its own defaults. An
    estimator is pickled as a model folder, with the weights as safetensors.

    Attributes:
        init: Encoder to start from; see ``resolve_model``. None: random weights.
        preset: Size of random weights.
        max_length: See ``WindowConfig``, also for ``stride``.
        epochs: See ``TrainConfig``, also for ``peak_lr`` and ``batch_tokens``.
        random_state: See ``seed_of``.
        on_event: Called with progress.
    """

    init: str | None = "encoder"
    _: KW_ONLY
    preset: str | None = None
    max_length: int = 128
    stride: int = 32
    epochs: int | Literal["auto"]
    peak_lr: float
    batch_tokens: int | None
    random_state: int | np.random.RandomState | None = 1
    on_event: Callable[[Event], None] | None = None

    _job: ClassVar[type[FineTuningJob[Any, Any]]]
    """The task's fine-tuning job."""
    _kept_in: ClassVar[str]
    """Name of the attribute with the trained model."""

    def save(self, folder: str | Path) -> None:
        """Write a model folder for ``zh_albert.load`` and the command line.

        Raises:
            NotFittedError: If there is no trained model.
            ConfigError: If files from elsewhere would be replaced.
        """
        model = self._model()
        card = self._job.card(model, write_toml(self.config_))
        path = expanded(folder)  # as ``load`` reads it
        refuse_foreign(path)
        model.save(path, card=card)

    def _learn(self, examples: Sequence[Any], config: Any, init: str | None = None) -> Any:
        """Train a model on examples, keep it, and return it; ``init`` is instead of the field."""
        # One after another: all threads share PyTorch's random numbers.
        with _LEARNING:
            model, state = finetune(
                self._job,
                examples,
                [],
                config,
                init=self._start(self.init if init is None else init),
                observers=self._observers(),
            )
        setattr(self, self._kept_in, model)
        self.config_ = replace(config, train=replace(config.train, epochs=state.epoch))
        return model

    def _model(self) -> Any:
        """Return the trained model.

        Raises:
            NotFittedError: If there is none.
        """
        if not hasattr(self, self._kept_in):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted yet; call fit first")
        return getattr(self, self._kept_in)

    def _start(self, init: str | None) -> Path | None:
        """Return the folder of the encoder to start from; None for random weights.

        Raises:
            CheckpointError: If there is no model of that name.
            ConfigError: If ``preset`` is given as well.
        """
        if init is None:
            return None
        if self.preset is not None:
            raise ConfigError(
                f"preset={self.preset!r} is a size for random weights, but init={init!r} is "
                "to be started from; give init=None, or no preset"
            )
        return resolve_model(init)

    def _size(self) -> str:
        return self.preset or "tiny"

    def _config(
        self, model: NetworkConfig, batch_tokens: int | None, *, epochs: Any = None, **more: Any
    ) -> Any:
        """Return the settings of the job; ``more`` are those that only this task has.

        ``epochs`` are instead of the field.
        """
        config_type: Any = self._job.config_type
        train = self._training(batch_tokens, self.epochs if epochs is None else epochs)
        return config_type(model=model, window=self._window(), train=train, **more)

    def _window(self) -> WindowConfig:
        stride = self.stride
        if not isinstance(stride, SupportsIndex):
            raise DataError(f"stride: expected a whole number, found {stride!r:.50}")
        return WindowConfig(
            max_length=as_count(self.max_length, "max_length"), stride=index(stride)
        )

    def _training(self, batch_tokens: int | None, epochs: Any) -> TrainConfig:
        config = TrainConfig(
            # A search over np.arange or np.logspace passes NumPy numbers.
            epochs="auto" if epochs == "auto" else as_count(epochs, "epochs", least=0),
            peak_lr=as_number(self.peak_lr, "peak_lr"),
            batch_tokens=as_count(batch_tokens, "batch_tokens"),
            seed=seed_of(self.random_state),
        )
        return settled(config)

    def _observers(self) -> list[Observer]:
        return [pass_on_warnings, *([self.on_event] if self.on_event else [])]

    def __sklearn_tags__(self) -> Any:
        """Return the tags: samples are strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Replace the model by the files of its folder."""
        state = dict(super().__getstate__())
        if self._kept_in in state:
            state["_folder"] = _packed(state.pop(self._kept_in))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo ``__getstate__``."""
        files = state.pop("_folder", None)
        super().__setstate__(state)
        if files:
            setattr(self, self._kept_in, _unpacked(files, self._job.model_type))


def _packed(model: TaskModel[Any, Any]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "model"
        model.save(folder, card="", dtype=torch.float32)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def _unpacked(
    files: dict[str, bytes], model_type: type[TaskModel[Any, Any]]
) -> TaskModel[Any, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        return model_type.load(Path(folder))
