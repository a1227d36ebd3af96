"""Any number of inputs in batches of like length."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.helpers.exported_networks import CONFIG
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.batched_inference import network_outputs
from zh_albert.tokenization.encoding import ModelInput, PaddedBatch


class Doubling:
    """A runtime that notes what it gets and answers each row with its first token, doubled."""

    name, batch_tokens = "doubling", 64

    def __init__(self, workers: int, multiple_of: int) -> None:
        self.workers, self.multiple_of = workers, multiple_of
        self.equal_lengths = multiple_of == 1
        self.shapes: list[tuple[int, ...]] = []
        self.padding = 0

    def __call__(self, inputs: PaddedBatch) -> Any:
        self.shapes.append(inputs.token_ids.shape)
        self.padding += int((~inputs.mask).sum())
        time.sleep(0.001 * (len(self.shapes) % 3))
        return 2.0 * inputs.token_ids[:, :1]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("multiple_of", [1, 8])
def test_every_input_is_answered_once_in_batches_of_like_length(
    workers: int, multiple_of: int
) -> None:
    lengths = [1 + (7 * number) % 20 for number in range(60)]
    inputs = [
        ModelInput([number] * length, [0] * length, range(length))
        for number, length in enumerate(lengths)
    ]
    runtime = Doubling(workers, multiple_of)
    found = {}
    for chosen, rows in network_outputs(
        lengths, inputs.__getitem__, LazyRuntime(lambda: runtime), CONFIG
    ):
        assert not found.keys() & set(chosen)
        found |= dict(zip(chosen, rows[:, 0], strict=True))
    assert found == {number: 2.0 * number for number in range(60)}
    used = {8, 16, CONFIG.max_position_embeddings} if multiple_of == 8 else set(lengths)
    assert {length for _, length in runtime.shapes} == used
    assert multiple_of == 8 or runtime.padding == 0
    assert max(rows * length for rows, length in runtime.shapes) <= runtime.batch_tokens
