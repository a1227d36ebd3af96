"""Clients that are slow, idle or many, at a real port."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request

from zh_albert.serving import connections
from zh_albert.serving.connections import connections_that_fit
from zh_albert.serving.limits import Gate, Limits
from zh_albert.serving.server import server_config

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]
BODY = b'{"texts": ["x"]}'
HEADERS = (
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n" % len(BODY)
)
HALF = HEADERS[:40]
REQUEST = HEADERS + BODY


@dataclass
class Served:
    """A server that answers a request with its length, as soon as it may."""

    server: uvicorn.Server
    port: int
    go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0
    clients: list[Client] = field(default_factory=list)

    async def client(self, sent: bytes = b"") -> Client:
        client = await asyncio.open_connection("127.0.0.1", self.port)
        self.clients.append(client)
        client[1].write(sent)
        return client

    async def asking(self, count: int = 1) -> list[Client]:
        """Return clients whose requests have arrived."""
        before = self.asked
        clients = [await self.client(REQUEST) for _ in range(count)]
        while self.asked < before + count:
            await asyncio.sleep(0.01)
        return clients


def run(scenario: Callable[[Served], Coroutine[Any, Any, None]], **limits: Any) -> None:
    """Run a scenario with a server in the same loop, on a thread that has no loop yet.

    Playwright leaves one on the main thread of a process that has run browser tests.
    """

    async def main() -> None:
        async with serving(Limits(**limits)) as served:
            await asyncio.wait_for(scenario(served), 60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, main()).result()


@asynccontextmanager
async def serving(limits: Limits) -> AsyncIterator[Served]:
    app = FastAPI()
    app.add_middleware(Gate, limits=limits)

    @app.post("/")
    async def length(request: Request) -> int:
        body = await request.body()
        served.asked += 1
        await served.go.wait()
        return len(body)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(server_config(app, limits))
        served = Served(server, listening.getsockname()[1])
        running = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield served
        served.go.set()
        server.should_exit = True
        await running
        for _, writer in served.clients:
            writer.close()


async def received(client: Client) -> bytes:
    """Return everything until the server closes the connection."""
    try:
        return await client[0].read()
    except ConnectionResetError:
        return b""


def status_of(answer: bytes) -> int:
    return int(answer.split()[1])


def error_of(answer: bytes) -> str:
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["error"])


def test_half_sent_headers_are_answered_408_and_silence_is_closed() -> None:
    async def scenario(served: Served) -> None:
        served.go.set()
        half, silent = await served.client(HALF), await served.client()
        second = await served.client(REQUEST)  # a good request, then a half one
        head = await second[0].readuntil(b"\r\n\r\n")
        assert status_of(head) == 200
        assert await second[0].readexactly(2) == b"%d" % len(BODY)
        second[1].write(HALF)
        for slow in (half, second):
            answer = await received(slow)
            assert status_of(answer) == 408
            assert "0.5 s" in error_of(answer)
        assert await received(silent) == b""

    run(scenario, headers_s=0.5)


def test_bytes_that_drip_in_win_no_time() -> None:
    async def scenario(served: Served) -> None:
        async def drip(client: Client, sent: bytes) -> bytes:
            answer = asyncio.create_task(received(client))
            for byte in sent:
                if answer.done():
                    break
                client[1].write(bytes([byte]))
                await asyncio.sleep(0.1)
            else:
                raise AssertionError("all of it was read")
            return await answer

        clients = [await served.client(), await served.client(HEADERS)]
        for answer in await asyncio.gather(drip(clients[0], HEADERS), drip(clients[1], BODY[:-1])):
            assert status_of(answer) == 408

    run(scenario, headers_s=0.5, timeout_s=0.5)


def test_a_new_client_takes_the_place_of_the_slowest() -> None:
    async def scenario(served: Served) -> None:
        (asked,) = await served.asking()
        slowest, slow = await served.client(HALF), await served.client(HEADERS)
        await asyncio.sleep(0.1)
        (new,) = await served.asking()
        assert await received(slowest) == b""
        assert not slow[0].at_eof()
        served.go.set()
        for client in (asked, new):
            assert status_of(await client[0].readuntil(b"\r\n")) == 200

    run(scenario, connections=3, timeout_s=1)


def test_many_new_clients_at_once_take_as_many_places() -> None:
    async def scenario(served: Served) -> None:
        slow = [await served.client(HALF) for _ in range(20)]
        await asyncio.sleep(0.1)
        await asyncio.gather(*(served.client(HALF) for _ in range(15)))
        await asyncio.sleep(0.2)
        assert len(served.server.server_state.connections) == 20
        assert sum(client[0].at_eof() or bool(client[0].exception()) for client in slow) == 15

    run(scenario, connections=20)


def test_where_all_wait_for_answers_a_new_client_is_refused() -> None:
    async def scenario(served: Served) -> None:
        asking = await served.asking(3)
        answer = await received(await served.client())
        assert status_of(answer) == 503
        assert "3 requests wait" in error_of(answer)
        assert b"retry-after: 1" in answer.lower()
        served.go.set()
        for client in asking:
            assert status_of(await client[0].readuntil(b"\r\n")) == 200

    run(scenario, connections=3)


@pytest.mark.parametrize("path", [b"/", b"/nowhere"])
@pytest.mark.parametrize("framing", [b"Content-Length: 1000000000", b"Transfer-Encoding: chunked"])
def test_a_body_is_not_read_after_the_answer(path: bytes, framing: bytes) -> None:
    async def scenario(served: Served) -> None:
        head = b"Host: x\r\nContent-Type: application/json\r\n" + framing
        client = await served.client(b"POST " + path + b" HTTP/1.1\r\n" + head + b"\r\n\r\n")
        chunk = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))
        sent = 0

        async def send() -> None:
            nonlocal sent
            while True:
                client[1].write(chunk)
                await client[1].drain()
                sent += len(chunk)

        sending = asyncio.create_task(send())
        answer = await received(client)
        await asyncio.wait([sending], timeout=10)
        assert isinstance(sending.exception(), ConnectionError)
        assert status_of(answer) in (404, 413)
        assert b"connection: close" in answer.lower()
        assert sent < 32 << 20  # what the system's buffers hold

    run(scenario, body_bytes=1 << 18)


def test_what_is_not_http_gets_one_line() -> None:
    async def scenario(served: Served) -> None:
        for sent in (b"\x16\x03\x01\r\n\r\n", b"GET / HTTP/1.1\r\nA: " + b"a" * 20_000):
            answer = await received(await served.client(sent))
            assert status_of(answer) == 400
            assert "expected an HTTP request" in error_of(answer)

    run(scenario)


def test_an_end_answers_what_arrived_and_waits_for_no_one_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_CLOSING_S", 0.5)

    async def scenario(served: Served) -> None:
        asking = await served.asking(5)
        keeping = await served.client()
        half = [await served.client(sent) for sent in (HALF, HEADERS, HEADERS + b"{")]
        await asyncio.sleep(0.1)
        served.server.should_exit = True
        while served.server.servers[0].is_serving():
            await asyncio.sleep(0.01)
        keeping[1].write(REQUEST)  # on a connection that is there already
        await asyncio.sleep(0.3)
        served.go.set()
        for client in (*asking, keeping):
            assert status_of(await received(client)) == 200
        for client in half:
            assert b" 200 " not in await received(client)

    began = time.monotonic()
    run(scenario, timeout_s=30)
    assert time.monotonic() - began < 10


def test_open_files_bound_the_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        assert connections_that_fit(512) == 512
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 612
        assert connections_that_fit(hard) == hard - 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
