"""What a folder's model is for: our own settings, as far as the rest of ``config.json`` agrees.

``transformers`` keeps fields that it does not know when it saves a model again, our ``zh_albert``
among them; the model may have other labels or another head by then. So the published fields
(``architectures``, ``id2label``, ``problem_type``) decide, and ours add what these do not say.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zh_albert.errors import CheckpointError

# Heads of our classifiers, and what transformers calls them.
PROBLEM_TYPES = {
    "classes": "single_label_classification",
    "multi_label": "multi_label_classification",
    "regression": "regression",
}
_CLASSES = {
    "AlbertModel": "",
    "AlbertForPreTraining": "encoder",
    "AlbertForMaskedLM": "encoder",
    "AlbertForSequenceClassification": "classification",
    "AlbertForTokenClassification": "ner",
    "AlbertForQuestionAnswering": "reading",
    "AlbertForMultipleChoice": "choice",
}
# Tasks of the same tensors, between which only our settings can tell.
_SAME_TENSORS = {
    "": {"", "encoder", "embedding"},
    "encoder": {"", "encoder"},
    "classification": {"classification", "pair"},
}
_MEASURED = (
    *("dev", "dev_examples", "metric", "per_type", "per_kind", "trained_on", "train_examples"),
    *("ngrams", "one_sided"),
)
"""Settings that describe certain weights and no others."""
_LEARNED = (
    *("labels", "threshold", "mean", "spread", "lowest", "highest"),
    *("different_at_most", "different_adds"),
)
"""Settings that belong to certain labels."""


def agreed_task(content: Mapping[str, Any], source: Path) -> dict[str, Any]:
    """Return the task settings of a ``config.json``; what is not known is told in a warning.

    Args:
        content: The whole file; its ``zh_albert``, if any, and that one's ``task`` are objects.
        source: The file, named in errors and warnings.

    Raises:
        CheckpointError: If labels are not numbered from 0, or nobody can know what values mean.
    """
    ours = content.get("zh_albert", {}).get("task")
    if content["model_type"] == "zh_albert":  # nobody else opens it, so nobody else saved it
        return dict(ours or {})
    published, notes = _published(content, source)
    name, again = published.get("name", ""), "transformers_version" in content
    said = {key: value for key, value in published.items() if key not in ("name", "threshold")}
    settings = published
    if ours is not None and _is_for(ours, published):
        agrees = all(ours.get(key, value) == value for key, value in said.items())
        dropped = (_MEASURED if again else ()) + (() if agrees else _LEARNED)
        settings = {key: value for key, value in ours.items() if key not in dropped}
        if again or "labels" not in settings:  # written by hand, for what config.json says anyway
            settings = {**said, **settings}
        if not agrees:
            settings |= said
            notes.append("labels and head are those of id2label and problem_type, not zh_albert's")
        if lost := [key for key in dropped if ours.get(key) is not None and key != "labels"]:
            notes.append(f"left out, for the weights may be others now: {', '.join(lost)}")
        if again and agrees:
            _refuse_unknown_scale(settings, source)
    elif ours is not None:
        notes.append(
            f"it is for {name or 'no task'}, as architectures and id2label say, not for "
            f"{ours.get('name', 'no task')}, as zh_albert does"
        )
    if settings is published and "threshold" in published:
        notes.append("no threshold for giving no answer, so it always answers")
    if notes:
        warnings.warn(f"{source}: {'; '.join(notes)}", stacklevel=2)
    return settings


def _is_for(ours: Mapping[str, Any], published: Mapping[str, Any]) -> bool:
    """Return whether our settings are of a task whose tensors are the published ones.

    Of taggers there are several tasks, each with tags of its own.
    """
    name, tags = published.get("name", ""), published.get("tags")
    same_tags = tags is not None and ours.get("tags") == tags
    return same_tags or ours.get("name", "") in _SAME_TENSORS.get(name, {name})


def _published(content: Mapping[str, Any], source: Path) -> tuple[dict[str, Any], list[str]]:
    """Return what the fields of ``transformers`` say, and notes on what they leave open."""
    known = [name for name in content.get("architectures") or () if name in _CLASSES]
    task = _CLASSES[known[0]] if known else ""
    match task:
        case "":
            return {}, []
        case "reading":
            return {"name": task, "threshold": None}, []
        case "choice":
            return {"name": task, "pooling": "first"}, []
        case "classification" | "ner":
            return _labelled(task, content, source)
    return {"name": task}, []


def _labelled(
    task: str, content: Mapping[str, Any], source: Path
) -> tuple[dict[str, Any], list[str]]:
    labels = _labels(content, source)
    default = [f"LABEL_{number}" for number in range(len(labels))]
    notes = [f"no names of labels in id2label, so they are {default[0]}, …"]
    if task == "ner":
        return {"name": task, "head": "softmax", "tags": labels}, []
    heads = {problem: head for head, problem in PROBLEM_TYPES.items()}
    kind = "single_label_classification" if len(labels) > 1 else "regression"
    head = heads.get(content.get("problem_type") or kind, "classes")
    settings = {"name": task, "head": head, "labels": labels, "pooling": "first"}
    return settings, notes if labels == default and head != "regression" else []


def _labels(content: Mapping[str, Any], source: Path) -> Sequence[str]:
    """Return the names in ``id2label``; those that ``transformers`` itself gives are not stored."""
    labels = content.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    try:
        numbered = {int(number): label for number, label in labels.items()}
        return [str(numbered[number]) for number in range(len(labels))]
    except (AttributeError, KeyError, ValueError):
        raise CheckpointError(
            f"{source}: expected id2label to map the class numbers from 0 to names, found "
            f"{labels!r:.200}; correct it there"
        ) from None


def _refuse_unknown_scale(settings: Mapping[str, Any], source: Path) -> None:
    """Refuse values in units of which nobody knows whether they are still ours."""
    scale = settings.get("mean", 0.0), settings.get("spread", 1.0)
    if settings.get("head") == "regression" and scale != (0.0, 1.0):
        raise CheckpointError(
            f"{source}: transformers saved this model, so its values may be in units of "
            f"zh_albert's mean {scale[0]} and spread {scale[1]}, or plain if it was trained there; "
            "in config.json, remove transformers_version if they are in these units, or mean and "
            "spread if they are plain"
        )
