"""Variables of a checkpoint by what they are: weights, their moving averages, state of training.

Source: google-research/albert, optimization.py and lamb_optimizer.py (``adam_m``, ``adam_v``);
tensorflow/tensorflow, python/training/moving_averages.py and slot_creator.py (``NAME/SLOT``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from zh_albert.checkpoints.stored_model import listed
from zh_albert.checkpoints.tensorflow.names import canonical_name
from zh_albert.errors import CheckpointError

AVERAGE = "/ExponentialMovingAverage"


class Variables(NamedTuple):
    """The weights of a checkpoint, and a word on everything else in it."""

    weights: dict[str, str]
    """Name in google's or brightmart's code → name in the file."""
    notes: list[str]


def sort_variables(
    shapes: Mapping[str, tuple[int, ...]], others: Iterable[str], source: Path
) -> Variables:
    """Tell weights from what a training run stores beside them.

    Whatever is named after another variable (``NAME/SLOT``) is state of its optimizer, and so is a
    single number. If every weight has an exponential moving average, the averages are the weights:
    TensorFlow keeps them for evaluation.

    Args:
        shapes: Shapes of the variables of floating point, by name.
        others: Names of the other variables: step counts, strings.
        source: The checkpoint, named in errors.

    Raises:
        CheckpointError: If two variables are the same weight under two prefixes.
    """
    averages = {name.removesuffix(AVERAGE): name for name in shapes if name.endswith(AVERAGE)}
    single = [name for name in shapes if not name.endswith(AVERAGE)]
    owners = {*single, *averages}
    state = {name for name in single if not shapes[name] or name.rpartition("/")[0] in owners}
    raw = {name: name for name in single if name not in state}
    notes = []
    if averages and raw.keys() <= averages.keys():
        notes.append(f"weights are the exponential moving averages of {len(averages)} variables")
        if raw:
            notes[0] += f", not the {len(raw)} variables themselves"
        taken = averages
    else:
        taken = raw
        if averages:
            notes.append(
                f"left out: exponential moving averages, for only {len(averages)} of "
                f"{len(raw)} variables have one"
            )
    slots = Counter(name.rpartition("/")[2] for name in state if shapes[name])
    rest = [name for name in state if not shapes[name]]
    kinds = [
        *(f"{count} × …/{slot}" for slot, count in sorted(slots.items())),
        *sorted(rest),
        *others,
    ]
    if kinds:
        notes.append(f"left out as state of the training: {listed(kinds)}")
    return Variables(_canonical(taken, source), notes)


def _canonical(taken: Mapping[str, str], source: Path) -> dict[str, str]:
    weights: dict[str, str] = {}
    for name, stored in taken.items():
        canonical = canonical_name(name)
        if canonical in weights:
            raise CheckpointError(
                f"{source}: expected one model, found {weights[canonical]} and {stored}, which are "
                "the same weight under two prefixes; save one of the models alone"
            )
        weights[canonical] = stored
    return weights
