"""Weights of classes, for training texts of which some classes have many more than others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from zh_albert.errors import ConfigError, nearest
from zh_albert.tasks.classification.heads import LabelHead
from zh_albert.tasks.fields import Label, class_name


def class_weights(
    given: Literal["balanced"] | Mapping[str, float] | None,
    head: LabelHead,
    labels: Sequence[Label],
) -> Tensor | None:
    """Return the weight of each class; None: all count the same.

    Args:
        given: ``balanced``: a class of n_c texts out of n in k classes has n / (k · n_c), so that
            all classes together count the same, and all texts together as without weights. Or a
            table of weights. A class without texts, or one that the table lacks, has 1.
        head: The head, with its classes.
        labels: Labels of the training texts.

    Raises:
        ConfigError: If the texts have several classes or a value each, the table has a class that
            they lack, or a weight is no positive number.
    """
    if given is None:
        return None
    if head.name != "classes":
        found = "several classes" if head.name == "multi_label" else "a value"
        raise ConfigError(
            f"class_weights is for one class each, the examples have {found} each; leave it out"
        )
    if isinstance(given, str):
        counts = Counter(class_name(label) for label in labels)
        given = {name: len(labels) / (len(counts) * count) for name, count in counts.items()}
    for name, weight in given.items():
        if name not in head.labels:
            hint = nearest(name, head.labels)
            raise ConfigError(f"class_weights: no training text has the label {name!r}; {hint}")
        if not (math.isfinite(weight) and weight > 0):
            raise ConfigError(
                f"class_weights: expected a finite number > 0 for {name!r}, found {weight}"
            )
    return torch.tensor([float(given.get(name, 1.0)) for name in head.labels])
