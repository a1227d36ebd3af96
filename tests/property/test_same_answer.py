"""An answer is that of the text alone: other texts, their order and threads change no bit of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.golden.comparison.answers import plain
from tests.golden.comparison.texts import make_inputs
from tests.helpers.served import same
from zh_albert import load
from zh_albert.checkpoints.resolve import bundled_names

ROOT = Path(__file__).parents[2]
ASKED = {"nli": "pairs", "similarity": "pairs", "reader": "questions", "encoder": "masks"}
# Scores are rounded to six digits, so 1e-6 in fp32 shows as up to twice as much; in int8, nothing
# does.
FP32 = 2.1e-6
# Of long contexts, and of an encoder in PyTorch, fewer.
SHARE = {"reader": 0.3, "encoder": 0.2}


def inputs(name: str, count: int) -> list[Any]:
    """Short, long and odd texts, as the model takes them; no two alike."""
    found: dict[Any, None] = {}
    for seed in range(1, 99):
        made = getattr(make_inputs(ROOT, quick=count < 300, seed=seed), ASKED.get(name, "texts"))
        found |= dict.fromkeys(made)
        if len(found) >= count:
            return random.Random(0).sample(list(found), count)
    raise AssertionError("too few texts")


@contextmanager
def threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check(name: str, count: int, alone: int) -> None:
    count, alone = (round(number * SHARE.get(name, 1)) for number in (count, alone))
    asked, rng = inputs(name, count), random.Random(1)
    with threads(1):
        predictor: Any = load(name)
        answers = list(map(plain, predictor.stream(asked)))
    order = rng.sample(range(count), count)
    with threads(2):
        several: Any = load(name)
        for chosen in (order, *pieces(order[: count // 2], rng), *([n] for n in order[:alone])):
            found = [plain(one) for one in several.stream([asked[n] for n in chosen])]
            for number, one in zip(chosen, found, strict=True):
                assert same(one, answers[number], FP32 if name == "encoder" else 0), asked[number]


def pieces(order: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    """Lists of two to forty."""
    start = 0
    while start < len(order):
        size = rng.randint(2, 40)
        yield list(order[start : start + size])
        start += size


@pytest.mark.parametrize("name", bundled_names())
def test_an_answer_is_that_of_the_text_alone(name: str) -> None:
    check(name, 100, 20)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", bundled_names())
def test_answers_are_those_of_the_texts_alone(name: str) -> None:
    check(name, 2000, 200)
