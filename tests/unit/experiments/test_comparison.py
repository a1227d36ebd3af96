"""What a comparison says of its arms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy import stats

from tests.helpers.toy_runs import ToyRuns, toy_arms, toy_comparison
from zh_albert.errors import ConfigError, DataError
from zh_albert.experiments.arms import Arm
from zh_albert.experiments.statistics import differences, paired_by_seed, summary
from zh_albert.files.textio import results_json


def test_each_arm_is_judged_against_its_own(tmp_path: Path) -> None:
    comparison = toy_comparison(tmp_path)
    judged = comparison.judgements()

    assert {name: one.verdict for name, one in judged.items()} == {
        "int8": "shown",
        "large": "higher",
    }
    scores = {
        name: [run.metrics["score"] for run in runs.values()]
        for name, runs in comparison.outcomes.items()
    }
    found = differences([paired_by_seed(scores[name], scores["base"]) for name in judged])
    assert [one.difference for one in judged.values()] == found
    expected = stats.false_discovery_control([one.p for one in found])
    assert [one.corrected_p for one in judged.values()] == pytest.approx(list(expected))
    assert {one.difference.test for one in judged.values()} == {"seeds"}


def test_a_published_direction_can_be_contradicted(tmp_path: Path) -> None:
    base, int8, _ = toy_arms()
    wrong = Arm(name="int8", settings=int8.settings, against="base", expected="higher")

    judged = toy_comparison(tmp_path, arms=[base, wrong]).judgements()["int8"]
    assert judged.verdict == "contradicted"


def test_many_comparisons_need_more_to_be_resolved(tmp_path: Path) -> None:
    base, int8, _ = toy_arms()
    near = [
        Arm(name=f"near {number}", settings={"score": 0.6 + number / 1e6}, against="base")
        for number in range(1, 40)
    ]
    alone = toy_comparison(tmp_path, arms=[base, int8], seeds=[1, 2, 3])
    among = toy_comparison(tmp_path, arms=[base, int8, *near], seeds=[1, 2, 3])

    one, other = alone.judgements()["int8"], among.judgements()["int8"]
    assert one.difference.mean == other.difference.mean
    assert one.corrected_p == one.difference.p
    assert other.corrected_p > 2 * other.difference.p


def test_pairs_are_the_seeds_that_both_arms_have(tmp_path: Path) -> None:
    toy_comparison(tmp_path, seeds=[1, 3])
    comparison = toy_comparison(tmp_path, ToyRuns(failing=[0.5]), seeds=[1, 2, 3])

    assert comparison.judgements()["int8"].difference.pairs == 2
    assert comparison.judgements()["large"].difference.pairs == 3


def test_a_failed_reference_leaves_nothing_to_say(tmp_path: Path) -> None:
    judged = toy_comparison(tmp_path, ToyRuns(failing=[0.6])).judgements()

    assert {one.verdict for one in judged.values()} == {"not resolved"}
    assert {one.difference.pairs for one in judged.values()} == {0}


def test_outcomes_of_examples_judge_the_score_that_is_their_mean(tmp_path: Path) -> None:
    by_both = toy_comparison(tmp_path, ToyRuns(examples=300)).judgements()
    assert {one.difference.test for one in by_both.values()} == {"seeds and examples"}

    by_seed = toy_comparison(tmp_path, score="bytes").judgements()
    assert {one.difference.test for one in by_seed.values()} == {"seeds"}


def test_outcomes_of_other_examples_are_refused(tmp_path: Path) -> None:
    toy_comparison(tmp_path, ToyRuns(examples=30), arms=toy_arms()[:1])
    with pytest.raises(DataError, match="found 30 and 40 examples"):
        toy_comparison(tmp_path, ToyRuns(examples=40)).judgements()


def test_a_score_that_no_run_measures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'score'"):
        toy_comparison(tmp_path, score="scores")


def test_everything_is_in_the_json(tmp_path: Path) -> None:
    toy_comparison(tmp_path, seeds=[1, 2, 3])
    comparison = toy_comparison(tmp_path, ToyRuns(failing=[0.5]))
    content = json.loads(results_json(comparison.as_json()))

    assert (content["score"], content["seeds"]) == ("score", [1, 2, 3, 4])
    base, int8, _ = content["arms"]
    assert "difference" not in base
    assert int8["settings"] == {"score": 0.5, "bytes": 1000}
    assert (int8["against"], int8["expected"], int8["published"]) == ("base", "lower", "−0.1")
    assert int8["metrics"]["bytes"] == {"mean": 1000, "sd": 0, "runs": 3}
    scores = [run["metrics"]["score"] for run in int8["runs"]]
    assert int8["metrics"]["score"]["mean"] == pytest.approx(summary(scores).mean)
    assert int8["failed"] == [{"seed": 4, "error": "ValueError: no such layer | 7"}]
    difference = int8["difference"]
    assert difference["verdict"] == "shown"
    assert difference["test"] == "seeds"
    low, high = difference["interval"]
    assert high - low == pytest.approx(2 * difference["smallest_visible"])
