"""The demo's start, and what can be wrong with it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from apps.gradio_demo import serve
from tests.helpers.micro import save_micro_pretrained
from zh_albert.errors import CheckpointError, MissingExtraError, ZhAlbertError


def test_a_port_in_use_is_one_line_that_names_the_option() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ZhAlbertError, match=r"port \d+ cannot be used .*--port 0") as caught:
            serve(port=taken.getsockname()[1], models=[])
    assert "\n" not in str(caught.value)


def test_without_gradio_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gradio", None)
    with pytest.raises(MissingExtraError, match=r"zh-albert\[demo\]"):
        serve(port=0, models=[])


def test_a_damaged_folder_is_not_taken_for_none(tmp_path: Path) -> None:
    folder = save_micro_pretrained(tmp_path / "encoder")
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="has 0 bytes"):
        serve(port=0, models=[str(folder)])
