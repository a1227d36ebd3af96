"""No process of this project looks up or connects to another host, and none leaves files behind.

Each way in runs by itself, with its system calls recorded and the switches of other libraries'
telemetry unset. ``tests/browser`` records the demo page in the same way while its tests use it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.traced import Trace, foreign_calls, trace, why_not_traceable
from tests.helpers.ways_in import CACHES, WAYS, trace_way

# Of texts that are answered twice a second. ONNX Runtime reports after 2 seconds, if it does.
SECONDS = 60
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("traced")]


@pytest.fixture(scope="module", autouse=True)
def tracing() -> None:
    """Skip where system calls cannot be recorded; in CI that is a failure."""
    reason = why_not_traceable()
    if reason:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Trace]]]:
    """All ways in at once, since most of the time they wait."""
    with ThreadPoolExecutor(len(WAYS)) as pool:
        yield {
            way.__name__: pool.submit(
                trace_way, way, tmp_path_factory.mktemp(way.__name__), answering_s=SECONDS
            )
            for way in WAYS
        }


@pytest.mark.parametrize("way", [way.__name__ for way in WAYS])
def test_nothing_leaves(traces: dict[str, Future[Trace]], way: str) -> None:
    traced = traces[way].result()
    assert traced.code == 0, traced.printed
    assert traced.calls == []
    assert traced.files == CACHES.get(way, [])


@pytest.mark.parametrize("library", ["onnxruntime", "openvino"])
def test_the_libraries_by_themselves_do_report(tmp_path: Path, library: str) -> None:
    """The recording sees it: else an empty record would say nothing."""
    program = f"import {library}, time; time.sleep(20)"
    traced = trace([sys.executable, "-c", program], tmp_path, seconds=100)
    assert traced.calls, traced
    assert traced.files


INET = "sa_family=AF_INET, sin_port=htons({0}), sin_addr=inet_addr({1})"
INET6 = "sa_family=AF_INET6, sin6_port=htons({0}), inet_pton(AF_INET6, {1}, &sin6_addr)"
UNIX = "sa_family=AF_UNIX, sun_path={1}"


@pytest.mark.parametrize(
    ("form", "port", "address", "leaves"),
    [
        (INET, 443, "1.2.3.4", True),
        (INET, 53, "127.0.0.53", True),
        (INET, 7860, "127.0.0.1", False),
        (INET6, 443, "2a00::1", True),
        (INET6, 7860, "::1", False),
        (UNIX, 0, "/run/systemd/resolve/io.systemd.Resolve", True),
        (UNIX, 0, "/tmp/pymp-1/listener", False),
    ],
)
def test_what_counts_as_leaving(form: str, port: int, address: str, leaves: bool) -> None:
    address_there = form.format(port, f'"{address}"')
    call = f"17 connect(3, {{{address_there}}}, 16) = 0"
    assert foreign_calls(call) == [call] * leaves
