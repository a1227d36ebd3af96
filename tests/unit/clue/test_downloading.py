"""Archives that people have put where they would be downloaded."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from zh_albert.clue.downloading import fetch_task
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import DataError


def test_an_archive_of_another_task_is_no_release(tmp_path: Path) -> None:
    archive = tmp_path / "csl_public.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("train.json", "{}\n")
    with pytest.raises(DataError, match=r"csl_public\.zip: expected .* dev\.json not found; is it"):
        fetch_task(CLUE_TASKS["csl"], tmp_path)
    assert list(tmp_path.iterdir()) == [archive]
