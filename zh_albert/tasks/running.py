"""Any number of inputs through a network: in batches of like length, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from zh_albert.model.config import AlbertConfig
from zh_albert.prefetch import map_prefetched
from zh_albert.runtimes.selection import Runtimes
from zh_albert.tokenization.encoding import ModelInput, pad
from zh_albert.training.batching import Size, sorted_batches


def network_outputs(
    lengths: Sequence[int],
    input_of: Callable[[int], ModelInput],
    runtimes: Runtimes,
    config: AlbertConfig,
    *,
    batch_tokens: int | None = None,
) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Run a network over many inputs; no more than a few batches are in memory.

    Args:
        lengths: Tokens of each input.
        input_of: Makes an input, by its number.
        runtimes: Run the network; the one that fits the work is taken.
        config: The encoder's.
        batch_tokens: Padded tokens of one forward pass; None: what is fastest.

    Yields:
        The numbers of a batch's inputs, and the outputs of these. Every number comes once.
    """
    runtime, advance = runtimes.of(sum(lengths)), runtimes.watch(sum(lengths))
    step, limit = runtime.multiple_of, config.max_position_embeddings

    def run(chosen: list[int]) -> tuple[list[int], NDArray[np.float32]]:
        inputs = [input_of(number) for number in chosen]
        batch = pad(inputs, config.pad_token_id, multiple_of=step, at_most=limit)
        return chosen, runtime(batch)

    sizes = [Size(rows=1, length=min(-(-length // step) * step, limit)) for length in lengths]
    batches = sorted_batches(sizes, batch_tokens or runtime.batch_tokens)
    workers = min(runtime.workers, len(batches))
    done = map_prefetched(run, batches, threads=workers) if workers > 1 else map(run, batches)
    for chosen, outputs in done:
        yield chosen, outputs
        advance(sum(lengths[number] for number in chosen))
