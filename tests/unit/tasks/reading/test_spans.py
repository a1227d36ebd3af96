"""What a reader's scores of windows say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.helpers.reading_windows import WINDOW
from zh_albert.tasks.reading.examples import AnswerSpan
from zh_albert.tasks.reading.questions import encode_question
from zh_albert.tasks.reading.spans import NO_ANSWER, Penalties, RankedSpan, Reading, read_window
from zh_albert.tokenization.encoding import Encoding


def test_a_character_of_several_tokens_is_answered_whole_also_at_the_edge_of_a_window() -> None:
    places = [(n, n + 1) for n in range(15)]
    places[10] = places[11] = (10, 11)  # one character, two tokens, the edge of the first window
    question = encode_question(Encoding([5, 5], []), Encoding([7] * 15, places), WINDOW)
    assert question.parts == [range(11), range(4, 15)]
    found = []
    for number in range(2):
        zeros = np.zeros((16, 2), dtype=np.float32)
        ranked, _ = read_window(zeros, question, number, longest=7, keep=1000)
        found += [one.span for one in ranked]
    assert len(found) == len(set(found))
    assert AnswerSpan(4, 11) not in found  # the first window decides it and has half of its end
    assert AnswerSpan(10, 11) in found
    assert all(span.start < span.end for span in found)


def test_a_token_without_a_character_begins_and_ends_no_answer() -> None:
    places = [(0, 0), (0, 1), (1, 1), (2, 3)]  # "中\n文" in SentencePiece
    question = encode_question(Encoding([5, 5], []), Encoding([7] * 4, places), WINDOW)
    zeros = np.zeros((9, 2), dtype=np.float32)
    ranked, _ = read_window(zeros, question, 0, longest=4, keep=1000)
    assert sorted(one.span for one in ranked) == [(0, 1), (0, 3), (2, 3)]


def test_windows_are_compared_by_what_not_here_scores() -> None:
    question = encode_question(
        Encoding([5, 5], []), Encoding([7] * 18, [(n, n + 1) for n in range(18)]), WINDOW
    )
    reading, scores = Reading(), np.zeros((16, 2), dtype=np.float32)
    scores[5], scores[0] = 3.0, 2.0
    reading.add(*read_window(scores, question, 0, longest=4, keep=3), keep=3)  # odds 6 - 4
    scores = np.zeros((16, 2), dtype=np.float32)
    scores[13], scores[0] = 2.0, 0.5
    reading.add(*read_window(scores, question, 1, longest=4, keep=3), keep=3)  # odds 4 - 1
    assert [round(one.log_odds, 3) for one in reading.best[:2]] == [3, 2]
    assert [one.span for one in reading.best[:2]] == [AnswerSpan(16, 17), AnswerSpan(1, 2)]


def test_penalties_are_for_length_and_for_what_the_question_says() -> None:
    places = [(n, n + 1) for n in range(6)]
    question = encode_question(Encoding([5, 8], []), Encoding([5, 7, 7, 8, 7, 7], places), WINDOW)
    zeros = np.zeros((11, 2), dtype=np.float32)
    penalties = Penalties(length=1.5, repeat=0.5)
    ranked, mass = read_window(zeros, question, 0, longest=4, keep=99, penalties=penalties)
    found = {one.span: one.log_odds for one in ranked}
    assert found[AnswerSpan(1, 2)] == 0
    assert found[AnswerSpan(0, 1)] == pytest.approx(-0.5)  # all of it is in the question
    assert found[AnswerSpan(0, 4)] == pytest.approx(-1.5 * math.log(4) - 0.5 * 2 / 4)
    assert found[AnswerSpan(4, 6)] == pytest.approx(-1.5 * math.log(2))  # at the end of the text
    assert mass == pytest.approx(math.log(sum(map(math.exp, found.values()))))
    with_none, _ = read_window(zeros, question, 0, longest=4, keep=99)
    assert {one.log_odds for one in with_none} == {0}
    assert {one.span: (one.tokens, one.repeated) for one in with_none}[AnswerSpan(3, 6)] == (
        3,
        pytest.approx(1 / 3),
    )


def test_no_answer_stands_where_its_threshold_is() -> None:
    reading = Reading([RankedSpan(1.0, AnswerSpan(0, 1)), RankedSpan(-1.0, AnswerSpan(1, 2))])
    reading.log_mass = math.log(math.e + 1 / math.e)
    assert [span for span, _ in reading.answers(0.0)] == [(0, 1), NO_ANSWER, (1, 2)]
    assert sum(score for _, score in reading.answers(0.0)) == pytest.approx(1)
    assert [span for span, _ in reading.answers(None)] == [(0, 1), (1, 2)]
    assert sum(score for _, score in reading.answers(None)) == pytest.approx(1)
    assert Reading().answers(None) == Reading().answers(-9.0) == [(NO_ANSWER, 1.0)]


def test_no_answer_goes_on_behind_the_end_of_a_line() -> None:
    places = [(n, n + 1) for n in range(18)]
    breaks = (4, 9)
    question = encode_question(Encoding([5, 5], []), Encoding([7] * 18, places), WINDOW, breaks)
    found = set()
    for number in range(2):
        zeros = np.zeros((16, 2), dtype=np.float32)
        ranked, _ = read_window(zeros, question, number, longest=4, keep=1000)
        found |= {one.span for one in ranked}
    lines = [range(4), range(4, 9), range(9, 18)]
    expected = {
        AnswerSpan(start, end)
        for line in lines
        for start in line
        for end in range(start + 1, min(start + 4, line.stop) + 1)
    }
    assert found == expected


def test_no_answer_begins_or_ends_with_punctuation_between_clauses() -> None:
    places = [(n, n + 1) for n in range(18)]
    between = (3, 12, 17)
    question = encode_question(
        Encoding([5, 5], []), Encoding([7] * 18, places), WINDOW, between=between
    )
    found = set()
    for number in range(2):
        zeros = np.zeros((16, 2), dtype=np.float32)
        ranked, _ = read_window(zeros, question, number, longest=4, keep=1000)
        found |= {one.span for one in ranked}
    expected = {
        AnswerSpan(start, end)
        for start in range(18)
        for end in range(start + 1, min(start + 4, 18) + 1)
        if not {start, end - 1}.intersection(between)
    }
    assert found == expected
    assert AnswerSpan(2, 5) in found  # in the middle it may stand
