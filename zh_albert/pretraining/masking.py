"""Which tokens are hidden from the model: pure functions of words and a random generator.

No tokenizer, no tensor and no global seed, so that the demo shows, and a cluster repeats, exactly
what pretraining does.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from zh_albert.errors import ConfigError


def choose_whole_words(
    words: Sequence[range], rng: random.Random, *, rate: float = 0.15
) -> list[int]:
    """Choose token positions to mask: all of a word's tokens, or none of them.

    Words come in random order, and each that still fits the budget (``rate`` of all tokens,
    rounded) is taken. If not even the shortest word fits, that one is taken all the same (of
    several as short, a random one), so that every text has something to predict; only then is
    the budget exceeded.

    Args:
        words: Token ranges that do not overlap, as ``tokenization.words.word_ranges`` gives them.
            Special tokens belong to none, and so are never chosen.
        rng: Decides; the same state chooses the same positions.
        rate: Share of the tokens to mask, in (0, 1].

    Returns:
        Positions, ascending. Empty if there are no words.

    Raises:
        ConfigError: If ``rate`` is out of range.

    >>> words = [range(1, 3), range(3, 5), range(5, 9)]  # 使用 | 语言 | 模型预测
    >>> choose_whole_words(words, random.Random(0), rate=0.25)
    [3, 4]
    """
    if not 0 < rate <= 1:
        raise ConfigError(f"rate must be above 0 and at most 1, found {rate}")
    order = rng.sample(range(len(words)), len(words))
    room = round(rate * sum(map(len, words)))
    chosen: list[int] = []
    for index in order:
        word = words[index]
        if len(word) <= room:
            chosen += word
            room -= len(word)
            if not room:
                break
    if not chosen and order:
        chosen += words[min(order, key=lambda index: len(words[index]))]
    return sorted(chosen)
