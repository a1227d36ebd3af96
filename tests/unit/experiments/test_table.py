"""The table says what was found, what failed, and how it was judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.toy_runs import ToyRuns, toy_arms, toy_comparison
from zh_albert.experiments.arms import Arm
from zh_albert.experiments.table import CHINESE, markdown_table


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_a_row_for_each_arm(tmp_path: Path) -> None:
    lines = markdown_table(toy_comparison(tmp_path)).splitlines()
    head, _, base, int8, large, empty, notes = map(str, lines)

    assert cells(head) == [
        "arm",
        "score",
        "bytes",
        "difference to base [95 %]",
        "smallest visible",
        "published",
        "verdict",
    ]
    assert cells(base)[1:] == ["0.6079 ± 0.0020", "4,000", "", "", "", ""]
    assert cells(int8)[5:] == ["lower, −0.1", "shown"]
    assert cells(large)[5:] == ["", "higher"]
    assert not empty
    assert "over the seeds 1, 2, 3, 4." in notes
    assert "paired by seed;" in notes
    assert "corrected by Benjamini and Hochberg's method for 2 differences" in notes


def test_numbers_have_two_digits_of_their_spread(tmp_path: Path) -> None:
    arms = [
        Arm(name="a", settings={"score": 0.0}),
        Arm(name="b", settings={"score": 1234.5}, against="a"),
    ]
    rows = markdown_table(toy_comparison(tmp_path, arms=arms, seeds=[1, 2, 3])).splitlines()[2:4]
    assert cells(rows[0])[1] == "0"
    # 1,234.5 and a hundredth of sin(1234.5), sin(2469) and sin(3703.5)
    assert cells(rows[1])[1:3] == ["1,234.5009 ± 0.0036", "1"]
    assert cells(rows[1])[3] == "+1,234.5009 [+1,234.4920, +1,234.5098]"


def test_failed_runs_are_told(tmp_path: Path) -> None:
    toy_comparison(tmp_path, seeds=[1, 2])
    table = markdown_table(toy_comparison(tmp_path, ToyRuns(failing=[0.5])))

    assert "| int8 (2 of 4 runs) |" in table
    assert "- int8, seed 3 failed: ValueError: no such layer \\| 7" in table


def test_an_arm_without_a_result_has_a_row(tmp_path: Path) -> None:
    table = markdown_table(toy_comparison(tmp_path, ToyRuns(failing=[0.5])))

    assert "| int8 (0 of 4 runs) | – | – | – | – | lower, −0.1 | not resolved |" in table


def test_one_seed_resolves_nothing(tmp_path: Path) -> None:
    lines = markdown_table(toy_comparison(tmp_path, seeds=[1])).splitlines()

    assert cells(lines[3])[-3:] == ["–", "lower, −0.1", "not resolved"]


def test_several_references_are_named_in_their_rows(tmp_path: Path) -> None:
    arms = [*toy_arms(), Arm(name="tiny", settings={"score": 0.3}, against="int8")]
    lines = markdown_table(toy_comparison(tmp_path, arms=arms)).splitlines()

    assert cells(lines[0])[3] == "difference to another arm [95 %]"
    assert [cells(line)[3].rpartition("] ")[2] for line in lines[3:6]] == [
        "to base",
        "to base",
        "to int8",
    ]


def test_columns_are_chosen_and_left_out(tmp_path: Path) -> None:
    arms = [Arm(name=arm.name, settings=arm.settings) for arm in toy_arms()]
    table = markdown_table(toy_comparison(tmp_path, arms=arms), headings={"bytes": "size | B"})

    assert table.startswith("| arm | size \\| B |\n| :-- | --: |\n| base | 4,000 |\n")
    assert "Hochberg" not in table


@pytest.mark.parametrize("examples", [0, 50])
def test_it_can_be_chinese(examples: int, tmp_path: Path) -> None:
    table = markdown_table(toy_comparison(tmp_path, ToyRuns(examples=examples)), words=CHINESE)

    assert (
        "| 方法 | score | bytes | 与 base 的差值 [95%] | 最小可辨差值 | 文献结果 | 结论 |" in table
    )
    assert ("按种子和样本配对" if examples else "按种子配对") in table
    assert "Benjamini–Hochberg 方法对 2 个差值" in table
