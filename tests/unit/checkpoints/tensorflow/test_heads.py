"""Heads of fine-tuned checkpoints: which are taken for what, and which are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zh_albert.checkpoints.tensorflow.heads import find_head
from zh_albert.errors import CheckpointError

HERE = Path("model.ckpt")
ENCODER: dict[str, tuple[int, ...]] = {"bert/pooler/dense/bias": (8,)}
PRETRAINED = {**ENCODER, "cls/predictions/output_bias": (14,)}
CLASSIFIER = {**ENCODER, "output_weights": (3, 8), "output_bias": (3,)}
ONE_OUTPUT = {**ENCODER, "output_weights": (1, 8), "output_bias": (1,)}
READER = {**ENCODER, "cls/squad/output_weights": (2, 8), "cls/squad/output_bias": (2,)}
BEAM = {
    **ENCODER,
    "start_logits/dense/kernel": (8, 1),
    "end_logits/dense_0/kernel": (16, 8),
    "answer_class/dense_0/kernel": (16, 8),
}
PRE_NORM = {**CLASSIFIER, "loss/LayerNorm/gamma": (8,), "loss/LayerNorm/beta": (8,)}


@pytest.mark.parametrize(
    ("shapes", "how", "task"),
    [
        (ENCODER, {}, {}),
        (PRETRAINED, {}, {"name": "encoder"}),
        (PRETRAINED, {"task": "encoder"}, {"name": "encoder"}),
        (
            CLASSIFIER,
            {"labels": ["c", "a", "b"]},
            {
                "name": "classification",
                "head": "classes",
                "labels": ["c", "a", "b"],
                "pooling": "first",
            },
        ),
        (
            ONE_OUTPUT,
            {"task": "pair"},
            {"name": "pair", "head": "regression", "labels": ["value"], "pooling": "first"},
        ),
        (ONE_OUTPUT, {"task": "choice"}, {"name": "choice", "pooling": "first"}),
        (READER, {}, {"name": "reading", "threshold": None}),
        (READER, {"task": "reading"}, {"name": "reading", "threshold": None}),
        (BEAM, {"task": "encoder"}, {}),
        (PRE_NORM, {"task": "encoder"}, {}),
    ],
)
def test_a_head_is_taken_for_what_it_is(
    shapes: dict[str, tuple[int, ...]], how: dict[str, Any], task: dict[str, Any]
) -> None:
    assert find_head(shapes, HERE, **how).task == task


@pytest.mark.parametrize(
    ("shapes", "how", "message"),
    [
        (CLASSIFIER, {}, "expected 3 labels, .* found none, and no file has them"),
        (CLASSIFIER, {"labels": ["a", "b"]}, "expected 3 labels, .* found 2; give them"),
        (CLASSIFIER, {"labels": ["a", "b", "a"]}, "3 different names of classes, found 'a' twice"),
        (CLASSIFIER, {"labels": ["a", "b", ""]}, "3 different names of classes, found ''"),
        (CLASSIFIER, {"task": "choice"}, "expected one output for task choice, found 3"),
        (
            CLASSIFIER,
            {"task": "reading", "labels": list("abc")},
            "for task reading, found one for cl",
        ),
        (ONE_OUTPUT, {}, "give --task classification, pair or choice"),
        (ONE_OUTPUT, {"task": "pair", "labels": ["a", "b"]}, "expected 1 labels, .* found 2"),
        (READER, {"labels": ["a"]}, "expected a classifier .* found one for reading"),
        (READER, {"task": "pair"}, "expected a head for task pair, found one for reading"),
        (PRETRAINED, {"task": "pair"}, "expected a head for task pair, found an encoder"),
        (CLASSIFIER, {"task": "encoder", "labels": ["a"]}, "leave the labels out"),
        (BEAM, {}, r"SQuAD 2.0 by beam search .* cannot be computed here; .* --task encoder"),
        (PRE_NORM, {"labels": list("abc")}, r"a norm before its output .* --task encoder"),
    ],
)
def test_a_head_that_cannot_be_taken_is_refused(
    shapes: dict[str, tuple[int, ...]], how: dict[str, Any], message: str
) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        find_head(shapes, HERE, **how)
    assert "\n" not in str(caught.value)
