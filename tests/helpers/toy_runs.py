"""Runs of a comparison that cost nothing, and remember that they were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zh_albert.experiments.arms import Arm
from zh_albert.experiments.comparison import Comparison, compare
from zh_albert.experiments.runs import Outcome


class ToyRuns:
    """Score of a run: its setting ``score`` and a hundredth of the seed; ``bytes`` as given.

    Args:
        failing: Values of the setting ``score`` whose runs raise ``error``.
        error: See ``failing``.
        examples: Return outcomes of that many examples, too, whose mean is the score.
    """

    def __init__(
        self,
        failing: Sequence[float] = (),
        error: BaseException | None = None,
        examples: int = 0,
    ) -> None:
        self.computed: list[tuple[float, int]] = []
        self.failing, self.error, self._examples = list(failing), error, examples

    def __call__(self, settings: Mapping[str, Any], seed: int) -> Outcome:
        """Compute a run."""
        score = settings["score"]
        self.computed.append((score, seed))
        if score in self.failing:
            raise self.error or ValueError("no such\nlayer | 7")
        metrics = {"score": score + np.sin(seed * score) / 100, "bytes": settings.get("bytes", 1)}
        if not self._examples:
            return Outcome(metrics)
        draws = np.random.default_rng([seed, int(score * 1e6)]).random(self._examples)
        right = draws < score
        return Outcome({**metrics, "score": right.mean()}, right)


def toy_arms() -> list[Arm]:
    """Three arms: a reference, one that is expected lower, one without an expectation."""
    return [
        Arm(name="base", settings={"score": 0.6, "bytes": 4000}),
        Arm(
            name="int8",
            settings={"score": 0.5, "bytes": 1000},
            against="base",
            expected="lower",
            published="−0.1",
        ),
        Arm(name="large", settings={"score": 0.7, "bytes": 9000}, against="base"),
    ]


def toy_comparison(out: Path, run: ToyRuns | None = None, **changed: Any) -> Comparison:
    """Compare the three arms over four seeds."""
    settings = {"score": "score", "seeds": [1, 2, 3, 4], "inputs": "data 1", **changed}
    return compare(settings.pop("arms", toy_arms()), run or ToyRuns(), out=out, **settings)
