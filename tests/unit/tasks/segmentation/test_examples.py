"""Task files of word segmentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zh_albert.errors import DataError
from zh_albert.tasks.segmentation.examples import read_segmentation_examples


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_words_are_spans_of_the_text_as_it_is(tmp_path: Path) -> None:
    row = {"text": " 他 从New York来\t", "words": ["他", "从", "New", "York", "来"]}
    (example,) = read_segmentation_examples(write(tmp_path, row))
    assert [example.text[start:end] for start, end in example.words] == row["words"]
    assert example.text == row["text"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "他来"}, 'line 2: field "words" is missing'),
        ({"text": "他来", "words": "他来"}, '"words" must be a list of strings'),
        ({"text": "他来", "words": ["他", ""]}, "none of them empty"),
        ({"text": "他来", "words": ["她", "来"]}, "'她' where the text has '他'"),
        ({"text": "他来了", "words": ["他", "来"]}, "ends before '了'"),
    ],
)
def test_wrong_lines_are_refused_with_file_and_line(
    row: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    path = write(tmp_path, {"text": "好", "words": ["好"]}, row)
    with pytest.raises(DataError, match=r"t\.jsonl, line 2: ") as refused:
        read_segmentation_examples(path)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)
