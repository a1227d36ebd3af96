"""Estimator of answers to questions about a context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from zh_albert.errors import DataError
from zh_albert.estimators.fitting import AlbertEstimator, is_missing, refuse_no_targets
from zh_albert.tasks.chunks import as_list
from zh_albert.tasks.reading.examples import ReadingExample, as_spans
from zh_albert.tasks.reading.finetune import ModelConfig, ReadingJob, evaluate
from zh_albert.tasks.reading.predictor import Answer, Reader
from zh_albert.tasks.texts import has_content

Answers = Sequence[Any]
"""Of each question: a text, or (start, text), or a mapping or object with these names, or a list of
such; None or an empty list: the context has no answer.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class AlbertReader(AlbertEstimator):
    """Chinese reading-comprehension model with scikit-learn's interface: answers are spans of a
    text.

    Args:
        init: Encoder to start from: a bundled name, a folder or a hub id; None: random weights.
        preset: Size of random weights: ``tiny`` (the default), ``small``, ``base``, …
        simplify: Read traditional characters as simplified ones; else as ``init`` does.
        max_length: Tokens of one window, including the question; longer texts are split into
            overlapping windows.
        stride: Tokens shared by neighbouring windows, and the maximum of an answer.
        epochs: Passes over the training questions.
        peak_lr: Peak learning rate.
        batch_tokens: Tokens of one forward pass in training.
        random_state: Seed of weights, order and dropout; None: a new one each time.
        on_event: Called with progress (``zh_albert.training.events``).

    Attributes:
        reader_: The trained ``TextReader``.
        config_: The training settings.

    >>> pairs = [("谁去了杭州?", "李华昨天去了杭州。"), ("谁在北京?", "王小明在北京很高兴。")]
    >>> model = AlbertReader(init=None, preset="tiny", epochs=1).fit(pairs, ["李华", "王小明"])
    >>> [answer] = model.predict([("谁去了北京?", "李华昨天去了北京。")])
    >>> answer.text == "李华昨天去了北京。"[answer.start : answer.end]
    True
    """

    simplify: bool = False
    max_length: int = 256
    stride: int = 96
    epochs: int = 3
    peak_lr: float = 3e-4
    batch_tokens: int = 1024

    _job, _kept_in = ReadingJob, "reader_"

    def fit(self, X: ArrayLike, y: Answers) -> Self:  # noqa: N803
        """Train on pairs ``X`` of question and context, and the answers ``y``.

        An answer without a start is used wherever it occurs in the context.

        Raises:
            DataError: If a question or context is not a string or is empty, the lengths differ, or
                an answer is not in its context.
        """
        model = ModelConfig(preset=self._size(), simplify=bool(self.simplify))
        config = self._config(model, self.batch_tokens)
        self._learn(_examples(X, y), config)
        return self

    def predict(self, X: ArrayLike) -> list[Answer]:  # noqa: N803
        """Return the answer to each question; an empty one if the context has none."""
        pairs, reader = _pairs(X), Reader(self._model())
        return reader([question for question, _ in pairs], [context for _, context in pairs])

    def score(self, X: ArrayLike, y: Answers) -> float:  # noqa: N803
        """Return the F1 of ``predict`` as a fraction; see ``reading_metrics``."""
        f1: float = evaluate(self._model(), _examples(X, y))["f1"]
        return f1 / 100


def _pairs(X: ArrayLike) -> list[tuple[Any, Any]]:  # noqa: N803
    array = np.asarray(X, dtype=object)
    if array.shape != (0,) and (array.ndim != 2 or array.shape[1] != 2):
        raise DataError(
            f"expected pairs of question and context, shape (n, 2), found shape {array.shape}"
        )
    return [(question, context) for question, context in array.tolist()]


def _examples(X: ArrayLike, y: Answers) -> list[ReadingExample]:  # noqa: N803
    pairs = _pairs(X)
    refuse_no_targets(y, "the answers to each question")
    given = as_list(y, "y")
    if len(pairs) != len(given):
        raise DataError(f"{len(pairs)} questions, but answers to {len(given)}")
    examples = []
    for number, ((question, context), answers) in enumerate(zip(pairs, given, strict=True)):
        for name, text in (("question", question), ("context", context)):
            if not isinstance(text, str):
                found = f"found {type(text).__name__}: {text!r:.50}"
                raise DataError(f"{name} of pair {number}: expected a string, {found}")
            if not has_content(text):
                raise DataError(f"{name} of pair {number} is empty; leave the pair out")
        answers = None if is_missing(answers) else answers  # noqa: PLW2901
        spans = as_spans(answers, context, f"answers to pair {number}")
        references = tuple(dict.fromkeys(context[start:end] for start, end in spans))
        examples.append(ReadingExample(context, question, spans, references))
    return examples
