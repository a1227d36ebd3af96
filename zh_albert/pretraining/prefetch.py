"""Batches made on threads while the model is busy, for GPUs that would wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from zh_albert.pretraining.dataset import BatchNumber, PretrainingSource
from zh_albert.training.loop import Batch


class PrefetchingSource:
    """A source whose next batches are made before they are asked for; the same batches.

    Which are next follows from the last two: the training loop of each of n processes asks for
    every n-th. numpy works outside Python's lock, so a few threads help.

    Args:
        source: Makes the batches.
        batches: How many are kept ready.
        threads: How many are made at once.
    """

    def __init__(self, source: PretrainingSource, *, batches: int = 8, threads: int = 2) -> None:
        self._source, self._batches = source, batches
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="batches")
        self._ready: dict[BatchNumber, Future[Batch]] = {}
        self._last: BatchNumber | None = None

    def plan(self, epoch: int) -> Sequence[BatchNumber]:
        """Return the numbers of the epoch's batches."""
        return self._source.plan(epoch)

    def load(self, item: BatchNumber) -> Batch:
        """Return one batch, and have those after it made."""
        future = self._ready.pop(item, None)
        last, self._last = self._last, item
        step = item.number - last.number if last and last.epoch == item.epoch else 1
        count = len(self._source.batch_plan(item.epoch).bounds)
        following = range(item.number + step, count, step) if step > 0 else range(0)
        wanted = [BatchNumber(item.epoch, number) for number in following[: self._batches]]
        for gone in self._ready.keys() - set(wanted):
            self._ready.pop(gone).cancel()
        for number in wanted:
            if number not in self._ready:
                self._ready[number] = self._pool.submit(self._source.load, number)
        return future.result() if future else self._source.load(item)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)
