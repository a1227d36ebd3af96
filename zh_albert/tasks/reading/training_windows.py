"""What a reader is taught: every window of every text, with the answers that are whole in it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.questions import EncodedQuestion
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import pad_windows
from zh_albert.training.batching import ShuffledSource, Size
from zh_albert.training.loop import Batch

_NOT_HERE = (0, 0)  # the positions of [CLS]


class Lesson(NamedTuple):
    """One window with its answers: positions of first and last token, ``[CLS]``'s if none."""

    question: EncodedQuestion
    window: int
    answers: list[tuple[int, int]]


@dataclass
class Losses:
    """Training questions that cannot be taught: counts.

    Attributes:
        questions: All of them.
        unread: No answer stands in the context word for word, or no token stands for it.
        too_long: Every answer has more tokens than windows share.
    """

    questions: int = 0
    unread: int = 0
    too_long: int = 0

    def __str__(self) -> str:
        """Name what is not 0; empty if all questions are taught."""
        told = {
            "left out, for no answer of theirs stands in the context": self.unread,
            "left out, for their answers have more tokens than window.stride": self.too_long,
        }
        found = [f"{count:,} {what}" for what, count in told.items() if count]
        return f"of {self.questions:,} training questions {'; '.join(found)}" if found else ""


def make_lessons(
    reader: TextReader, examples: Sequence[ReadingExample]
) -> tuple[list[Lesson], Losses]:
    """Return all windows of all examples, and what was left out."""
    losses, lessons = Losses(questions=len(examples)), []
    questions = reader.encode([(example.question, example.context) for example in examples])
    for example, question in zip(examples, questions, strict=True):
        found = {question.context.tokens_at(*span) for span in example.answers}
        readable = [tokens for tokens in found if tokens]
        answers = [tokens for tokens in readable if len(tokens) <= reader.window.stride]
        if example.references and not answers:
            losses.too_long += bool(readable)
            losses.unread += not readable
            continue
        for number, part in enumerate(question.parts):
            shift = question.text_starts_at - part.start
            inside = [
                (tokens.start + shift, tokens.stop - 1 + shift)
                for tokens in answers
                if tokens.start >= part.start and tokens.stop <= part.stop
            ]
            lessons.append(Lesson(question, number, sorted(inside) or [_NOT_HERE]))
    return lessons, losses


def with_fewer_empty(lessons: Sequence[Lesson], share: float, seed: int) -> list[Lesson]:
    """Return the lessons that hold an answer, and that share of the others, drawn at random.

    Most windows of long texts are empty and teach little. With fewer of them, all windows' odds
    rise by about the same: the order of answers stays.
    """
    draw = random.Random(seed)
    return [lesson for lesson in lessons if lesson.answers != [_NOT_HERE] or draw.random() < share]


def lesson_source(
    reader: TextReader,
    lessons: Sequence[Lesson],
    *,
    batch_tokens: int,
    seed: int,
    soft_targets: Callable[[list[int]], Tensor] | None = None,
) -> ShuffledSource:
    """Return batches of windows for ``finetune.reading_loss``.

    Args:
        reader: Its special tokens are used.
        lessons: To learn from.
        batch_tokens: Padded tokens of a batch.
        seed: Decides the order.
        soft_targets: Numbers of lessons → a teacher's logits. Shape: (windows, length, 2).
    """
    special = reader.tokenizer.special

    def load(item: list[int], _: random.Random) -> Batch:
        chosen = [lessons[index] for index in item]
        windows = [lesson.question.window(lesson.window, special) for lesson in chosen]
        inputs = pad_windows(windows, special.pad)
        places = torch.zeros(inputs["mask"].shape, dtype=torch.bool)
        for row, window in zip(places, windows, strict=True):
            row[0] = True
            row[window.second.start : window.second.stop] = True
        tokens = sum(map(len, windows))
        answers = _padded([lesson.answers for lesson in chosen])
        inputs |= {"places": places, "answers": answers}
        inputs |= {"soft_targets": soft_targets(item)} if soft_targets else {}
        return Batch(inputs, weight=float(len(chosen)), tokens=tokens)

    sizes = [Size(rows=1, length=lesson.question.length(lesson.window)) for lesson in lessons]
    return ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)


def chance_loss(lessons: Sequence[Lesson]) -> float:
    """Return the loss of knowing how often there is an answer, and nothing of where it is."""
    here = [lesson for lesson in lessons if lesson.answers != [_NOT_HERE]]
    share = len(here) / len(lessons)
    parts = [p for p in (share, 1 - share) if p]
    unsure = -sum(p * math.log(p) for p in parts)
    lengths = [len(lesson.question.parts[lesson.window]) for lesson in here]
    return 2 * (unsure + sum(map(math.log, lengths)) / len(lessons))


def _padded(answers: Sequence[list[tuple[int, int]]]) -> Tensor:
    """Return answers as one tensor, -1 where there are fewer. Shape: (windows, answers, 2)."""
    most = max(map(len, answers))
    return torch.tensor([[*spans, *[(-1, -1)] * (most - len(spans))] for spans in answers])
