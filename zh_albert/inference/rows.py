"""Answers as JSON objects: what ``zh-albert predict`` prints and the server sends."""

from __future__ import annotations

import dataclasses
from typing import Any

from zh_albert.inference.fill_mask import FillMask
from zh_albert.inference.loading import Predictor
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.classification.predictor import Classifier, MultiLabelClassifier, Regressor
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader

_UNANSWERED: dict[type, dict[str, Any]] = {
    Classifier: {"label": None, "score": None, "scores": {}},
    MultiLabelClassifier: {"labels": [], "scores": {}},
    Regressor: {"value": None},
    Chooser: {"index": None, "text": None, "score": None, "scores": []},
    Embedder: {"vector": []},
    FillMask: {"spots": []},
    Tagger: {"entities": []},
    Reader: {"start": None, "end": None, "text": None, "score": None},
}


def row_of(predictor: Predictor, answer: Any) -> dict[str, Any]:
    """Return the object of one answer of ``predictor.stream``; errors are not answers."""
    if isinstance(predictor, Reader) and isinstance(answer, list):  # the best and all of them
        ranked = [dataclasses.asdict(one) for one in answer]
        return {**ranked[0], "answers": ranked}
    if isinstance(answer, list):  # entities, spots
        return {name: [dataclasses.asdict(one) for one in answer] for name in blank_row(predictor)}
    if isinstance(predictor, Embedder):
        return {"vector": answer.tolist()}
    return dataclasses.asdict(answer)


def blank_row(predictor: Predictor) -> dict[str, Any]:
    """Return the object of something that cannot be answered: the same names, nothing in them."""
    return dict(_UNANSWERED[type(predictor)])
