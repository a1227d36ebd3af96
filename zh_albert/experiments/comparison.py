"""Comparison of arms over seeds: from arms and a function that runs one to judged differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zh_albert.errors import ConfigError, nearest
from zh_albert.experiments.arms import Arm, refuse_unclear
from zh_albert.experiments.runs import Outcome, PlannedRun, RunFunction, complete
from zh_albert.experiments.statistics import (
    Difference,
    Pairing,
    Summary,
    Verdict,
    corrected,
    differences,
    paired_by_seed,
    paired_by_seed_and_example,
    summary,
    verdict,
)
from zh_albert.training.events import Observer
from zh_albert.training.stages import silent


def compare(
    arms: Sequence[Arm],
    run: RunFunction,
    *,
    score: str,
    seeds: Sequence[int],
    inputs: str,
    out: Path,
    version: int = 1,
    progress: Observer = silent,
) -> Comparison:
    """Run every arm with every seed, unless ``out`` has the result, and compare them.

    Seed by seed over all arms, so that a comparison that is stopped has whole pairs. Several
    processes with the same ``out`` divide the runs among themselves.

    Args:
        arms: Each is compared with its ``against``, if it has one.
        run: Computes one run from an arm's settings and a seed. It is handed no name, because a
            result belongs to all arms with these settings.
        score: Name of the metric that is judged; every run must measure it.
        seeds: Each once.
        inputs: A digest of what the runs read (data, start model).
        out: Folder of the results; comparisons that share it share the runs of equal settings.
        version: Of what ``run`` does; raise it to have everything run again.
        progress: Observer of the number of runs, the time left, and of failed runs.

    Raises:
        ConfigError: If the arms or seeds are unclear, or kept results lack ``score``.
        DataError: If the file of a result is damaged.
    """
    refuse_unclear(arms, seeds)
    planned = {
        (arm.name, seed): PlannedRun(
            arm=arm.name, settings=arm.settings, seed=seed, inputs=inputs, version=version
        )
        for seed in seeds
        for arm in arms
    }
    results = complete(list(planned.values()), run, out, progress)
    by_arm = {
        arm.name: {seed: results[planned[arm.name, seed].key] for seed in seeds} for arm in arms
    }
    return Comparison(
        arms=tuple(arms),
        seeds=tuple(seeds),
        score=score,
        outcomes={
            name: {seed: one for seed, one in runs.items() if isinstance(one, Outcome)}
            for name, runs in by_arm.items()
        },
        failures={
            name: {seed: one for seed, one in runs.items() if isinstance(one, str)}
            for name, runs in by_arm.items()
        },
    )


@dataclass(frozen=True)
class Judgement:
    """A difference to another arm, its p-value corrected for the number of differences, and what
    follows.
    """

    against: str
    difference: Difference
    corrected_p: float
    verdict: Verdict


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Results of arms over seeds.

    Args:
        arms: In the order of the table.
        seeds: Of all runs, finished or failed.
        score: Name of the metric that is judged.
        outcomes: By name of the arm and seed.
        failures: Error of each failed run, likewise.

    Raises:
        ConfigError: If an outcome lacks the score.
    """

    arms: tuple[Arm, ...]
    seeds: tuple[int, ...]
    score: str
    outcomes: Mapping[str, Mapping[int, Outcome]]
    failures: Mapping[str, Mapping[int, str]]

    def __post_init__(self) -> None:
        for name, runs in self.outcomes.items():
            for seed, outcome in runs.items():
                if self.score not in outcome.metrics:
                    raise ConfigError(
                        f"{name}, seed {seed}: expected the score {self.score!r} among what a run "
                        f"measures; {nearest(self.score, outcome.metrics)}"
                    )

    @property
    def metrics(self) -> list[str]:
        """Names of all metrics, the score first."""
        runs = [outcome.metrics for runs in self.outcomes.values() for outcome in runs.values()]
        return list(dict.fromkeys([self.score, *(name for metrics in runs for name in metrics)]))

    def summary(self, arm: str, metric: str) -> Summary:
        """Summarize a metric over those runs of an arm that have it."""
        runs = self.outcomes[arm].values()
        return summary([run.metrics[metric] for run in runs if metric in run.metrics])

    def judgements(self) -> dict[str, Judgement]:
        """Judge the score of each arm that has an ``against``; by name of the arm.

        If the score is the mean of the outcomes of examples, and both arms have them for all their
        pairs, seeds and examples are taken as drawn at random; otherwise the seeds. Verdicts are
        at 5 %, two-sided, and corrected by Benjamini and Hochberg's method for all differences
        judged here; the intervals are not corrected.
        """
        arms = [(arm, arm.against) for arm in self.arms if arm.against is not None]
        found = differences([self._paired(arm.name, against) for arm, against in arms])
        p_values = corrected([difference.p for difference in found])
        return {
            arm.name: Judgement(against, difference, p, verdict(difference.mean, p, arm.expected))
            for (arm, against), difference, p in zip(arms, found, p_values, strict=True)
        }

    def as_json(self) -> dict[str, Any]:
        """Return everything as one object, for ``zh_albert.files.textio.results_json``."""
        judged = self.judgements()
        return {
            "score": self.score,
            "seeds": list(self.seeds),
            "correction": "Benjamini-Hochberg",
            "arms": [self._arm_as_json(arm, judged.get(arm.name)) for arm in self.arms],
        }

    def _arm_as_json(self, arm: Arm, judged: Judgement | None) -> dict[str, Any]:
        described = {
            **vars(arm),
            "metrics": {
                metric: self.summary(arm.name, metric)._asdict() for metric in self.metrics
            },
            "runs": [
                {"seed": seed, "metrics": dict(run.metrics)}
                for seed, run in self.outcomes[arm.name].items()
            ],
            "failed": [
                {"seed": seed, "error": error} for seed, error in self.failures[arm.name].items()
            ],
        }
        if judged is not None:
            described["difference"] = {
                **asdict(judged.difference),
                "interval": list(judged.difference.interval),
                "corrected_p": judged.corrected_p,
                "verdict": judged.verdict,
            }
        return described

    def _paired(self, arm: str, against: str) -> Pairing:
        ours, theirs = self.outcomes[arm], self.outcomes[against]
        pairs = [
            (ours[seed], theirs[seed]) for seed in self.seeds if seed in ours and seed in theirs
        ]
        arms = [[pair[side] for pair in pairs] for side in (0, 1)]
        rows = [
            [run.per_example for run in runs if run.per_example is not None and self._is_mean(run)]
            for runs in arms
        ]
        if len(pairs) > 1 and len(rows[0]) == len(rows[1]) == len(pairs):
            return paired_by_seed_and_example(*rows)
        return paired_by_seed(*([run.metrics[self.score] for run in runs] for runs in arms))

    def _is_mean(self, run: Outcome) -> bool:
        value = run.metrics[self.score]
        return run.per_example is not None and bool(
            np.isclose(run.per_example.mean(), value, rtol=1e-6, atol=1e-9)
        )
