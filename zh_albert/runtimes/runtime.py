"""The interface shared by all runtimes, and PyTorch, the one that is always available."""

from __future__ import annotations

import copy
import os
from functools import partial
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zh_albert.tokenization.encoding import PaddedBatch

Precision = Literal["fp32", "fp16", "bf16", "int8"]

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    # OpenMP's threads stay behind in the parent, and a forked process would wait for them forever.
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))


class Runtime(Protocol):
    """A callable from a padded batch to the outputs of the network's head."""

    @property
    def name(self) -> str:
        """Library and precision, for display."""
        ...

    @property
    def batch_tokens(self) -> int:
        """Padded tokens of the fastest batch size."""
        ...

    @property
    def multiple_of(self) -> int:
        """Lengths are rounded up to a multiple of this, to limit the shapes; 1: no rounding."""
        ...

    @property
    def equal_lengths(self) -> bool:
        """Whether a batch holds inputs of one length only, without padding."""
        ...

    @property
    def workers(self) -> int:
        """Batches worth running in parallel, each on a thread of the caller."""
        ...

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Return the output of the network's ``forward``, the first one. Shape: (batch, …)."""
        ...

    def outputs(self, batch: PaddedBatch) -> list[NDArray[np.float32]]:
        """Return all outputs. Shape of each: (batch, …)."""
        ...


class TorchRuntime:
    """PyTorch as the runtime.

    Args:
        network: In fp32 it is used directly, so later changes of its weights take effect.
        precision: ``fp32``, or ``bf16`` for a copy of the network in bf16.
    """

    batch_tokens = 2048
    multiple_of = 1
    equal_lengths = False
    workers = 1  # one batch already uses all of PyTorch's threads

    def __init__(self, network: nn.Module, precision: Precision = "fp32") -> None:
        self.name = f"torch {precision}"
        self._network = network
        if precision == "bf16":
            self._network = copy.deepcopy(network).to(torch.bfloat16).eval()

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Run one batch on the device of the network."""
        return self.outputs(batch)[0]

    def outputs(self, batch: PaddedBatch) -> list[NDArray[np.float32]]:
        """See ``Runtime``."""
        device = next(self._network.parameters()).device
        with torch.inference_mode():
            found = self._network(*(torch.from_numpy(part).to(device) for part in batch))
        several = found if isinstance(found, tuple) else (found,)
        return [output.float().cpu().numpy() for output in several]
