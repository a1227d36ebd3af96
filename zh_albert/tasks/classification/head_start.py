"""The head's start: fitted to texts as the untouched encoder sees them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from zh_albert.engines.choice import Engines
from zh_albert.engines.engine import Precision, TorchEngine, is_bf16_faster
from zh_albert.model.heads import SequenceClassifier
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.window_outputs import predicted_outputs
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.linear_start import Standard, fit_linear

# Tokens, on average. Means over more vary so little that the fit needs large weights, and training
# loses what it began with: of reviews of 110 tokens it did harm (docs/experiments.md, few texts).
_LONGEST = 64
# With more classes than a batch has texts a random head hardly learns: with 119 it had hardly left
# chance after five epochs of long texts, which outweighs the above (docs/experiments.md, too).
_FEW_LABELS = 20
_TEXTS = 2000  # are read; more cost time and hardly make a better start
_SPREAD = 0.5  # of what goes into the pooler's tanh: nearly linear, and not small
_PENALTY = 0.5


def some_of(numbers: Sequence[int], *, seed: int) -> list[int]:
    """Draw which of the texts are read."""
    return random.Random(seed).sample(numbers, min(len(numbers), _TEXTS))


def start_pays(texts: Sequence[EncodedText], labels: int) -> bool:
    """Say whether ``start_head`` pays: texts are short, or there are many labels."""
    return labels > _FEW_LABELS or sum(text.tokens for text in texts) <= _LONGEST * len(texts)


def start_head(
    classifier: TextClassifier,
    texts: Sequence[EncodedText],
    losses: Callable[[Tensor], Tensor],
    weights: Tensor,
) -> None:
    """Fit the head, and the pooler where it is new, to texts; see ``fit_linear``.

    A pooler of means begins as a scale for each direction: pretrained ones know first tokens.

    Args:
        classifier: With a trained encoder, which stays as it is.
        texts: To learn from, not many.
        losses: Their logits, Shape: (texts, labels), → each one's loss, Shape: (texts,).
        weights: How much each counts. Shape: (texts,).
    """
    module, config = classifier.module, classifier.config
    precision: Precision = "bf16" if is_bf16_faster() else "fp32"
    engines = Engines(partial(TorchEngine, _Summary(module), precision))
    vectors = predicted_outputs(engines, texts, width=config.hidden_size, config=config)
    pooler = module.encoder.pooler
    with torch.no_grad():
        if module.pooling == "mean":
            mean, spread = Standard.of(vectors)
            pooler.weight.copy_(torch.diag(_SPREAD / spread))
            pooler.bias.copy_(-_SPREAD * mean / spread)
        pooled = torch.tanh(pooler(vectors))
    shares = weights / weights.sum()
    fit_linear(module.classifier, pooled, lambda logits: losses(logits) @ shares, penalty=_PENALTY)


class _Summary(nn.Module):
    """The part of a classifier below its pooler, as a network."""

    def __init__(self, classifier: SequenceClassifier) -> None:
        super().__init__()
        self._classifier = classifier

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        return self._classifier.summary(token_ids, type_ids, mask)
