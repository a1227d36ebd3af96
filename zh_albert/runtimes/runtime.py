"""The interface all runtimes share, and the one that is always there: PyTorch."""

from __future__ import annotations

import copy
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zh_albert.tokenization.encoding import PaddedBatch

Precision = Literal["fp32", "bf16", "int8"]


class Runtime(Protocol):
    """A padded batch in, the head's outputs out."""

    @property
    def name(self) -> str:
        """Library and precision, to be shown."""
        ...

    @property
    def batch_tokens(self) -> int:
        """Padded tokens of a batch that is run fastest."""
        ...

    @property
    def multiple_of(self) -> int:
        """What lengths are rounded up to, so that few shapes occur; 1: they need not be."""
        ...

    @property
    def workers(self) -> int:
        """Batches that are worth running at once, each on a thread of the caller's."""
        ...

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Return what the network's ``forward`` does. Shape: (batch, …)."""
        ...


class TorchRuntime:
    """The network itself.

    Args:
        network: In fp32 it is used as it is, so later changes of its weights count.
        precision: ``fp32``, or ``bf16`` for a copy of the network in it.
    """

    batch_tokens = 2048
    multiple_of = 1
    workers = 1  # one batch keeps all of PyTorch's own threads busy

    def __init__(self, network: nn.Module, precision: Precision = "fp32") -> None:
        self.name = f"torch {precision}"
        self._network = network
        if precision == "bf16":
            self._network = copy.deepcopy(network).to(torch.bfloat16).eval()

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Run one batch, on whatever device the network is."""
        device = next(self._network.parameters()).device
        with torch.inference_mode():
            outputs = self._network(*(torch.from_numpy(part).to(device) for part in batch))
        result: NDArray[np.float32] = outputs.float().cpu().numpy()
        return result
