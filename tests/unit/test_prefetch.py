"""Work on threads, in order."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from zh_albert.prefetch import map_prefetched


def test_work_ahead_keeps_the_order_and_never_piles_up() -> None:
    running, most, lock = 0, 0, threading.Lock()
    drawn = []

    def items() -> Any:
        for number in range(20):
            drawn.append(number)
            yield number

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002 * (number % 3))
        with lock:
            running -= 1
        return number

    for expected, found in enumerate(map_prefetched(work, items(), threads=2)):
        assert found == expected
        assert len(drawn) <= found + 3
    assert most == 2


def test_what_came_before_a_source_failed_is_given() -> None:
    def items() -> Any:
        yield from (1, 2)
        raise ConnectionError

    found = map_prefetched(str, items())
    assert [next(found), next(found)] == ["1", "2"]
    with pytest.raises(ConnectionError):
        next(found)


def test_an_error_on_a_thread_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(map_prefetched(lambda number: 1 // number, [1, 0, 1]))
