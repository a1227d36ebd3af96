"""``load(name)``: from a model's name to something that answers."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Unpack, overload

from zh_albert.checkpoints.locate import locate
from zh_albert.checkpoints.store import load_config
from zh_albert.engines.choice import EngineName, refuse_unknown_names
from zh_albert.engines.engine import Precision
from zh_albert.engines.exported import EngineSettings
from zh_albert.errors import ConfigError
from zh_albert.inference.choosing import Chooser
from zh_albert.inference.classification import (
    Classifier,
    MultiLabelClassifier,
    Regressor,
    open_classifier,
)
from zh_albert.inference.embedding import Embedder
from zh_albert.inference.fill_mask import FillMask
from zh_albert.inference.reading import Reader
from zh_albert.inference.tagging import Tagger

Predictor = (
    Classifier | MultiLabelClassifier | Regressor | Chooser | Embedder | Tagger | Reader | FillMask
)
"""What a model folder can be opened as."""


@overload
def load(model: Literal["sentiment", "news"], **how: Unpack[EngineSettings]) -> Classifier: ...
@overload
def load(model: Literal["ner", "ner-msra"], **how: Unpack[EngineSettings]) -> Tagger: ...
@overload
def load(model: Literal["reader"], **how: Unpack[EngineSettings]) -> Reader: ...
@overload
def load(model: Literal["encoder"], **how: Unpack[EngineSettings]) -> FillMask: ...
@overload
def load(model: str | Path, **how: Unpack[EngineSettings]) -> Predictor: ...
def load(
    model: str | Path,
    *,
    engine: EngineName = "auto",
    precision: Precision | None = None,
    alone: bool = False,
) -> Predictor:
    """Open a model: a bundled name, a folder, or a hub id.

    What it is for stands in its ``config.json``: a pretrained encoder fills masks, a classifier
    classifies texts or pairs of texts, a tagger finds entities, a reader answers questions about a
    text, a multiple-choice model chooses, sentence vectors encode.

    >>> load("sentimant")
    Traceback (most recent call last):
    zh_albert.errors.CheckpointError: 'sentimant': no such model folder, nor a bundled model \
(did you mean 'sentiment'?), nor a hub id (owner/name)

    Args:
        model: See above.
        engine: What runs the network; ``auto``: what was exported into the folder, else what is
            fastest here, see docs/inference.md. A pretrained encoder runs in PyTorch and fp32.
        precision: ``fp32`` for answers that do not depend on the machine; None: the fastest.
        alone: Answer each text as it is answered alone, however many are at hand: in int8 long
            lists and streams share batches otherwise, and with them how numbers are rounded.

    Raises:
        CheckpointError: If there is no such model, or its files are damaged.
        ConfigError: If the engine is unknown or has no such precision.
        MissingExtraError: If the engine is not installed.
    """
    how: EngineSettings = {"engine": engine, "precision": precision, "alone": alone}
    folder = locate(model)
    _, task = load_config(folder)
    match task.get("name"):
        case "encoder":
            _refuse_other_engines(engine, precision)
            return FillMask(folder)
        case "ner":
            return Tagger.load(folder, **how)
        case "reading":
            return Reader.load(folder, **how)
        case "choice":
            return Chooser.load(folder, **how)
        case "embedding":
            return Embedder.load(folder, **how)
        case _:
            return open_classifier(folder, **how)


def _refuse_other_engines(engine: str, precision: str | None) -> None:
    refuse_unknown_names(engine, precision)
    if engine not in ("auto", "torch") or precision not in (None, "fp32"):
        raise ConfigError(
            "a pretrained encoder fills masks in PyTorch and in fp32 alone; leave engine and "
            "precision out"
        )
