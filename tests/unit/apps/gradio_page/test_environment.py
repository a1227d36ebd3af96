"""Folders of pages: gone with their page, also with one that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from apps.gradio_page.environment import temporary_files

PAGE = """
import time
from apps.gradio_page.environment import temporary_files
with temporary_files() as folder:
    (folder / "upload.csv").write_text("text")
    print(folder, flush=True)
    time.sleep(100)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("GRADIO_TEMP_DIR", "")
    return tmp_path


def started() -> tuple[subprocess.Popen[str], Path]:
    page = subprocess.Popen([sys.executable, "-c", PAGE], stdout=subprocess.PIPE, text=True)
    assert page.stdout
    return page, Path(page.stdout.readline().strip())


def end(page: subprocess.Popen[str]) -> None:
    page.send_signal(signal.SIGKILL)
    page.communicate()


def test_a_killed_pages_files_go_at_the_next_start(temporary: Path) -> None:
    others = temporary / "zh-albert-demo-not-a-page"
    others.mkdir()
    killed, left = started()
    end(killed)
    assert (left / "upload.csv").exists()
    running, kept = started()
    try:
        assert not left.exists()
        with temporary_files() as mine, temporary_files() as second:
            assert os.environ["GRADIO_TEMP_DIR"] == str(second)
            assert (kept / "upload.csv").exists()
            assert mine.exists()
        assert not mine.exists()
        assert not second.exists()
    finally:
        end(running)
    assert sorted(temporary.iterdir()) == sorted([others, kept])
