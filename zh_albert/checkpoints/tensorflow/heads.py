"""Heads of fine-tuned checkpoints: classifiers, and readers of SQuAD 1.1.

Which task a head is for, and what its classes are called, is in no file of theirs; the caller says.

Source: google-research/albert, classifier_utils.py, race_utils.py and squad_utils.py;
brightmart/albert_zh, run_classifier.py and run_classifier_clue.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zh_albert.errors import CheckpointError

HeadTask = Literal["encoder", "classification", "pair", "choice", "reading"]

_CLASSIFIER = {"classifier.weight": "output_weights", "classifier.bias": "output_bias"}
_READER = {"answer.weight": "cls/squad/output_weights", "answer.bias": "cls/squad/output_bias"}
_PRETRAINING = ("cls/predictions/", "cls/seq_relationship/")
_NORM = "loss/LayerNorm/gamma"  # before the classifier of albert_zh's pre-norm models
_BEAM_SEARCH = ("end_logits/dense_0/kernel", "answer_class/dense_0/kernel")
_FINE_TUNED = (
    *_CLASSIFIER.values(),
    *_READER.values(),
    *("loss/LayerNorm/", "start_logits/", "end_logits/", "answer_class/"),
)
_ENCODER_ALONE = "for the encoder alone, give --task encoder"


class Head(NamedTuple):
    """What a checkpoint is beside its encoder."""

    task: dict[str, Any]
    """Settings of a model folder, see ``save_model``."""
    names: dict[str, str]
    """Tensors of a fine-tuned head: our name → theirs."""
    unused: tuple[str, ...]
    """Beginnings of names that have no place in such a model."""


def find_head(
    shapes: Mapping[str, Sequence[int]],
    source: Path,
    *,
    task: HeadTask | None = None,
    labels: Sequence[str] = (),
) -> Head:
    """Return the head that a checkpoint holds.

    Args:
        shapes: Shapes of the weights, by their names in the code.
        source: The checkpoint, named in errors.
        task: What the head is for; None: what its names show.
        labels: Names of the classes, in the order of the outputs.

    Raises:
        CheckpointError: If the head cannot be computed here, or labels or task do not fit it.
    """
    if task == "encoder":
        found = _encoder(shapes, unused=_FINE_TUNED)
    elif _CLASSIFIER["classifier.weight"] in shapes:
        found = _classifier(shapes, source, task, labels)
    elif _READER["answer.weight"] in shapes:
        found = Head({"name": "reading", "threshold": None}, _READER, _PRETRAINING)
    elif any(name in shapes for name in _BEAM_SEARCH):
        raise CheckpointError(
            f"{source}: a reader of SQuAD 2.0 by beam search (end_logits, answer_class), in which "
            "the end depends on the start that was chosen; such a head cannot be computed here; "
            f"{_ENCODER_ALONE}"
        )
    else:
        found = _encoder(shapes, unused=())
    if labels and "labels" not in found.task:
        raise CheckpointError(
            f"{source}: expected a classifier (output_weights) for the {len(labels)} labels, found "
            f"{_what(found)}; leave the labels out"
        )
    if task not in (None, "encoder", found.task.get("name")):
        raise CheckpointError(
            f"{source}: expected a head for task {task}, found {_what(found)}; leave the task out"
        )
    return found


def _encoder(shapes: Mapping[str, Sequence[int]], *, unused: tuple[str, ...]) -> Head:
    fills_masks = "cls/predictions/output_bias" in shapes
    return Head({"name": "encoder"} if fills_masks else {}, {}, unused)


def _classifier(
    shapes: Mapping[str, Sequence[int]],
    source: Path,
    task: HeadTask | None,
    labels: Sequence[str],
) -> Head:
    if _NORM in shapes:
        raise CheckpointError(
            f"{source}: {_NORM}: a classifier with a norm before its output (albert_zh, pre-norm), "
            f"which ours has not; {_ENCODER_ALONE}"
        )
    rows = shapes["output_weights"][0] if shapes["output_weights"] else 0
    if rows == 1 and task is None and not labels:
        raise CheckpointError(
            f"{source}: output_weights has one output, a value on a scale or the score of a "
            "choice, and no file tells which; give --task classification, pair or choice; "
            f"{_ENCODER_ALONE}"
        )
    if task == "choice":
        if rows != 1:
            raise CheckpointError(
                f"{source}: output_weights: expected one output for task choice, found {rows}; "
                "give task classification or pair and the labels"
            )
        return Head({"name": "choice", "pooling": "first"}, _CLASSIFIER, _PRETRAINING)
    one = rows == 1
    names = [*labels] or ["value"] * one
    if len(names) != rows:
        found = f"{len(labels)}" if labels else "none, and no file has them"
        raise CheckpointError(
            f"{source}: expected {rows} labels, one for each row of output_weights and in their "
            f"order, found {found}; give them (--labels A,B,…); {_ENCODER_ALONE}"
        )
    if twice := [name for name, count in Counter(names).items() if count > 1 or not name]:
        raise CheckpointError(
            f"{source}: expected {rows} different names of classes, found {twice[0]!r:.80} twice "
            "or empty; correct --labels"
        )
    head = {"head": "regression" if one else "classes", "labels": names}
    settings = {"name": "pair" if task == "pair" else "classification", **head, "pooling": "first"}
    return Head(settings, _CLASSIFIER, _PRETRAINING)


def _what(head: Head) -> str:
    name = head.task.get("name", "encoder")
    return "an encoder" if name == "encoder" else f"one for {name}"
