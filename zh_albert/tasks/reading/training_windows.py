"""Training windows of a reader: every window of every text, with the answers in it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.questions import EncodedQuestion
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import pad_windows
from zh_albert.tokenization.encoding import SpecialIds

_NOT_HERE = (0, 0)  # the positions of [CLS]


class TrainingWindow(NamedTuple):
    """One window with its answers: positions of first and last token, or of ``[CLS]`` if none."""

    question: EncodedQuestion
    window: int
    answers: list[tuple[int, int]]


@dataclass
class SkippedQuestions:
    """Counts of the training questions that are skipped.

    Attributes:
        questions: All of them.
        unread: No answer occurs verbatim in the context, or it contains no token.
        too_long: Every answer has more tokens than windows share.
    """

    questions: int = 0
    unread: int = 0
    too_long: int = 0

    def __str__(self) -> str:
        """Describe the counts that are not 0; empty if no question is skipped."""
        descriptions = {
            "left out, for no answer of theirs stands in the context": self.unread,
            "left out, for their answers have more tokens than window.stride": self.too_long,
        }
        found = [f"{count:,} {what}" for what, count in descriptions.items() if count]
        return f"of {self.questions:,} training questions {'; '.join(found)}" if found else ""


def training_windows(
    reader: TextReader, examples: Sequence[ReadingExample]
) -> tuple[list[TrainingWindow], SkippedQuestions]:
    """Return all windows of all examples, and the counts of skipped questions."""
    skipped, windows = SkippedQuestions(questions=len(examples)), []
    questions = reader.encode([(example.question, example.context) for example in examples])
    for example, question in zip(examples, questions, strict=True):
        found = {question.context.tokens_at(*span) for span in example.answers}
        readable = [tokens for tokens in found if tokens]
        answers = [tokens for tokens in readable if len(tokens) <= reader.window.stride]
        if example.references and not answers:
            skipped.too_long += bool(readable)
            skipped.unread += not readable
            continue
        for number, part in enumerate(question.parts):
            shift = question.text_starts_at - part.start
            inside = [
                (tokens.start + shift, tokens.stop - 1 + shift)
                for tokens in answers
                if tokens.start >= part.start and tokens.stop <= part.stop
            ]
            windows.append(TrainingWindow(question, number, sorted(inside) or [_NOT_HERE]))
    return windows, skipped


def with_fewer_empty(
    windows: Sequence[TrainingWindow], share: float, seed: int
) -> list[TrainingWindow]:
    """Return the windows with an answer, and a random sample of the others.

    Most windows of long texts have no answer and contribute little. With fewer of them the odds of
    all windows rise by about the same, so the ranking of answers is unchanged.
    """
    draw = random.Random(seed)
    return [one for one in windows if one.answers != [_NOT_HERE] or draw.random() < share]


def window_inputs(windows: Sequence[TrainingWindow], special: SpecialIds) -> dict[str, Tensor]:
    """Pad some windows into one batch.

    Returns:
        ``INPUT_NAMES``; ``places``: True for ``[CLS]`` and the text. Shape: (windows, length).
        ``answers``: positions of first and last token, -1 where a window has fewer. Shape:
        (windows, answers, 2).
    """
    rows = [one.question.window(one.window, special) for one in windows]
    inputs = pad_windows(rows, special.pad)
    places = torch.zeros(inputs["mask"].shape, dtype=torch.bool)
    for place, row in zip(places, rows, strict=True):
        place[0] = True
        place[row.second.start : row.second.stop] = True
    return inputs | {"places": places, "answers": _padded([one.answers for one in windows])}


def chance_loss(windows: Sequence[TrainingWindow]) -> float:
    """Return the loss of a prediction from the answer rate, with uniform positions."""
    here = [one for one in windows if one.answers != [_NOT_HERE]]
    share = len(here) / len(windows)
    parts = [p for p in (share, 1 - share) if p]
    unsure = -sum(p * math.log(p) for p in parts)
    lengths = [len(one.question.parts[one.window]) for one in here]
    return 2 * (unsure + sum(map(math.log, lengths)) / len(windows))


def _padded(answers: Sequence[list[tuple[int, int]]]) -> Tensor:
    """Return answers as one tensor, -1 where there are fewer. Shape: (windows, answers, 2)."""
    most = max(map(len, answers))
    return torch.tensor([[*spans, *[(-1, -1)] * (most - len(spans))] for spans in answers])
