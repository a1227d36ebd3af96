"""Penalties of answers, tuned on questions whose answers are known."""

from __future__ import annotations

from zh_albert.tasks.reading.examples import AnswerSpan, ReadingExample
from zh_albert.tasks.reading.penalties import best_penalties
from zh_albert.tasks.reading.spans import Penalties, RankedSpan

TEXT = "他在1998年去了杭州"


def asked(*references: str) -> ReadingExample:
    return ReadingExample(TEXT, "他什么时候去了杭州", (), references)


def candidates(long: float, short: float) -> list[RankedSpan]:
    """The whole text with these log-odds, and the year in it."""
    return [
        RankedSpan(long, AnswerSpan(0, len(TEXT)), 8, 0.6),
        RankedSpan(short, AnswerSpan(2, 7), 2, 0.0),
    ]


def test_they_are_as_small_as_will_do() -> None:
    found = best_penalties([candidates(1.0, 0.9)], [asked("1998年")])
    assert found == Penalties(0.25, 0.0)
    assert best_penalties([candidates(1.0, 2.0)], [asked("1998年")]) == Penalties()
    assert best_penalties([candidates(1.0, 0.9)], [asked(TEXT)]) == Penalties()


def test_they_weigh_all_questions() -> None:
    long, short = (asked(TEXT), candidates(3.0, 0.9)), (asked("1998年"), candidates(1.0, 0.4))
    examples, spans = zip(long, short, short, strict=True)
    # 0.5 for length turns the last two; above 1.5 it would turn the first one, too.
    assert best_penalties(spans, examples) == Penalties(0.5, 0.0)
    examples, spans = zip(long, long, long, short, strict=True)
    assert best_penalties(spans, examples) == Penalties(0.5, 0.0)


def test_questions_without_an_answer_tune_nothing() -> None:
    assert best_penalties([candidates(1.0, 0.9), []], [asked(), asked("杭州")]) == Penalties()
