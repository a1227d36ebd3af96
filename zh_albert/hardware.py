"""Measured properties of the machine that decide how networks are run."""

from __future__ import annotations

import math
import time
from functools import cache

import torch

_TRIES = 7  # some 10 ms in all


@cache
def is_bf16_faster() -> bool:
    """Return whether this CPU multiplies matrices faster in bf16 than in fp32, measured once.

    The features of a CPU do not show it: AVX-512's bf16 is 2.3 times as fast as fp32 on AMD's Zen 4
    and half as fast on Intel's Emerald Rapids without AMX; emulated, it is far slower.
    """
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    if not any(getattr(torch.cpu, name, bool)() for name in names):
        return False
    seconds = dict.fromkeys((torch.bfloat16, torch.float32), math.inf)
    with torch.inference_mode():
        for _ in range(_TRIES):  # alternating, so that other load on the machine affects both
            for dtype, fastest in seconds.items():
                rows, matrix = torch.ones(512, 384, dtype=dtype), torch.ones(384, 384, dtype=dtype)
                start = time.perf_counter()
                torch.nn.functional.linear(rows, matrix)
                seconds[dtype] = min(fastest, time.perf_counter() - start)
    return seconds[torch.bfloat16] < seconds[torch.float32]
