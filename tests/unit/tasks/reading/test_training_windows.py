"""Training windows of a reader."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from tests.helpers.reading_windows import example, reader
from zh_albert.tasks.reading.training_windows import (
    TrainingWindow,
    chance_loss,
    training_windows,
    with_fewer_empty,
)


def test_each_window_has_the_answers_that_are_whole_in_it() -> None:
    windows, skipped = training_windows(reader(), [example("二三", "八九", "庚辛")])
    assert str(skipped) == ""
    assert [(one.question.parts[one.window], one.answers) for one in windows] == [
        (range(11), [(6, 7), (12, 13)]),  # behind [CLS] 谁 谁 [SEP]
        (range(7, 18), [(5, 6), (13, 14)]),
    ]
    [first, second], _ = training_windows(reader(), [example("零")])
    assert (first.answers, second.answers) == ([(4, 4)], [(0, 0)])
    windows, _ = training_windows(reader(), [example()])
    assert [one.answers for one in windows] == [[(0, 0)], [(0, 0)]]


def test_what_cannot_be_taught_is_left_out_and_counted() -> None:
    windows, skipped = training_windows(
        reader(), [example("零一二三四"), example(references=("壬",)), example("零一二三四", "甲")]
    )
    assert len(windows) == 2
    assert {one.answers[0] for one in windows} == {(14, 14), (7, 7)}
    assert (skipped.questions, skipped.unread, skipped.too_long) == (3, 1, 1)


def test_chance_knows_how_often_there_is_an_answer() -> None:
    [first, second], _ = training_windows(reader(), [example("零")])
    here, elsewhere = chance_loss([first]), chance_loss([second])
    assert here == pytest.approx(2 * math.log(11))
    assert elsewhere == 0
    assert chance_loss([first, second]) == pytest.approx(2 * (math.log(2) + math.log(11) / 2))


def test_fewer_empty_windows_leave_every_answer_and_depend_on_the_seed() -> None:
    def with_answer(windows: Sequence[TrainingWindow]) -> list[TrainingWindow]:
        return [one for one in windows if one.answers != [(0, 0)]]

    windows, _ = training_windows(reader(), [example("二三")] * 60)
    answered = with_answer(windows)
    empty = len(windows) - len(answered)
    some = with_fewer_empty(windows, 0.25, seed=1)
    assert with_answer(some) == answered
    assert 0.1 * empty < len(some) - len(answered) < 0.4 * empty
    assert some == with_fewer_empty(windows, 0.25, seed=1) != with_fewer_empty(windows, 0.25, 2)
    assert with_fewer_empty(windows, 1.0, seed=1) == windows
