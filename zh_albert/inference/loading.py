"""``load(name)``: from a model's name to something that answers."""

from __future__ import annotations

from typing import Literal, overload

from zh_albert.checkpoints.locate import locate
from zh_albert.checkpoints.store import load_config
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
def load(model: Literal["sentiment", "news"]) -> Classifier: ...
@overload
def load(model: Literal["ner"]) -> Tagger: ...
@overload
def load(model: Literal["reader"]) -> Reader: ...
@overload
def load(model: Literal["encoder"]) -> FillMask: ...
@overload
def load(model: str) -> Predictor: ...
def load(model: str) -> Predictor:
    """Open a model: a bundled name, a folder, or a hub id.

    What it is for stands in its ``config.json``: a pretrained encoder fills masks, a classifier
    classifies texts or pairs of texts, a tagger finds entities, a reader answers questions about a
    text, a multiple-choice model chooses, sentence vectors encode.

    >>> load("sentimant")
    Traceback (most recent call last):
    zh_albert.errors.CheckpointError: 'sentimant': no such model folder, nor a bundled model \
(did you mean 'sentiment'?), nor a hub id (owner/name)

    Raises:
        CheckpointError: If there is no such model, or its files are damaged.
    """
    folder = locate(model)
    _, task = load_config(folder)
    match task.get("name"):
        case "encoder":
            return FillMask(folder)
        case "ner":
            return Tagger.load(folder)
        case "reading":
            return Reader.load(folder)
        case "choice":
            return Chooser.load(folder)
        case "embedding":
            return Embedder.load(folder)
        case _:
            return open_classifier(folder)
