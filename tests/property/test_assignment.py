"""The one-to-one assignment against trying all of them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tasks.choice.assignment import choose, one_to_one
from zh_albert.tasks.choice.examples import Question


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Rows of probabilities: up to four questions with as many choices or more."""
    questions = draw(st.integers(1, 4))
    choices = draw(st.integers(max(questions, 2), 5))
    seed = draw(st.integers(0, 2**32 - 1))
    table = np.random.default_rng(seed).gamma(0.3, size=(questions, choices)) + 1e-9
    return table / table.sum(-1, keepdims=True)


@given(tables())
def test_no_assignment_without_repeats_is_more_probable(table: np.ndarray) -> None:
    found = one_to_one(table)
    assert len(set(found)) == len(found)

    def log_probability(choices: tuple[int, ...] | list[int]) -> float:
        return float(sum(np.log(table[row, choice]) for row, choice in enumerate(choices)))

    every = itertools.permutations(range(table.shape[1]), len(table))
    assert log_probability(found) >= max(map(log_probability, every)) - 1e-9


@given(tables(), st.integers(0, 2**32 - 1))
def test_questions_without_a_group_take_their_best_choice(table: np.ndarray, seed: int) -> None:
    choices = tuple(map(str, range(table.shape[1])))
    groups = np.random.default_rng(seed).choice([None, "a"], size=len(table))
    asked = [Question("文", "", choices, group) for group in groups]
    found = choose(asked, list(table))
    for row, question, choice in zip(table, asked, found, strict=True):
        if question.group is None:
            assert choice == row.argmax()
    taken = [choice for question, choice in zip(asked, found, strict=True) if question.group]
    assert len(set(taken)) == len(taken)


def test_more_questions_than_choices_leave_some_with_their_best() -> None:
    assert one_to_one([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]]) == [0, 0, 1]


def test_an_impossible_choice_spoils_nothing() -> None:
    assert one_to_one([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.3, 0.7]])[2] == 2
