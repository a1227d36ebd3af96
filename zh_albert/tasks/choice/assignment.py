"""Assignment of choices to questions: the best one, or within a group the best without repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zh_albert.tasks.choice.examples import Question


def one_to_one(probabilities: ArrayLike) -> list[int]:
    """Assign a choice to each question so that none is taken twice.

    It is the most probable of all such assignments, found by the Hungarian method. If there are
    more questions than choices, the remaining questions take their most probable choice.

    Args:
        probabilities: Of each choice. Shape: (questions, choices).

    >>> one_to_one([[0.6, 0.4], [0.9, 0.1]])
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow, rarely needed)

    table = np.asarray(probabilities, float)
    taken = table.argmax(-1)
    # Far below any probability that occurs, so that a probability of 0 does not give -inf.
    rows, columns = linear_sum_assignment(np.log(np.maximum(table, 1e-30)), maximize=True)
    taken[rows] = columns
    return [int(choice) for choice in taken]


def choose(
    questions: Sequence[Question], probabilities: Sequence[NDArray[np.float32]]
) -> list[int]:
    """Return the choice of each question; see ``Question.group``."""
    chosen = [int(row.argmax()) for row in probabilities]
    groups: defaultdict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        if question.group is not None:
            groups[question.group, question.choices].append(place)
    for places in groups.values():
        table = np.stack([probabilities[place] for place in places])
        for place, choice in zip(places, one_to_one(table), strict=True):
            chosen[place] = choice
    return chosen
