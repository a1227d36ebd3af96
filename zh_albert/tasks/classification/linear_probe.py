"""The head's start: fitted to texts as the untouched encoder sees them."""

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

# Tokens, on average. Means over more vary so little that the fit needs large weights, and training
# loses what it began with: of reviews of 110 tokens it did harm (docs/experiments/few-texts.md).
_LONGEST = 64
# With more classes than a batch has texts a random head hardly learns: with 119 it had hardly left
# chance after five epochs of long texts (docs/experiments/fine-tuning.md), which outweighs that.
_FEW_LABELS = 20
_TEXTS = 2000  # are read; more cost time and hardly make a better start
_PENALTY = 0.5


def some_of(numbers: Sequence[int], *, seed: int) -> list[int]:
    """Draw which of the texts are read."""
    return random.Random(seed).sample(numbers, min(len(numbers), _TEXTS))


def probe_pays(texts: Sequence[EncodedText], labels: int) -> bool:
    """Say whether ``probe_head`` pays: texts are short, or there are many labels."""
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
    """Fit the head, and the pooler where it is new, to texts; see ``fit_linear``.

    Args:
        classifier: With a trained encoder, which stays as it is.
        texts: To learn from, not many.
        losses: Their logits, Shape: (texts, labels), → each one's loss, Shape: (texts,).
        weights: How much each counts. Shape: (texts,).
        progress: Told how far it is.
    """
    module, shares = classifier.module, weights / weights.sum()
    pooled = probe_pooler(module, texts, classifier.config, progress=progress)
    fit_linear(module.classifier, pooled, lambda logits: losses(logits) @ shares, penalty=_PENALTY)
