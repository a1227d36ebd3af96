"""The reader: tokenizer, network, windows, and the threshold for giving no answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import nn

from zh_albert.model.config import AlbertConfig
from zh_albert.tasks.batched_inference import window_outputs
from zh_albert.tasks.breaks import between_clauses, breaks_of
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.reading.network import SpanReader, border_logits
from zh_albert.tasks.reading.questions import EncodedQuestion, encode_question, refuse_narrow
from zh_albert.tasks.reading.spans import Penalties, Reading, read_window
from zh_albert.tasks.texts import refuse_non_pairs
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer

WindowLogits = tuple[list[tuple[int, int]], NDArray[np.float32]]
"""The question and the window of each row, and the logits. Shape: (rows, length, 2)."""


class TextReader(TaskModel[tuple[str, str], EncodedQuestion]):
    """A reader: questions and texts → answers of at most ``window.stride`` tokens.

    Attributes:
        threshold: Minimum log-odds of an answer; None: the model always answers. See
            ``spans.Reading``.
        split_at_breaks: Whether no answer goes on behind a line end, and none begins or ends with
            punctuation between clauses.
        penalties: What is taken from the log-odds of answers.
    """

    names = ("reading",)
    kept = ("threshold", "split_at_breaks", "length_penalty", "repeat_penalty")
    plural = "questions"
    outputs = staticmethod(border_logits)

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        threshold: float | None = None,
        split_at_breaks: bool = False,
        length_penalty: float | None = None,
        repeat_penalty: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        refuse_narrow(window)
        super().__init__(config, tokenizer, SpanReader(config), window=window, metadata=metadata)
        self.threshold, self.split_at_breaks = threshold, split_at_breaks
        self.penalties = Penalties(length_penalty or 0.0, repeat_penalty or 0.0)

    def settings(self) -> dict[str, Any]:
        """See ``TaskModel``."""
        length, repeat = self.penalties
        own = {"threshold": self.threshold, "split_at_breaks": self.split_at_breaks}
        return {**own, "length_penalty": length, "repeat_penalty": repeat}

    def no_content(self, content: tuple[str, str]) -> str:
        """See ``TaskModel``."""
        return f"{super().no_content(content)}: there is nothing to answer"

    def encode_or_none(
        self, contents: Sequence[tuple[str, str]], *, counted_from: int = 0
    ) -> list[EncodedQuestion | None]:
        """Tokenize questions and their texts; a text of several questions is tokenized once.

        See ``TaskModel``.
        """
        refuse_non_pairs(contents, counted_from=counted_from)
        texts = list(dict.fromkeys(text for pair in contents for text in pair))
        encodings = dict(zip(texts, self.tokenizer.encode_batch(texts), strict=True))
        contexts = {text: encodings[text].over_marks(text) for _, text in contents}
        borders: dict[str, Sequence[tuple[int, ...]]] = {}
        if self.split_at_breaks:
            for text, context in contexts.items():
                offsets = context.offsets
                breaks = breaks_of(text, offsets, blanks=False)
                borders[text] = breaks, between_clauses(text, offsets)
        return [
            encode_question(encodings[q], contexts[c], self.window, *borders.get(c, ()))
            if encodings[q].ids
            else None
            for q, c in contents
        ]

    def outputs_of(self, questions: Sequence[EncodedQuestion]) -> Iterator[WindowLogits]:
        """Yield windows of the questions, by the numbers of question and window, and their logits.

        Args:
            questions: Questions about texts of any length, also empty.
        """
        special = self.tokenizer.special
        lengths = [[one.length(w) for w in range(len(one.parts))] for one in questions]
        return window_outputs(
            lengths, lambda q, w: questions[q].window(w, special), self.runtime, self.config
        )

    def read(
        self,
        questions: Sequence[EncodedQuestion],
        *,
        keep: int = 1,
        outputs: Iterable[WindowLogits] | None = None,
    ) -> list[Reading]:
        """Return the best answers to each question, without applying the threshold.

        Args:
            questions: Questions about texts of any length, also empty.
            keep: Number of answers to keep for each.
            outputs: Their ``outputs_of``, if they are known.
        """
        readings = [Reading() for _ in questions]
        longest, penalties = self.window.stride, self.penalties
        for places, logits in self.outputs_of(questions) if outputs is None else outputs:
            for row, (q, w) in zip(logits, places, strict=True):
                found = read_window(
                    row, questions[q], w, longest=longest, keep=keep, penalties=penalties
                )
                readings[q].add(*found, keep=keep)
        return readings

    @classmethod
    def from_settings(
        cls, config: AlbertConfig, tokenizer: Tokenizer, window: WindowConfig, given: dict[str, Any]
    ) -> Self:
        """See ``TaskModel``; older folders say here that traditional characters are simplified."""
        if given.pop("simplify", False):
            tokenizer = tokenizer.simplifying()
        return super().from_settings(config, tokenizer, window, given)

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:  # noqa: ARG003
        """See ``TaskModel``."""
        return SpanReader(config)
