"""Linear-probe initialization of the choice score: the last layer fitted to a frozen encoder."""

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

_QUESTIONS = 1000  # used for the fit; more take longer and hardly improve it
_PENALTY = 3.0


def some_of(questions: int, *, seed: int) -> list[int]:
    """Draw the indices of the questions used for the fit."""
    return random.Random(seed).sample(range(questions), min(questions, _QUESTIONS))


def probe_scores(
    chooser: TextChooser,
    questions: Sequence[Sequence[EncodedText]],
    losses: Callable[[Tensor], Tensor],
    *,
    progress: Observer,
) -> None:
    """Fit the last layer, and a newly initialized pooler, to questions; see ``fit_linear``.

    Args:
        chooser: A model with a trained encoder, which is not changed.
        questions: The encoded choices of each question.
        losses: The logit of every choice of every question, Shape: (choices of all, 1), → each
            question's loss, Shape: (questions,).
        progress: Progress observer.
    """
    module, counts = chooser.module, [len(choices) for choices in questions]
    texts = [choice for choices in questions for choice in choices]
    pooled = probe_pooler(module, texts, chooser.config, progress=progress)
    # Choices of a question share their context, so only their differences are informative; the loss
    # does not depend on a question's mean, which is subtracted.
    apart = torch.cat([part - part.mean(0) for part in torch.split(pooled, counts)])
    fit_linear(module.classifier, apart, lambda logits: losses(logits).mean(), penalty=_PENALTY)
