"""Initialization of the pooler, and its outputs, to which linear probes are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from zh_albert.hardware import is_bf16_faster
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier
from zh_albert.runtimes.runtime import Precision, TorchRuntime
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.batched_inference import predicted_outputs
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.events import Observer
from zh_albert.training.linear_probe import Standardization
from zh_albert.training.stages import watched

_SPREAD = 0.5  # standard deviation of the tanh's input: nearly linear, and not small


def probe_pooler(
    module: SequenceClassifier,
    texts: Sequence[EncodedText],
    config: AlbertConfig,
    *,
    progress: Observer,
) -> Tensor:
    """Initialize a pooler of means to a diagonal scaling; one of first tokens is pretrained.

    Args:
        module: A network with a trained encoder, which is not changed.
        texts: Texts to measure the spread of the encoder's vectors, a small number.
        config: The encoder's.
        progress: Progress observer.

    Returns:
        The inputs of the last layer. Shape: (texts, hidden).
    """
    precision: Precision = "bf16" if is_bf16_faster() else "fp32"
    runtime = LazyRuntime(partial(TorchRuntime, Summary(module), precision))
    runtime = watched(runtime, "tokens read for the head's start", progress)
    vectors = predicted_outputs(runtime, texts, width=config.hidden_size, config=config)
    pooler = module.encoder.pooler
    with torch.no_grad():
        if module.pooling == "mean":
            mean, spread = Standardization.of(vectors)
            pooler.weight.copy_(torch.diag(_SPREAD / spread))
            pooler.bias.copy_(-_SPREAD * mean / spread)
        return torch.tanh(pooler(vectors))


class Summary(nn.Module):
    """The part of a network below its pooler."""

    def __init__(self, module: SequenceClassifier) -> None:
        super().__init__()
        self._module = module

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """See ``SequenceClassifier.summary``."""
        return self._module.summary(token_ids, type_ids, mask)
