"""Distinct variants: what is left out, which side of a pair changes, what the seed decides."""

from __future__ import annotations

import random

import pytest

from zh_albert.compression.augmentation.tang import MASKED
from zh_albert.compression.augmentation.variants import distinct_variants
from zh_albert.tasks.texts import Content
from zh_albert.tokenization.tokenizer import default_tokenizer


def drawn(text: str, rng: random.Random) -> str:
    """Add one of two endings."""
    return text + rng.choice("吗呢")


def constant(text: str) -> list[Content]:
    """Return the variants of 好 by a change that always gives ``text``."""
    return distinct_variants("好", [lambda *_: text] * 2, [[0]], 5, 1)


def test_equal_variants_and_the_original_are_left_out():
    assert sorted(distinct_variants("好", [drawn] * 2, [[0]], 50, 1)) == ["好吗", "好呢"]
    assert constant("好") == []


@pytest.mark.parametrize("text", ["", "  ", "\u200b", MASKED, MASKED * 2])
def test_a_variant_that_says_nothing_is_left_out(text):
    assert constant(text) == []


def test_sides_of_a_pair_change_in_turn():
    changes = [lambda text, _: text + "甲", lambda text, _: text + "乙"]

    assert distinct_variants(("一", "二"), changes, [[0], [1], [0, 1]], 4, 1) == [
        ("一甲", "二"),
        ("一", "二乙"),
        ("一甲", "二乙"),
    ]


def test_an_empty_side_may_stay():
    changes = [lambda text, _: text, lambda text, _: text + "乙"]

    assert distinct_variants(("", "二"), changes, [[0, 1]], 4, 1) == [("", "二乙")]


def test_seed_and_content_decide():
    def number(text: str, rng: random.Random) -> str:
        return f"{rng.random()}"

    first = distinct_variants("好\ud800", [number], [[0]], 3, 1)

    assert first == distinct_variants("好\ud800", [number], [[0]], 3, 1)
    assert not {*first} & {*distinct_variants("好\ud800", [number], [[0]], 3, 2)}
    assert not {*first} & {*distinct_variants("坏", [number], [[0]], 3, 1)}


def test_masked_words_are_unknown_tokens_of_their_own():
    tokenizer = default_tokenizer()
    ids = tokenizer.encode(f"我{MASKED}{MASKED}们a{MASKED}b").ids

    assert tokenizer.tokens(ids) == ["我", "[UNK]", "[UNK]", "们", "a", "[UNK]", "b"]
