"""Learning from a trained reader: where it sees the answer in each window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.distillation.soft_targets import Answers, ask_once
from zh_albert.runtimes.exported import with_runtimes
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.training_windows import Lesson
from zh_albert.tasks.running import network_outputs
from zh_albert.tokenization.encoding import ModelInput, SpecialIds
from zh_albert.training.events import Observer


def ask_reader(
    teacher: Path,
    lessons: Sequence[Lesson],
    special: SpecialIds,
    *,
    known_as: str,
    folder: Path | None,
    progress: Observer,
) -> Answers:
    """Return a teacher's logits of start and end at every token; see ``teaching.ask_once``.

    Args:
        teacher: A model folder; it reads the student's windows, so it has its vocabulary.
        lessons: Which windows.
        special: The student's special tokens.
        known_as: See ``ask_once``.
        folder: See ``ask_once``.
        progress: See ``ask_once``.
    """
    opened: list[TextReader] = []  # not before there is something left to ask
    lengths = [lesson.question.length(lesson.window) for lesson in lessons]

    def ask(some: list[int]) -> NDArray[np.float32]:
        if not opened:
            opened.append(with_runtimes(TextReader.load(teacher), teacher))
        reader = opened[0]

        def window(number: int) -> ModelInput:
            lesson = lessons[some[number]]
            return lesson.question.window(lesson.window, special)

        found: dict[int, NDArray[np.float32]] = {}
        tokens = [lengths[number] for number in some]
        for chosen, rows in network_outputs(tokens, window, reader.runtimes, reader.config):
            found |= {n: row[: tokens[n]] for n, row in zip(chosen, rows, strict=True)}
        return np.concatenate([found[number] for number in range(len(some))])

    return ask_once(
        ask, lengths, 2, counts=lengths, folder=folder, known_as=known_as, progress=progress
    )


def soft_targets_of(answers: Answers, lessons: Sequence[Lesson], item: Sequence[int]) -> Tensor:
    """Return what was said of some windows, padded. Shape: (windows, length, 2)."""
    counts = [lessons[number].question.length(lessons[number].window) for number in item]
    return pad_sequence(list(torch.split(answers.of(item), counts)), batch_first=True)
