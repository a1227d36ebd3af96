"""The baseline of word segmentation: a linear-chain CRF over character features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zh_albert.tasks.evaluation import timed_baseline
from zh_albert.tasks.segmentation.examples import SegmentationExample, WordSpan
from zh_albert.tasks.segmentation.metrics import word_metrics
from zh_albert.tasks.segmentation.tags import TAGS, tags_of, words_of
from zh_albert.tasks.tagging.crf_baseline import CrfBaseline


def score_baseline(
    examples: Sequence[SegmentationExample], dev: Sequence[SegmentationExample]
) -> dict[str, Any]:
    """Fit BMES tags of characters on ``examples``; return the scores on ``dev``, with both times.

    Raises:
        MissingExtraError: If python-crfsuite is not installed.
    """

    def fit() -> CrfBaseline:
        tags = [[TAGS[t] for t in tags_of(e.words, _characters(e.text))] for e in examples]
        return CrfBaseline([example.text for example in examples], tags)

    def predict(crf: CrfBaseline) -> list[list[WordSpan]]:
        texts = [example.text for example in dev]
        tags = ([TAGS.index(name) for name in crf.tag(text)] for text in texts)
        return [
            words_of(text, one, _characters(text)) for text, one in zip(texts, tags, strict=True)
        ]

    gold = [example.words for example in dev]
    return timed_baseline(examples, dev, fit, predict, lambda found: word_metrics(gold, found))


def _characters(text: str) -> list[tuple[int, int]]:
    return [(place, place + 1) for place in range(len(text))]
