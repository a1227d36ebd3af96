"""Prefetching: a function applied to items on threads, in order and in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_prefetched(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int = 1
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order, while the next ones are computed.

    At most ``threads`` further results are pending or finished at a time, so memory does not depend
    on the number of items. The items are taken on the caller's thread; if that fails, the results
    of those before come first.

    >>> list(map_prefetched(str.upper, iter("abc"), threads=2))
    ['A', 'B', 'C']
    """
    waiting: deque[Future[Result]] = deque()
    failed: list[Exception] = []

    def taken() -> Iterator[Item]:
        try:
            yield from items
        except Exception as error:  # of whatever kind the caller's source raises
            failed.append(error)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="zh-albert")
    try:
        for item in taken():
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        if failed:
            raise failed[0]
    finally:
        pool.shutdown(cancel_futures=True)
