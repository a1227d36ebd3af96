"""Scores of words, counted by hand."""

from __future__ import annotations

import pytest

from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.metrics import word_metrics


def spans(*ends: int) -> list[WordSpan]:
    return [WordSpan(start, end) for start, end in zip((0, *ends), ends, strict=False)]


def test_the_same_words_are_perfect() -> None:
    assert word_metrics([spans(1, 3, 4)], [spans(1, 3, 4)]) == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
    }


def test_a_word_counts_only_with_both_borders_and_texts_are_counted_together() -> None:
    gold = [spans(1, 3, 4), spans(2)]
    found = [spans(1, 2, 3, 4), spans(1, 2)]  # the first and the last word of the first text
    scores = word_metrics(gold, found)
    assert scores["precision"] == pytest.approx(2 / 6)
    assert scores["recall"] == pytest.approx(2 / 4)
    assert scores["f1"] == pytest.approx(2 * 2 / (4 + 6))


def test_the_same_span_of_another_text_is_no_hit() -> None:
    assert word_metrics([spans(1), spans(2)], [spans(2), spans(1)])["f1"] == 0


def test_a_fraction_of_nothing_is_zero() -> None:
    nothing = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert word_metrics([], []) == word_metrics([[]], [[]]) == nothing
    assert word_metrics([spans(1)], [[]]) == word_metrics([[]], [spans(1)]) == nothing


def test_texts_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="zip"):
        word_metrics([spans(1)], [])
