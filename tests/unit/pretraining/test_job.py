"""Settings of the jobs on a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.configio import build
from zh_albert.pretraining.distil import DistilConfig


def test_folders_of_the_settings_may_be_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    data = {"train": ["~/a", "b"], "heldout": "~/c"}
    config = build(DistilConfig, {"out": "~/small", "teacher": "~/large", "data": data})
    assert (config.out, config.teacher) == (tmp_path / "small", tmp_path / "large")
    assert config.data.folders == (tmp_path / "a", Path("b"))
    assert config.data.heldout == tmp_path / "c"
