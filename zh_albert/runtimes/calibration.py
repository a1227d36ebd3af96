"""Ranges of what a network's matrices read, measured on texts, for scales that are fixed.

Source: Jacob et al. 2018 (arXiv:1712.05877), static quantization with calibration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.errors import DataError
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.lstm_encoder import refuse_lstm

_COVERED = 0.99999  # share of the numbers that a range covers; the rest is clipped
_MOST = 200_000  # numbers kept of each batch and input

Ranges = Mapping[str, float]
"""Name of a matrix and the how manieth use of it in a pass (``ffn.0.up@2``) → the largest number it
reads there, nearly always."""


@contextmanager
def measuring_ranges(network: Any) -> Iterator[dict[str, float]]:
    """Measure ranges while a network reads texts; the mapping is filled when the block ends.

    Args:
        network: Has an ``encoder``; called with token ids, type ids and the mask of real tokens.

    Raises:
        DataError: If it read nothing.
        ConfigError: If its layers are LSTMs, which multiply no integers.
    """
    refuse_lstm(network.encoder.config, "calibration")
    seen: dict[str, list[Tensor]] = {}
    uses: Counter[str] = Counter()
    mask = torch.ones(0, 0, dtype=torch.bool)

    def begin(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        nonlocal mask
        mask = inputs[2]
        uses.clear()

    def listen(name: str, offset: Tensor | None, *, positive: bool) -> Any:
        def record(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            key = f"{name}@{uses[name]}"
            uses[name] += 1
            read = inputs[0].detach().float()
            if read.shape[:2] == mask.shape:
                read = read[mask]
            if offset is not None:  # the graph adds it after the product
                read = read - offset
            numbers = (read if positive else read.abs()).flatten()
            step = max(1, len(numbers) // _MOST)
            seen.setdefault(key, []).append(numbers[::step].clone())

        return record

    handles = [network.register_forward_pre_hook(begin)]
    for name, block in network.named_modules():
        if isinstance(block, AttentionBlock):
            for part in ("query", "key", "value", "dense"):
                offset = block.value.bias.detach() if part == "dense" else None
                hook = listen(f"{name}.{part}", offset, positive=False)
                handles.append(getattr(block, part).register_forward_pre_hook(hook))
        elif isinstance(block, FeedForwardBlock):
            for part in ("up", "down"):
                hook = listen(f"{name}.{part}", None, positive=part == "down")
                handles.append(getattr(block, part).register_forward_pre_hook(hook))
    ranges: dict[str, float] = {}
    try:
        yield ranges
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        raise DataError("calibration: expected texts that the network reads, found none")
    for key, parts in seen.items():
        numbers = torch.cat(parts)
        rank = max(1, round(_COVERED * len(numbers)))
        ranges[key] = float(numbers.kthvalue(rank).values)
