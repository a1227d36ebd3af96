"""Soft targets from a trained classifier: conversion to the student's labels, and the loss."""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.tasks.classification.heads import LabelHead, Value


def as_students_logits(logits: Tensor, teacher: LabelHead, student: LabelHead) -> Tensor:
    """Return a teacher's logits in the student's order of classes, or in its units of a value."""
    if isinstance(teacher, Value) and isinstance(student, Value):
        values = logits * teacher.spread + teacher.mean
        return (values - student.mean) / student.spread
    return logits[:, [teacher.labels.index(label) for label in student.labels]]


def soft_losses(
    head: LabelHead, logits: Tensor, soft_targets: Tensor, teacher: TeacherConfig
) -> Tensor:
    """Return the distance of each text's logits from the teacher's. Shape: (texts,).

    For one class: the divergence of both distributions. For multi-label: its mean over all classes.
    For values: the squared difference.

    Args:
        head: The student's head.
        logits: The student's logits. Shape: (texts, labels).
        soft_targets: Result of ``as_students_logits``. Shape: (texts, labels).
        teacher: How answers are compared.
    """
    match head.name:
        case "regression":
            return ((logits - soft_targets) ** 2)[:, 0]
        case "classes":
            return teacher.distance(logits, soft_targets)
        case "multi_label":  # yes has the logit, no has 0
            ours, theirs = (F.pad(x[..., None], (0, 1)) for x in (logits, soft_targets))
            return teacher.distance(ours, theirs).mean(-1)


def soft_chance_loss(head: LabelHead, soft_targets: Tensor, teacher: TeacherConfig) -> float:
    """Return the mean of ``soft_losses`` for the best constant prediction."""
    temperature = teacher.temperature
    soft = soft_targets / temperature
    match head.name:
        case "regression":
            guess = soft_targets.mean(0)
        case _ if teacher.loss == "mse":
            guess = soft_targets.mean(0)
        case "classes":
            guess = soft.softmax(-1).mean(0).log() * temperature
        case "multi_label":
            guess = soft.sigmoid().mean(0).logit() * temperature
    return float(soft_losses(head, guess.expand_as(soft_targets), soft_targets, teacher).mean())


def describe_labels(head: LabelHead) -> str:
    """Return a head's labels, for errors."""
    if head.name == "regression":
        return "values"
    return f"{head.name}: {', '.join(head.labels)}"
