"""The pooler's start, and what the untouched encoder says through it: heads are fitted to that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from zh_albert.hardware import is_bf16_faster
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier
from zh_albert.runtimes.runtime import Precision, TorchRuntime
from zh_albert.runtimes.selection import Runtimes
from zh_albert.tasks.batched_inference import predicted_outputs
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.events import Observer
from zh_albert.training.linear_probe import Standard
from zh_albert.training.stages import watched

_SPREAD = 0.5  # of what goes into the pooler's tanh: nearly linear, and not small


def probe_pooler(
    module: SequenceClassifier,
    texts: Sequence[EncodedText],
    config: AlbertConfig,
    *,
    progress: Observer,
) -> Tensor:
    """Begin a pooler of means as a scale for each direction; one of first tokens is pretrained.

    Args:
        module: With a trained encoder, which stays as it is.
        texts: To measure how the encoder's vectors are spread, not many.
        config: The encoder's.
        progress: Told how much is read.

    Returns:
        What goes into the last layer. Shape: (texts, hidden).
    """
    precision: Precision = "bf16" if is_bf16_faster() else "fp32"
    runtimes = Runtimes(partial(TorchRuntime, _Summary(module), precision))
    runtimes = watched(runtimes, "tokens read for the head's start", progress)
    vectors = predicted_outputs(runtimes, texts, width=config.hidden_size, config=config)
    pooler = module.encoder.pooler
    with torch.no_grad():
        if module.pooling == "mean":
            mean, spread = Standard.of(vectors)
            pooler.weight.copy_(torch.diag(_SPREAD / spread))
            pooler.bias.copy_(-_SPREAD * mean / spread)
        return torch.tanh(pooler(vectors))


class _Summary(nn.Module):
    """The part of a network below its pooler."""

    def __init__(self, module: SequenceClassifier) -> None:
        super().__init__()
        self._module = module

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        return self._module.summary(token_ids, type_ids, mask)
