"""Answers to an official test file: what is refused before a model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.clue.prediction import predict
from zh_albert.clue.tasks import CLUE_TASKS
from zh_albert.errors import ConfigError


@pytest.mark.parametrize("whole", [True, False])
def test_the_official_file_is_not_replaced_by_its_answers(tmp_path: Path, whole: bool) -> None:
    test = tmp_path / "test.json"
    test.write_text('{"id": 0, "sentence": "好"}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"test\.json: expected another file"):
        predict(CLUE_TASKS["tnews"], "news-nano", tmp_path if whole else test, test)
    assert "sentence" in test.read_text("utf-8")
