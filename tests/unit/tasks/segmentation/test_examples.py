"""Files of segmented texts: words are slices, and what is wrong is located."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zh_albert.errors import DataError
from zh_albert.tasks.segmentation.examples import WordSpan, read_segmentation_examples
from zh_albert.tasks.segmentation.tags import tags_of, words_of


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    return path


def test_words_are_the_texts_slices_and_joined_the_text_without_spaces(tmp_path: Path) -> None:
    rows = [
        {"text": "他从马上下来", "words": ["他", "从", "马上", "下来"]},
        {"text": "  我 们\u3000好\t", "words": ["我", "们", "好"]},
        {"text": "看 New York", "words": ["看", "New", "York"]},
        {"text": "𠮷野家👍🏽。", "words": ["𠮷野家", "👍🏽", "。"]},
    ]
    for row, example in zip(
        rows, read_segmentation_examples(written(tmp_path / "a.jsonl", *rows)), strict=True
    ):
        assert example.text == row["text"]
        slices = [example.text[start:end] for start, end in example.words]
        assert slices == row["words"]
        assert "".join("".join(slices).split()) == "".join(example.text.split())


def test_white_space_among_the_words_is_none_and_ends_a_word(tmp_path: Path) -> None:
    """As jieba gives it; a predicted word never reaches over white space."""
    text = "我 爱New York"
    path = written(tmp_path / "a.jsonl", {"text": text, "words": ["我", " ", "爱", "New York"]})
    [example] = read_segmentation_examples(path)
    assert [text[start:end] for start, end in example.words] == ["我", "爱", "New", "York"]
    characters = [(place, place + 1) for place in range(len(text))]
    assert words_of(text, tags_of(example.words, characters), characters) == [*example.words]


def test_a_word_that_repeats_is_found_where_it_stands(tmp_path: Path) -> None:
    [example] = read_segmentation_examples(
        written(tmp_path / "a.jsonl", {"text": "好 好好", "words": ["好", "好", "好"]})
    )
    assert example.words == (WordSpan(0, 1), WordSpan(2, 3), WordSpan(3, 4))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "我们"}, 'field "words" is missing'),
        ({"words": ["我们"]}, 'field "text" is missing'),
        ({"text": 5, "words": ["5"]}, '"text" must be a string, found 5'),
        ({"text": " ", "words": []}, '"text" is empty'),
        ({"text": "我们", "words": "我们"}, '"words" must be a list of strings'),
        ({"text": "我们", "words": ["我们", 1]}, '"words" must be a list of strings'),
        ({"text": "我们", "words": ["我们", ""]}, "none of them empty"),
        ({"text": "我们好", "words": ["我们", "坏"]}, "has '坏' where the text has '好'"),
        ({"text": "我们", "words": ["我们", "好"]}, "has '好' where the text has ''"),
        ({"text": "我们好", "words": ["我们"]}, "\"words\" ends before '好'"),
        ({"text": "我们好", "words": []}, "\"words\" ends before '我们好'"),
        ({"text": "我们好", "words": ["我", "好"]}, "has '好' where the text has '们'"),
        ({"text": "New York", "words": ["NewYork"]}, "has 'NewYork' where the text has 'New Yor'"),
    ],
)
def test_a_wrong_row_is_located(row: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {"text": "好", "words": ["好"]}, row)
    with pytest.raises(DataError) as raised:
        read_segmentation_examples(path)
    message = str(raised.value)
    assert "a.jsonl" in message
    assert "line 2" in message
    assert problem in message


def test_broken_json_and_an_empty_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "好", "words": ["好"]}\n{"text"\n')
    with pytest.raises(DataError, match=r"a\.jsonl.*line 2"):
        read_segmentation_examples(path)
    path.write_text("")
    with pytest.raises(DataError, match=r"a\.jsonl: no examples"):
        read_segmentation_examples(path)
