"""``load(name)``: opens a model by its name, folder or hub id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack, cast, overload

from zh_albert.checkpoints.manifest import MANIFEST
from zh_albert.checkpoints.resolve import BUNDLED, expanded, resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.inference.fill_mask import FillMask
from zh_albert.runtimes.exported import RuntimeSettings, exported_precision, weights_digest
from zh_albert.runtimes.runtime import Precision
from zh_albert.runtimes.selection import RuntimeName, refuse_unknown_names
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.predictor import AnyPredictor

if TYPE_CHECKING:  # predictors are imported when a model is opened
    from zh_albert.tasks.classification.predictor import Classifier, Regressor
    from zh_albert.tasks.embedding.predictor import Embedder
    from zh_albert.tasks.ner.predictor import Tagger
    from zh_albert.tasks.reading.predictor import Reader


@overload
def load(
    model: Literal["sentiment", "sentiment-nano", "news", "news-nano", "nli"],
    **how: Unpack[RuntimeSettings],
) -> Classifier: ...
@overload
def load(model: Literal["similarity"], **how: Unpack[RuntimeSettings]) -> Regressor: ...
@overload
def load(
    model: Literal["ner", "ner-nano", "ner-msra"], **how: Unpack[RuntimeSettings]
) -> Tagger: ...
@overload
def load(model: Literal["reader"], **how: Unpack[RuntimeSettings]) -> Reader: ...
@overload
def load(model: Literal["embedder"], **how: Unpack[RuntimeSettings]) -> Embedder: ...
@overload
def load(model: Literal["encoder"], **how: Unpack[RuntimeSettings]) -> FillMask: ...
@overload
def load(model: str | Path, **how: Unpack[RuntimeSettings]) -> AnyPredictor: ...
def load(
    model: str | Path,
    *,
    runtime: RuntimeName = "auto",
    precision: Precision | None = None,
) -> AnyPredictor:
    """Open a model: a bundled name, a folder, or a hub id.

    The task is read from its ``config.json``: a pretrained encoder fills masks, a classifier
    classifies texts or pairs of texts, a tagger finds entities, a reader answers questions about a
    text, a multiple-choice model chooses, an embedding model returns sentence vectors.

    >>> load("sentimant")
    Traceback (most recent call last):
    zh_albert.errors.CheckpointError: 'sentimant': no such model folder, nor a bundled model \
(did you mean 'sentiment'?), nor a hub id (owner/name)

    Args:
        model: See above.
        runtime: The runtime for the network. ``auto``: the one of the export in the folder; in a
            folder without one ONNX Runtime if it is installed, else OpenVINO or PyTorch. A
            pretrained encoder that was not exported runs in PyTorch and fp32.
        precision: ``fp32``, or ``bf16``, which some CPUs compute faster; None: that of the export,
            else ``fp32``.

    Raises:
        CheckpointError: If there is no such model, or its files are damaged or of several saves.
        ConfigError: If the runtime is unknown or has no such precision.
        MissingExtraError: If the runtime is not installed.
    """
    how: RuntimeSettings = {"runtime": runtime, "precision": precision}
    folder = resolve_model(model)
    with verified(folder):
        _, settings = load_config(folder)
        if settings.get("name") == "encoder":
            opened: AnyPredictor = _encoder(folder, how["runtime"], how["precision"])
        else:
            opened = task_of(folder, settings).open(folder, **how)
        opened.origin = Origin.of(model, folder, how)
        return opened


@dataclass(frozen=True)
class Origin:
    """Where a model was opened and how; calling it opens the model again, in any process.

    Attributes:
        model: Name of a bundled model, the absolute path of another folder, or a hub id.
        bundled: Whether it is bundled: wherever the package is installed, no folder of that name
            comes first.
        how: Arguments of ``load``.
        digest: Tells the opened model from others.
    """

    model: str
    bundled: bool
    how: RuntimeSettings
    digest: str

    @classmethod
    def of(cls, model: str | Path, folder: Path, how: RuntimeSettings) -> Self:
        """Describe a model in a folder that is being read, by what the user called it."""
        if folder.parent.resolve() == BUNDLED.resolve():
            return cls(folder.name, True, how, _digest(folder))
        is_path = expanded(model) == folder
        return cls(str(folder.resolve() if is_path else model), False, how, _digest(folder))

    def __call__(self) -> AnyPredictor:
        """Open the model again.

        Raises:
            CheckpointError: If it is not there, or another model is.
        """
        where = BUNDLED / self.model if self.bundled else self.model
        opened = load(where, **self.how)
        found = cast(Origin, opened.origin).digest
        if found != self.digest:
            raise CheckpointError(
                f"{where}: the model here is another than the one that was pickled or copied "
                f"(SHA-256 {found:.12}, expected {self.digest:.12}); put the same files here, or "
                "load the model anew"
            )
        return opened


def _digest(folder: Path) -> str:
    """Return the SHA-256 of a folder's manifest, or of its weights if it has none."""
    manifest = folder / MANIFEST
    if manifest.is_file():
        return hashlib.sha256(manifest.read_bytes()).hexdigest()
    return weights_digest(folder)


def _encoder(folder: Path, runtime: RuntimeName, precision: Precision | None) -> FillMask:
    refuse_unknown_names(runtime, precision)
    found = exported_precision(folder)
    if runtime == "auto" and found and precision in (None, found):
        return FillMask(folder)
    if runtime not in ("auto", "torch") or precision not in (None, "fp32"):
        raise ConfigError(
            "a pretrained encoder fills masks as it was exported, else in PyTorch and in fp32 "
            "alone; leave runtime and precision out"
        )
    return FillMask(folder, exported=False)
