"""Batched inference: batches of windows of similar length, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.model.config import AlbertConfig
from zh_albert.prefetch import map_prefetched
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.windows import EncodedText
from zh_albert.tokenization.encoding import ModelInput, pad
from zh_albert.training.batching import Size, sorted_batches


def network_outputs(
    lengths: Sequence[int],
    input_of: Callable[[int], ModelInput],
    runtime: LazyRuntime,
    config: AlbertConfig,
) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Run a network over many inputs; no more than a few batches are in memory.

    Args:
        lengths: Tokens of each input.
        input_of: Makes an input, by its number.
        runtime: Runs the network.
        config: The encoder's.

    Yields:
        The numbers of a batch's inputs, and their outputs. Every number occurs once.
    """
    run_batch, advance = runtime.open(), runtime.watch(sum(lengths))
    step, limit = run_batch.multiple_of, config.max_position_embeddings

    def run(chosen: list[int]) -> tuple[list[int], NDArray[np.float32]]:
        inputs = [input_of(number) for number in chosen]
        batch = pad(inputs, config.pad_token_id, multiple_of=step, at_most=limit)
        return chosen, run_batch(batch)

    sizes = [Size(rows=1, length=min(-(-length // step) * step, limit)) for length in lengths]
    batches = sorted_batches(sizes, run_batch.batch_tokens)
    if run_batch.equal_lengths:
        batches = [
            list(same) for batch in batches for _, same in groupby(batch, lengths.__getitem__)
        ]
    workers = min(run_batch.workers, len(batches))
    done = map_prefetched(run, batches, threads=workers) if workers > 1 else map(run, batches)
    for chosen, outputs in done:
        yield chosen, outputs
        advance(sum(lengths[number] for number in chosen))


def window_outputs(
    lengths: Sequence[Sequence[int]],
    window_of: Callable[[int, int], ModelInput],
    runtime: LazyRuntime,
    config: AlbertConfig,
) -> Iterator[tuple[list[tuple[int, int]], NDArray[np.float32]]]:
    """Run a network over windows, batched by length across texts.

    The memory of a forward pass therefore depends on the runtime's ``batch_tokens``, not on the
    longest text.

    Args:
        lengths: Tokens of each window of each text.
        window_of: Makes a window, by the numbers of the text and of the window.
        runtime: See ``network_outputs``.
        config: The encoder's.

    Yields:
        The text and the window of each row, and the outputs of these rows.
    """
    places = [(t, w) for t, windows in enumerate(lengths) for w in range(len(windows))]
    outputs = network_outputs(
        [lengths[t][w] for t, w in places],
        lambda number: window_of(*places[number]),
        runtime,
        config,
    )
    for chosen, rows in outputs:
        yield [places[number] for number in chosen], rows


def text_outputs(
    texts: Sequence[EncodedText], runtime: LazyRuntime, config: AlbertConfig
) -> Iterator[tuple[list[tuple[int, int]], NDArray[np.float32]]]:
    """Run a network over the windows of texts; see ``window_outputs``."""
    lengths = [list(map(len, text.windows)) for text in texts]
    return window_outputs(lengths, lambda t, w: texts[t].windows[w], runtime, config)


def predicted_outputs(
    runtime: LazyRuntime,
    texts: Sequence[EncodedText],
    *,
    width: int,
    config: AlbertConfig,
    odds: bool = False,
) -> Tensor:
    """Return the merged outputs of any number of texts, without gradients.

    Memory depends on the runtime's ``batch_tokens``, not on the longest text.

    Args:
        runtime: Runs the network; see ``merged_outputs``.
        texts: Of any length each.
        width: Numbers in an output.
        config: The encoder's.
        odds: See ``merged_outputs``.

    Returns:
        In the order of the texts, on the CPU. Shape: (texts, width).
    """
    merged = torch.zeros(len(texts), width, dtype=torch.float64 if odds else torch.float32)
    totals = [text.tokens for text in texts]
    for places, rows in text_outputs(texts, runtime, config):
        share = [len(texts[t].windows[w]) / totals[t] for t, w in places]
        outputs = torch.from_numpy(rows)
        counted = outputs.double().exp() if odds else outputs.float()
        weighted = counted * torch.tensor(share)[:, None]
        merged.index_add_(0, torch.tensor([text for text, _ in places]), weighted)
    return merged.log().float() if odds else merged
