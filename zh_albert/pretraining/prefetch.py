"""Prefetching of batches on threads, for GPUs that would otherwise wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from zh_albert.pretraining.dataset import BatchNumber, PretrainingSource
from zh_albert.training.loop import Batch


class PrefetchingSource:
    """A source whose next batches are built before they are requested; the batches are the same.

    The next ones follow from the last two requests, because the training loop of each of n
    processes asks for every n-th batch. numpy releases the interpreter lock, so a few threads help.

    Args:
        source: Builds the batches.
        batches: Number of batches kept ready.
    """

    def __init__(self, source: PretrainingSource, *, batches: int = 8) -> None:
        self._source, self._batches = source, batches
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="batches")
        self._ready: dict[BatchNumber, Future[Batch]] = {}
        self._last: BatchNumber | None = None

    def plan(self, epoch: int) -> Sequence[BatchNumber]:
        """Return the numbers of the epoch's batches."""
        return self._source.plan(epoch)

    def load(self, item: BatchNumber) -> Batch:
        """Return one batch, and start building the following ones."""
        future = self._ready.pop(item, None)
        last, self._last = self._last, item
        step = item.number - last.number if last and last.epoch == item.epoch else 1
        count = len(self._source.batch_plan(item.epoch).bounds)
        following = range(item.number + step, count, step) if step > 0 else range(0)
        wanted = [BatchNumber(item.epoch, number) for number in following[: self._batches]]
        for stale in self._ready.keys() - set(wanted):
            self._ready.pop(stale).cancel()
        for number in wanted:
            if number not in self._ready:
                self._ready[number] = self._pool.submit(self._source.load, number)
        return future.result() if future else self._source.load(item)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(cancel_futures=True)
