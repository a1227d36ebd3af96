"""A small classifier first, a large one where the small one is unsure.

Whole models one after another do better than one that stops at a lower layer, whose states are not
yet those that its head needs: Li et al. 2021, CascadeBERT (arXiv:2012.14682).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self, SupportsFloat

import numpy as np

from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.chunks import as_list
from zh_albert.tasks.classification.predictor import Classification, Classifier
from zh_albert.tasks.texts import Content, refuse_non_strings, refuse_unseen


class Cascade:
    """Answers by a small classifier, and by a large one if the small one's score is too low.

    Args:
        small: Answers every text.
        large: Answers those of which the small one is unsure. The same classes.
        threshold: The least score of the small one's answer that is kept, from 0 (the large one is
            never asked) to 1; infinity: it is always asked.

    Attributes:
        labels: Names of the classes.
        pairs: Whether it reads pairs of texts.
        threshold: May be changed.
        passed_on: The share of the texts answered so far that the large one was asked; 0 before.

    Raises:
        ConfigError: If one is no classifier, they have other classes or read something else, or
            the threshold is no such number.
    """

    def __init__(self, small: Classifier, large: Classifier, *, threshold: float = 0.9) -> None:
        for name, model in (("small", small), ("large", large)):
            if not isinstance(model, Classifier):
                raise ConfigError(
                    f'{name}: expected a classifier, such as load("sentiment"), found {model!r:.50}'
                )
        if sorted(small.labels) != sorted(large.labels) or small.pairs != large.pairs:
            raise ConfigError(
                f"small and large must have the same classes and read the same, found "
                f"{_read_by(small)} and {_read_by(large)}"
            )
        self._small, self._large = small, large
        self.labels, self.pairs = small.labels, small.pairs
        self.threshold = math.inf if threshold == math.inf else _fraction(threshold, "threshold")
        self._asked = self._answered = 0

    @classmethod
    def fit(
        cls,
        small: Classifier,
        large: Classifier,
        texts: Iterable[Content],
        labels: Sequence[str],
        *,
        loss: float = 0.001,
    ) -> Self:
        """Return the cascade that asks the large one least often and is nearly as good as it.

        Args:
            small: See the class.
            large: See the class.
            texts: Labelled texts that neither has learned from.
            labels: The right class of each.
            loss: Accuracy that may be lost on them, against the large one alone.

        Raises:
            ConfigError: See the class; or ``loss`` is no number from 0 to 1.
            DataError: If there are no texts, not as many labels, or labels that are no class.
        """
        found, most = cls(small, large, threshold=1), _fraction(loss, "loss")
        contents = as_list(texts)
        if not contents or len(contents) != len(labels):
            raise DataError(
                f"expected texts and a label for each, found {len(contents)} texts and "
                f"{len(labels)} labels"
            )
        refuse_non_strings(labels, name="labels")
        named = ((label, f"labels[{index}]") for index, label in enumerate(labels))
        refuse_unseen(named, found.labels, "labels", "classes")
        answers = small(contents)
        scores = np.array([answer.score for answer in answers])
        kept, others = (
            np.array([a.label == label for a, label in zip(given, labels, strict=True)], int)
            for given in (answers, large(contents))
        )
        # With the surest texts answered by the small one: right answers more than the large one's.
        order = np.argsort(-scores, kind="stable")
        gained = np.concatenate([[0], np.cumsum((kept - others)[order])])
        steps = np.concatenate([[np.inf], scores[order], [-np.inf]])
        whole = steps[:-1] != steps[1:]  # texts of one score are kept together or not at all
        possible = np.flatnonzero(whole & (gained >= -most * len(contents)))
        last = int(possible[-1])
        found.threshold = float(scores[order[last - 1]]) if last else math.inf
        return found

    @property
    def passed_on(self) -> float:
        """The share of texts that the large one was asked."""
        return self._asked / self._answered if self._answered else 0.0

    def __call__(self, texts: str | Iterable[Content]) -> list[Classification]:
        """Answer texts, in order; a single string counts as a list of one.

        Raises:
            DataError: If one has another form or no content; its index is named.
        """
        contents = as_list(texts)
        answers: list[Classification] = self._small(contents)
        unsure = [n for n, answer in enumerate(answers) if answer.score < self.threshold]
        if unsure:
            better = self._large([contents[number] for number in unsure])
            for number, answer in zip(unsure, better, strict=True):
                answers[number] = answer
        self._asked += len(unsure)
        self._answered += len(contents)
        return answers


def _read_by(model: Classifier) -> str:
    return f"{', '.join(model.labels):.80}{' of pairs' * model.pairs}"


def _fraction(value: Any, name: str) -> float:
    if not (isinstance(value, SupportsFloat) and 0 <= float(value) <= 1):
        raise ConfigError(f"{name}: expected a number from 0 to 1, found {value!r:.50}")
    return float(value)
