"""Exports of annotation tools, as rows of our task files."""

from __future__ import annotations

from typing import Any

import pytest

from zh_albert.errors import DataError
from zh_albert.tables.annotations import Row, from_annotations

TEXT = "李华👍在杭州"
ENTITIES = [{"start": 0, "end": 2, "type": "人"}, {"start": 4, "end": 6, "type": "地"}]


def converted(*rows: Row) -> list[Row]:
    return [row for _, row in from_annotations(enumerate(rows, start=1), "a.json")]


def studio(*marks: Row, **more: Any) -> Row:
    return {"id": 1, "data": {"text": TEXT}, "annotations": [{"result": [*marks], **more}]}


def mark(start: int, end: int, text: str, label: str) -> Row:
    value = {"start": start, "end": end, "text": text, "labels": [label]}
    return {"type": "labels", "value": value}


@pytest.mark.parametrize(
    "row",
    [
        {"text": TEXT, "label": [[0, 2, "人"], [4, 6, "地"]]},
        {"text": TEXT, "labels": [[0, 2, "人"], [4, 6, "地"]]},
        {
            "text": TEXT,
            "entities": [
                {"id": 1, "label": "人", "start_offset": 0, "end_offset": 2},
                {"id": 2, "label": "地", "start_offset": 4, "end_offset": 6},
            ],
        },
        {"text": TEXT, "label": {"人": {"李华": [[0, 1]]}, "地": {"杭州": [[4, 5]]}}},
        {
            "text": TEXT,
            "label": [
                {"start": 0, "end": 2, "text": "李华", "labels": ["人"]},
                {"start": 4, "end": 6, "text": "杭州", "labels": ["地"]},
            ],
        },
        {
            "id": 7,
            "content": TEXT,
            "实体": [
                {"start": 0, "end": 2, "text": "李华", "labels": ["人"]},
                {"start": 4, "end": 6, "text": "杭州", "labels": ["地"]},
            ],
            "annotator": 1,
        },
        {
            "text": TEXT,
            "label": [
                {"start": 0, "end": 2, "text": "李华", "labels": ["人"]},
                {"start": 5, "end": 7, "text": "杭州", "labels": ["地"]},  # in UTF-16
            ],
        },
        {
            **studio(mark(0, 2, "李华", "人"), mark(4, 6, "杭州", "地")),
            "data": {"id": "第一百二十三号", "标题": "无", "正文": TEXT},
        },
        studio(mark(0, 2, "李华", "人"), mark(5, 7, "杭州", "地")),  # in UTF-16, as JavaScript
    ],
)
def test_entities_of_every_tool_are_slices(row: Row) -> None:
    [found] = converted(row)
    assert found["entities"] == ENTITIES
    assert "label" not in found


def test_rows_of_our_own_stay_as_they_are() -> None:
    rows = [
        {"text": "好", "label": "好评"},
        {"text": "好", "label": ["快", "好"]},
        {"text": TEXT, "entities": ENTITIES},
        {"context": "好", "question": "谁", "answers": []},
    ]
    assert converted(*rows) == rows


def test_a_text_without_labels_has_no_entities_either() -> None:
    assert converted({"text": "好", "label": []}) == [{"text": "好", "label": [], "entities": []}]


def test_a_choice_is_a_label() -> None:
    choice = {"type": "choices", "value": {"choices": ["好评"]}}
    assert converted(studio(choice)) == [{"text": TEXT, "label": "好评"}]


def test_what_is_left_out_is_told() -> None:
    related = {"text": TEXT, "entities": [], "relations": [{"id": 1}]}
    with pytest.warns(
        UserWarning, match=r"a.json: left out: 1 relations, 1 marks of type relation"
    ):
        found = converted(
            related | {"entities": [{"label": "人", "start_offset": 0, "end_offset": 2}]},
            studio(mark(0, 2, "李华", "人"), {"type": "relation"}),
        )
    assert [row["entities"] for row in found] == [ENTITIES[:1]] * 2


def test_questions_with_and_without_answers() -> None:
    asked = [
        {"id": "1", "question": "在哪?", "answers": [{"text": "杭州", "answer_start": 4}] * 2},
        {"id": "2", "question": "何时?", "answers": [], "is_impossible": True},
    ]
    article = {"paragraphs": [{"context": TEXT, "qas": asked}]}
    for row in ({"version": "v2.0", "data": [article]}, article):
        first, second = converted(row)
        assert first["answers"] == [{"text": "杭州", "start": 4}]
        assert (second["id"], second["context"], second["answers"]) == ("2", TEXT, [])


def test_an_annotation_of_another_version_is_named() -> None:
    with pytest.raises(DataError, match=r"a\.json, line 2: an annotation has another form"):
        converted({"text": "好"}, {"text": TEXT, "label": [{"labels": ["人"]}]})
