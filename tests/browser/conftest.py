"""The demo as a process of its own, and a real Chromium that opens it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.helpers.traced import foreign_calls, recorder, why_not_traceable
from zh_albert.checkpoints.resolve import bundled_models

ROOT = Path(__file__).parent.parent.parent
ARTEFACTS = ROOT / "test-artefacts"
HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\"' "
    "${window.hacked=1} {{value}} @children `x` <b>粗</b>"
)
_START_S = 100
expect.set_options(timeout=30_000)  # other tests, or a training, may have the cores
_CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; without it or a Chinese font the tests are skipped."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(names)}; see install_programs.sh")
    fonts = shutil.which("fc-list")
    listed = fonts and subprocess.run([fonts, ":lang=zh"], capture_output=True, check=False).stdout
    if not listed:
        pytest.skip("needs a Chinese font (fc-list :lang=zh is empty); see install_programs.sh")
    return path


@pytest.fixture(scope="session")
def demo_url(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the demo as a user does, random models where none is bundled; yield the address."""
    folder = tmp_path_factory.mktemp("demo")
    names = ("sentiment", "news", "ner", "ner-msra", "reader", "nli", "similarity")
    names = (*names, "embedder", "encoder")
    command = ["-c", "from zh_albert.cli.app import main; main()", "demo", "--port", "0"]
    if not set(names) <= set(bundled_models()):
        command = ["-m", "tests.browser.random_models", str(folder), *names]
    with _served(command, folder) as url:
        yield url


@pytest.fixture(scope="session")
def bare_demo_url(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the demo as where no model is bundled."""
    folder = tmp_path_factory.mktemp("bare")
    command = ["-m", "tests.browser.random_models", str(folder)]
    with _served(command, folder, end=signal.SIGTERM) as url:  # as a container does
        yield url


@contextmanager
def _served(
    command: list[str], folder: Path, *, end: signal.Signals = signal.SIGINT
) -> Iterator[str]:
    """Run a process that serves the demo; it reaches no other host.

    A signal must end it: no traceback, no files left.
    """
    log, temporary, record = (folder / name for name in ("stderr.txt", "temporary", "calls.txt"))
    temporary.mkdir()
    traced = [] if why_not_traceable() else recorder(record, apart=True)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*traced, sys.executable, *command], cwd=ROOT, stdout=file, stderr=file, env=environment
        )
        try:
            yield _wait_for_url(process, log)
        finally:
            process.send_signal(end)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    assert "Traceback" not in log.read_text(encoding="utf-8")
    assert not list(temporary.glob("zh-albert-demo-*"))
    assert not traced or foreign_calls(record.read_text(errors="replace")) == []


def _wait_for_url(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        said = re.search(r"http://127\.0\.0\.1:\d+/", log.read_text(encoding="utf-8"))
        if said:
            return said[0]
        time.sleep(0.1)
    raise RuntimeError(f"the demo did not start:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="session")
def window(chromium: str) -> Iterator[Browser]:
    """One Chromium for all tests."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=_CHROMIUM_FLAGS)
        yield opened
        opened.close()


OpenDemo = Callable[..., Page]


@pytest.fixture
def open_demo(window: Browser, demo_url: str) -> Iterator[OpenDemo]:
    """Open the page at a width and in a colour scheme.

    In the end, whatever a test did: no request went to another host, no dialog appeared, no
    script failed.
    """
    contexts, wrong = [], []

    def check(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            wrong.append(f"request to {url}")

    def open_page(
        width: int = 1280, scheme: str = "light", url: str = demo_url, script: str = ""
    ) -> Page:
        context = window.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.set_default_timeout(30_000)
        page.on("request", lambda request: check(request.url))
        page.on("websocket", lambda socket: check(socket.url))
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.goto(url)
        page.locator("[role=tabpanel]:visible").first.wait_for()
        page.locator("html[data-filled]").wait_for(state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def open_tab(page: Page, name: str) -> Page:
    """Show a tab."""
    page.get_by_role("tab", name=name).click()
    return page


def photograph(page: Page, name: str, width: int) -> None:
    """Keep a picture of the whole page, and check that it is not wider than the screen."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(300)  # colours fade
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
