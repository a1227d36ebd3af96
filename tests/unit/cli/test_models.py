"""Commands that write model folders: where they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.cli.export import export
from zh_albert.cli.models import convert


def test_a_folder_in_the_home_folder_is_written_where_it_is_read(
    micro: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    convert(str(micro), Path("~/converted"))
    export("~/converted", Path("~/exported"), "onnx")
    assert {path.name for path in (tmp_path / "home").iterdir()} == {"converted", "exported"}
    assert {path.name for path in tmp_path.iterdir()} == {"home"}
