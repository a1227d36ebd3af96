"""The interface all engines share, and the one that is always there: PyTorch."""

from __future__ import annotations

import copy
import math
import time
from functools import cache
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zh_albert.tokenization.encoding import PaddedBatch

Precision = Literal["fp32", "bf16", "int8"]

_TRIES = 7  # some 10 ms in all


class Engine(Protocol):
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


class TorchEngine:
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


@cache
def is_bf16_faster() -> bool:
    """Say whether this CPU multiplies matrices faster in bf16 than in fp32, by trying once.

    What a CPU says it has does not tell: AVX-512's bf16 is 2.3 times as fast as fp32 on AMD's Zen 4
    and half as fast on Intel's Emerald Rapids without AMX; emulated it is far slower.
    """
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    if not any(getattr(torch.cpu, name, bool)() for name in names):
        return False
    seconds = dict.fromkeys((torch.bfloat16, torch.float32), math.inf)
    with torch.inference_mode():
        for _ in range(_TRIES):  # in turn, the fastest of each: neighbours disturb both alike
            for dtype, fastest in seconds.items():
                rows, matrix = torch.ones(512, 384, dtype=dtype), torch.ones(384, 384, dtype=dtype)
                start = time.perf_counter()
                torch.nn.functional.linear(rows, matrix)
                seconds[dtype] = min(fastest, time.perf_counter() - start)
    return seconds[torch.bfloat16] < seconds[torch.float32]
