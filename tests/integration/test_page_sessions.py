"""Visitors of the page at the same time: each sees their own file and result, and no one else's."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar

import httpx
import pytest
import uvicorn

from apps.gradio_page.environment import import_gradio, temporary_files
from apps.jobs import JobQueue
from apps.tabs.batch.strings import CHINESE
from zh_albert.tasks.classification.predictor import Classification, Classifier

VISITORS = 20


class Same(Classifier):
    """Gives each text itself as its label, slowly."""

    pairs = False
    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        pass

    def stream(self, texts: Iterable[Any]) -> Iterator[Classification]:
        for text in texts:
            time.sleep(0.002)
            yield Classification(text, 1.0, {text: 1.0})


@contextmanager
def running() -> Iterator[tuple[str, dict[str, int]]]:
    """Serve the tab for whole files; yield its address and the numbers of its events."""
    import_gradio()
    import gradio as gr

    from apps.gradio_page.server import page_app
    from apps.tabs.batch.tab import batch_tab

    with temporary_files() as folder, socket.create_server(("127.0.0.1", 0)) as listening:
        jobs = JobQueue(folder)
        with gr.Blocks(analytics_enabled=False) as blocks:
            batch_tab(CHINESE, {"same": Same()}, jobs)
        numbers = {str(event.name): number for number, event in reversed([*blocks.fns.items()])}
        config = uvicorn.Config(page_app({CHINESE.page: blocks}), log_level="critical")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", numbers
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
            jobs.close()


class Visitor:
    """A browser that does with the tab what a visitor does."""

    def __init__(self, url: str, numbers: dict[str, int], number: int) -> None:
        self.client = httpx.Client(base_url=url, timeout=60, trust_env=False)
        self.client.get("/").raise_for_status()
        self.name, self.word = f"visitor{number}.csv", f"访客{number}号"
        self.owner, self._session, self._numbers = f"secret-{number}" * 3, f"s{number}", numbers

    def ask(self, event: str, *data: Any) -> list[Any]:
        """Trigger an event and return what it fills the boxes with."""
        about = {"data": data, "fn_index": self._numbers[event], "session_hash": self._session}
        self.client.post("/gradio_api/queue/join", json=about).raise_for_status()
        path = f"/gradio_api/queue/data?session_hash={self._session}"
        with self.client.stream("GET", path) as answers:
            for line in answers.iter_lines():
                message = json.loads(line.removeprefix("data: ") or "{}")
                if message.get("msg") == "process_completed":
                    assert message["success"], message
                    found: list[Any] = message["output"]["data"]
                    return found
        raise AssertionError("no answer")

    def answered(self) -> tuple[str, str]:
        """Upload a file, start the work, and return all panels and the downloaded result."""
        content = "text\n" + f"{self.word}的文本\n" * 40
        files = {"files": (self.name, content.encode())}
        (path,) = self.client.post("/gradio_api/upload", files=files).raise_for_status().json()
        file = {"path": path, "orig_name": self.name, "meta": {"_type": "gradio.FileData"}}
        panels = str(self.ask("opened", file, "same", self.owner))
        panels += str(self.ask("begin", None, "text", None, "same", self.owner))
        while True:
            found = self.ask("watch", self.owner)
            panels += str(found)
            urls = [
                box["value"]["url"] for box in found if isinstance(box, dict) and "url" in str(box)
            ]
            if urls:
                return panels, self.client.get(urls[1]).raise_for_status().text  # the CSV
            time.sleep(0.1)


@pytest.mark.filterwarnings("ignore")  # Gradio's own
def test_twenty_visitors_see_only_their_own_files_and_results() -> None:
    with running() as (url, numbers):
        visitors = [Visitor(url, numbers, number) for number in range(10, 10 + VISITORS)]
        with ThreadPoolExecutor(VISITORS) as pool:
            results = list(pool.map(Visitor.answered, visitors))
        for visitor, (panels, table) in zip(visitors, results, strict=True):
            for seen in (panels, table):
                assert visitor.word in seen
                assert not [one.word for one in visitors if one is not visitor and one.word in seen]
            assert visitor.name in panels
            assert table.count(f"\n{visitor.word}的文本,{visitor.word}的文本,") == 40
        nobody = Visitor(url, numbers, 99)
        assert "访客" not in str(nobody.ask("watch", nobody.owner))
        for visitor in (*visitors, nobody):
            visitor.client.close()
