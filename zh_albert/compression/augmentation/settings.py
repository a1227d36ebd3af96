"""Settings of a stage that augments, and the augmentation they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from zh_albert.compression.augmentation.tang import TangAugmentation, tang_variants
from zh_albert.compression.augmentation.word_replacement import WordReplacement, word_replacements
from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.tasks.texts import Content

Augmentation = Callable[[Sequence[Content]], Iterator[list[Content]]]


@dataclass(frozen=True, kw_only=True)
class AugmentConfig:
    """One of the two ways to vary texts."""

    tang: TangAugmentation | None = None  # words masked or exchanged by rule, n-grams
    words: WordReplacement | None = None  # words replaced by what a masked LM proposes
    seed: int = 1

    def __post_init__(self) -> None:
        if (self.tang is None) == (self.words is None):
            raise ConfigError("augment: expected one of tang and words, found both or neither")


def augmentation(settings: Mapping[str, Any]) -> Augmentation:
    """Return the function that gives the variants of each text.

    Raises:
        ConfigError: If a setting is unknown or wrong.
    """
    config = build(AugmentConfig, settings, source="augment")
    if config.tang is not None:
        return partial(tang_variants, settings=config.tang, seed=config.seed)
    assert config.words is not None
    return partial(word_replacements, settings=config.words, seed=config.seed)
