"""Linear-probe initialization of the classification head, fitted to a frozen encoder."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from torch import Tensor

from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.pooler_probe import probe_pooler
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.events import Observer
from zh_albert.training.linear_probe import fit_linear
from zh_albert.training.stages import silent

# Average number of tokens. Means over more tokens vary so little that the fit needs large weights,
# and training loses the initialization: with reviews of 110 tokens it did harm
# (docs/experiments/few-texts.md).
_LONGEST = 64
# With more classes than texts in a batch a random head hardly learns: with 119 classes it was
# hardly above chance after five epochs of long texts (docs/experiments/fine-tuning.md), so the
# probe is used for long texts too.
_FEW_LABELS = 20
_TEXTS = 2000  # used for the fit; more take longer and hardly improve it
_PENALTY = 0.5


def some_of(numbers: Sequence[int], *, seed: int) -> list[int]:
    """Draw the texts used for the fit."""
    return random.Random(seed).sample(numbers, min(len(numbers), _TEXTS))


def probe_pays(texts: Sequence[EncodedText], labels: int) -> bool:
    """Return whether ``probe_head`` helps: texts are short, or there are many labels."""
    tokens = sum(text.readings[0].tokens for text in texts)
    return labels > _FEW_LABELS or tokens <= _LONGEST * len(texts)


def probe_head(
    classifier: TextClassifier,
    texts: Sequence[EncodedText],
    losses: Callable[[Tensor], Tensor],
    weights: Tensor,
    *,
    progress: Observer = silent,
) -> None:
    """Fit the head, and a newly initialized pooler, to texts; see ``fit_linear``.

    Args:
        classifier: A classifier with a trained encoder, which is not changed.
        texts: Training texts, a small number.
        losses: Their logits, Shape: (texts, labels), → each one's loss, Shape: (texts,).
        weights: Weight of each text. Shape: (texts,).
        progress: Progress observer.
    """
    module, shares = classifier.module, weights / weights.sum()
    pooled = probe_pooler(module, texts, classifier.config, progress=progress)
    fit_linear(module.classifier, pooled, lambda logits: losses(logits) @ shares, penalty=_PENALTY)
