"""The start of a choice's score: fitted to questions as the untouched encoder sees them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.pooler_probe import probe_pooler
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.events import Observer
from zh_albert.training.linear_probe import fit_linear

_QUESTIONS = 1000  # are read; more cost time and hardly make a better start
_PENALTY = 3.0


def some_of(questions: int, *, seed: int) -> list[int]:
    """Draw which of the questions are read."""
    return random.Random(seed).sample(range(questions), min(questions, _QUESTIONS))


def probe_scores(
    chooser: TextChooser,
    questions: Sequence[Sequence[EncodedText]],
    losses: Callable[[Tensor], Tensor],
    *,
    progress: Observer,
) -> None:
    """Fit the last layer, and the pooler where it is new, to questions; see ``fit_linear``.

    Args:
        chooser: With a trained encoder, which stays as it is.
        questions: The choices of each, to learn from.
        losses: The logit of every choice of every question, Shape: (choices of all, 1), → each
            question's loss, Shape: (questions,).
        progress: Told how far it is.
    """
    module, counts = chooser.module, [len(choices) for choices in questions]
    texts = [choice for choices in questions for choice in choices]
    pooled = probe_pooler(module, texts, chooser.config, progress=progress)
    # Choices of a question share their context: only how they differ from each other can tell
    # which is right, and to the loss a question's mean is nothing.
    apart = torch.cat([part - part.mean(0) for part in torch.split(pooled, counts)])
    fit_linear(module.classifier, apart, lambda logits: losses(logits).mean(), penalty=_PENALTY)
