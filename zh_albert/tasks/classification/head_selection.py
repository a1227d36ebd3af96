"""The head that fits training labels, or that a model folder describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.heads import HeadName, LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.fields import Label, kind_of
from zh_albert.tasks.texts import refuse_unseen

_HEADS: Mapping[str, type[LabelHead]] = {head.name: head for head in (OneClass, LabelSet, Value)}


def head_for(labels: Sequence[Label], name: HeadName | None) -> LabelHead:
    """Make the head for training labels.

    Args:
        labels: Labels of one kind.
        name: None: the head that fits strings or lists.

    Raises:
        DataError: If the labels are numbers and the name is None, since numbers may be classes; or
            if they are of several kinds, or of another kind than the head's.
    """
    kinds = {kind_of(label) for label in labels}
    if len(kinds) > 1:
        raise DataError(f"labels must be of one kind, found {' and '.join(sorted(kinds))}")
    if name is None and "number" in kinds:
        raise DataError(
            f"labels are numbers (the first is {labels[0]}): say what they are, values on a scale "
            "(--set model.head=regression) or names of classes (--set model.head=classes)"
        )
    return _HEADS[name or ("multi_label" if "list" in kinds else "classes")].for_labels(labels)


def refuse_unknown(head: LabelHead, examples: Iterable[TextExample], source: Path | str) -> None:
    """Check the labels of evaluation data against a model's.

    Args:
        head: The model's head.
        examples: Examples to score on.
        source: Their source, named in errors for examples without a ``place``.

    Raises:
        DataError: If a label is of another kind than the head's, or a class does not occur in
            training; the error names the place.
    """
    named = []
    for example in examples:
        try:
            named += [(name, example.place) for name in head.names([example.label])]
        except DataError as error:
            raise DataError(f"{example.place or source}: {error}") from None
    refuse_unseen(named, head.labels, source, "labels")


def head_from(settings: Mapping[str, Any]) -> LabelHead:
    """Make the head that a model folder describes."""
    labels = list(settings["labels"])
    match settings.get("head", "classes"):
        case "multi_label":
            return LabelSet(labels, threshold=settings.get("threshold", 0.5))
        case "regression":
            ends = settings.get("lowest"), settings.get("highest")
            return Value(settings.get("mean", 0.0), settings.get("spread", 1.0), labels, *ends)
        case _:
            return OneClass(labels)
