"""A real server in a process of its own, and clients that load it and check every answer."""

from __future__ import annotations

import random
import re
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.helpers.same_answers import same
from zh_albert.files.textio import encode_json
from zh_albert.serving.schemas import request_type
from zh_albert.serving.server import open_model

SCORES = 1e-4  # by which scores may differ: by what a sum's order makes of the last digits
# Written here, as httpx does not write half a surrogate pair.
JSON = {"Content-Type": "application/json"}


@dataclass
class Server:
    """A running server."""

    process: subprocess.Popen[str]
    url: str

    def post(self, model: str, body: Any, **options: Any) -> httpx.Response:
        path = f"{self.url}/v1/models/{model}/predict"
        return httpx.post(
            path, content=encode_json(body), headers=JSON, timeout=100, trust_env=False, **options
        )

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=30, trust_env=False)

    def metric(self, name: str, **labels: str) -> float:
        """Return a number of /metrics; 0 if it is not there yet."""
        marks = ",".join(f'{key}="{value}"' for key, value in labels.items())
        start = f"{name}{{{marks}}} " if marks else f"{name} "
        lines = self.get("/metrics").text.splitlines()
        return next((float(one.removeprefix(start)) for one in lines if one.startswith(start)), 0.0)

    def ended(self, number: int) -> tuple[int, str]:
        """Send a signal and return the exit code and what is left of standard error."""
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=100)
        return self.process.returncode, rest


@contextmanager
def serving(*arguments: object, open_files: int = 0) -> Iterator[Server]:
    """Run ``zh-albert serve`` on a free port until the block ends; 0: no limit on open files."""
    command = [sys.executable, "-m", "zh_albert.cli", "serve", *map(str, arguments), "--port", "0"]
    if open_files:
        command = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh", *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stderr.read()
        yield Server(process, address[0])
    finally:
        process.kill()
        process.communicate()


def expected_row(predictor: Any, item: Any) -> dict[str, Any]:
    """Return the answer to one text alone, by the library."""
    form = predictor.form
    request: Any = request_type(form.name, form.item).model_validate({"texts": [item]})
    (content,) = map(form.content, request.texts)
    row: dict[str, Any] = predictor.row(next(iter(predictor.stream([content]))))
    return row


@dataclass
class Load:
    """What a number of clients saw.

    Attributes:
        seconds: Of each good request.
        statuses: Requests by HTTP status; 0: no answer.
        wrong: Requests whose answer was not the expected one.
        memory: Resident bytes of the server, about once a second.
        lasted_s: From the first request to the last answer.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    lasted_s: float = 0.0

    def report(self) -> dict[str, Any]:
        """Return the figures."""
        ordered = sorted(self.seconds)
        return {
            "seconds": round(self.lasted_s, 1),
            "requests": sum(self.statuses.values()),
            "requests_per_second": round(sum(self.statuses.values()) / self.lasted_s, 1),
            "p50_ms": round(1e3 * ordered[len(ordered) // 2], 1),
            "p95_ms": round(1e3 * ordered[len(ordered) * 95 // 100], 1),
            "p99_ms": round(1e3 * ordered[len(ordered) * 99 // 100], 1),
            "statuses": dict(sorted(self.statuses.items())),
            "wrong": len(self.wrong),
            "lost": self.statuses[0],
            "rss_first_mb": round(self.memory[len(self.memory) // 6] / 1e6),
            "rss_last_mb": round(self.memory[-1] / 1e6),
        }


BAD: list[tuple[bytes, int]] = [
    (b'{"texts": ["', 400),
    (b"\xb0\xa1", 400),
    (b'{"texts": "x"}', 422),
    (b'{"texts": []}', 422),
    (b'{"texts": [5]}', 422),
    (b'{"text": ["x"]}', 422),
]


def run_load(
    server: Server,
    folders: Mapping[str, Path | str],
    items: Mapping[str, Sequence[Any]],
    *,
    clients: int,
    seconds: float,
) -> Load:
    """Ask a server from many clients at once; every fifth request is a bad one.

    Args:
        server: What to ask.
        folders: The models, by their names there.
        items: Texts for each.
        clients: Threads, each with a connection of its own.
        seconds: How long; each client makes three requests at least.
    """
    answers = {}
    for name, folder in folders.items():
        predictor = open_model(str(folder))
        answers[name] = [expected_row(predictor, item) for item in items[name]]
    load_, lock, begun = Load(), threading.Lock(), time.monotonic()

    def client(seed: int) -> None:
        rng = random.Random(seed)
        with httpx.Client(timeout=60, trust_env=False) as http:
            made = 0
            while time.monotonic() < begun + seconds or made < 3:
                made += 1
                name = rng.choice(list(folders))
                path = f"{server.url}/v1/models/{name}/predict"
                chosen = [rng.randrange(len(items[name])) for _ in range(rng.choice([1, 1, 1, 4]))]
                bad = rng.choice(BAD) if rng.random() < 0.2 else None
                started = time.monotonic()
                try:
                    if bad:
                        got = http.post(path, content=bad[0], headers=JSON)
                        right = got.status_code == bad[1] and "error" in got.json()
                    else:
                        body = encode_json({"texts": [items[name][i] for i in chosen]})
                        got = http.post(path, content=body, headers=JSON)
                        want = {"answers": [answers[name][i] for i in chosen]}
                        right = got.status_code == 200 and same(want, got.json(), SCORES)
                    status = got.status_code
                except httpx.HTTPError as error:
                    status, right, got = 0, False, error
                with lock:
                    load_.statuses[status] += 1
                    if not bad:
                        load_.seconds.append(time.monotonic() - started)
                    if not right:
                        load_.wrong.append(f"{name} {chosen} {bad}: {getattr(got, 'text', got)}")

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    process = psutil.Process(server.process.pid)
    while any(thread.is_alive() for thread in threads):
        load_.memory.append(process.memory_info().rss)
        time.sleep(min(1.0, seconds / 10))
    load_.lasted_s = time.monotonic() - begun
    return load_


_SLOW = {
    "silent": b"",
    "half of the headers": b"POST /v1/models/x/predict HTTP/1.1\r\nHost: localhost\r\nA: ",
    "a body": (
        b"POST /v1/models/%s/predict HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    ),
}


@dataclass
class SlowClients:
    """Clients that say nothing, or begin a request and go on with a byte a second.

    Attributes:
        closed_s: Of each kind, after how many seconds the server closed the connections.
        statuses: Answers that they got, by status.
        open: How many are still open.
    """

    closed_s: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    open: int = 0

    def report(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            "slow_closed_after_s": {
                kind: [round(min(times), 1), round(max(times), 1)]
                for kind, times in self.closed_s.items()
                if times
            },
            "slow_statuses": dict(self.statuses),
            "slow_still_open": self.open,
        }


@contextmanager
def slow_clients(server: Server, model: str, count: int, *, wait_s: float) -> Iterator[SlowClients]:
    """Hold connections beside what the block does; then wait for the server to close them.

    Args:
        server: Where they connect.
        model: To which some send a body.
        count: How many, a third of each kind.
        wait_s: Seconds after which those that are open are counted.
    """
    address = httpx.URL(server.url)
    seen = SlowClients({kind: [] for kind in _SLOW})
    kinds: dict[socket.socket, str] = {}
    for number in range(count):
        kind = list(_SLOW)[number % len(_SLOW)]
        client = socket.create_connection((address.host, address.port or 80))
        client.sendall(_SLOW[kind].replace(b"%s", model.encode()))
        kinds[client] = kind
    begun = time.monotonic()

    def watch() -> None:
        poll = select.poll()
        by_number = {client.fileno(): client for client in kinds}
        for client in kinds:
            poll.register(client, select.POLLIN)
        next_byte = begun + 1
        while by_number and time.monotonic() < begun + wait_s:
            for number, _ in poll.poll(200):
                client = by_number.pop(number)
                poll.unregister(number)
                with suppress(ConnectionError):
                    answer = client.recv(4096)
                    seen.statuses[answer[9:12].decode() or "closed"] += 1
                seen.closed_s[kinds[client]].append(time.monotonic() - begun)
            if time.monotonic() > next_byte:
                next_byte += 1
                for client in by_number.values():
                    if kinds[client] != "silent":
                        with suppress(ConnectionError):
                            client.send(b" ")
        seen.open = len(by_number)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        watching.join()
        for client in kinds:
            client.close()
