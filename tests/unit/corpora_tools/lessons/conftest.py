"""Sentences for the rules of lessons."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from corpora_tools.lessons.sentence import Sentence
from zh_albert.compression.augmentation.tang import tagger


@pytest.fixture(scope="session")
def read() -> Callable[[str], Sentence]:
    """Cut a sentence into words with their parts of speech."""
    tag = tagger()
    return lambda text: Sentence(tuple(tag(text)))


@pytest.fixture
def outcomes() -> Callable[[Any, Sentence], set[Any]]:
    """Return all that a rule makes of a sentence in twenty draws."""
    return lambda rule, sentence: {rule(sentence, random.Random(seed)) for seed in range(20)}
