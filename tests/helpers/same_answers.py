"""Answers to the same texts among others, in other orders, alone and by two threads."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from tests.golden.comparison.answers import plain
from tests.golden.comparison.texts import make_inputs
from zh_albert import load

ASKED = {"nli": "pairs", "similarity": "pairs", "reader": "questions", "encoder": "masks"}
"""What bundled models are asked, as far as it is not ``texts``."""
_ROOT = Path(__file__).parents[2]
# In fp32, PyTorch adds up in another order for another number of texts; in int8, nothing shows.
_FP32 = 2e-5
# Of long contexts, and of an encoder in PyTorch, fewer.
_SHARE = {"reader": 0.3, "encoder": 0.2}


def differing(name: str, count: int, alone: int) -> tuple[int, list[Any]]:
    """Ask a bundled model in several ways.

    Args:
        name: The model.
        count: How many texts; fewer of models that are slow.
        alone: How many of them are also asked one by one.

    Returns:
        Number of answers compared, and the texts whose answers differ.
    """
    count, alone = (round(number * _SHARE.get(name, 1)) for number in (count, alone))
    asked, rng = _inputs(name, count), random.Random(1)
    with _threads(1):
        predictor: Any = load(name)
        answers = list(map(plain, predictor.stream(asked)))
    order = rng.sample(range(count), count)
    compared, different = 0, []
    with _threads(2):
        several: Any = load(name)
        for chosen in (order, *_pieces(order[: count // 2], rng), *([n] for n in order[:alone])):
            found = [plain(one) for one in several.stream([asked[n] for n in chosen])]
            compared += len(found)
            different += [
                asked[number]
                for number, one in zip(chosen, found, strict=True)
                if not same(one, answers[number], _FP32 if name == "encoder" else 0)
            ]
    return compared, different


def same(first: Any, second: Any, within: float = 0) -> bool:
    """Compare answers; numbers may differ by ``within``."""
    if isinstance(first, float):
        return abs(first - second) <= within
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            same(value, second[key], within) for key, value in first.items()
        )
    if isinstance(first, list):
        return len(first) == len(second) and all(
            same(one, other, within) for one, other in zip(first, second, strict=True)
        )
    return bool(first == second)


def _inputs(name: str, count: int) -> list[Any]:
    """Short, long and odd texts, as the model takes them; no two alike."""
    found: dict[Any, None] = {}
    for seed in range(1, 99):
        made = getattr(make_inputs(_ROOT, quick=count < 300, seed=seed), ASKED.get(name, "texts"))
        found |= dict.fromkeys(made)
        if len(found) >= count:
            return random.Random(0).sample(list(found), count)
    raise AssertionError("too few texts")


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _pieces(order: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    """Lists of two to forty."""
    start = 0
    while start < len(order):
        size = rng.randint(2, 40)
        yield list(order[start : start + size])
        start += size
