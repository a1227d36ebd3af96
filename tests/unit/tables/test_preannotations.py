"""Pre-annotations: what a tool gets back is what it exports."""

from __future__ import annotations

from typing import Any

import pytest

from zh_albert.errors import DataError
from zh_albert.tables.annotations import from_annotations
from zh_albert.tables.preannotations import Tool, for_tool, refuse_no_offsets

TEXT = "李华👍在杭州"
ENTITIES = [{"start": 0, "end": 2, "type": "人"}, {"start": 4, "end": 6, "type": "地"}]


@pytest.mark.parametrize("tool", ["doccano", "label-studio"])
@pytest.mark.parametrize("row", [{"entities": ENTITIES}, {"label": "好评"}])
def test_what_comes_back_is_what_was_sent(tool: Tool, row: dict[str, Any]) -> None:
    sent = for_tool({"text": TEXT, **row}, tool)
    if tool == "label-studio":  # which exports annotations where it imports predictions
        sent["annotations"] = sent.pop("predictions")
    [(_, back)] = from_annotations([(1, sent)], "a.json")
    expected = {"text": TEXT, **row}
    if tool == "doccano" and "label" in row:
        expected["label"] = ["好评"]  # any number of labels there
    assert back == expected


def test_what_was_predicted_comes_before_what_the_row_had() -> None:
    of_entities = {"text": TEXT, "entities": ENTITIES, "predicted_entities": ENTITIES[:1]}
    assert for_tool(of_entities, "doccano")["label"] == [[0, 2, "人"]]
    assert for_tool(of_entities | {"predicted_entities": []}, "doccano")["label"] == []
    of_labels = {"text": TEXT, "labels": ["好"], "predicted_labels": ["差", "慢"]}
    assert for_tool(of_labels, "doccano")["label"] == ["差", "慢"]
    assert for_tool({"text": TEXT, "label": "好", "predicted_label": "差"}, "doccano")["label"] == [
        "差"
    ]


@pytest.mark.parametrize("entities", ["李华/人; 杭州/地", "", [[0, 2, "人"]], [{"start": "0"}]])
def test_entities_without_offsets_are_refused(entities: Any) -> None:
    with pytest.raises(DataError, match=r"a.csv, line 2: .*\{start, end, type\}.*FILE\.jsonl"):
        refuse_no_offsets({"text": TEXT, "entities": entities}, "a.csv", 2)
    refuse_no_offsets({"text": TEXT, "entities": ENTITIES, "predicted_entities": []}, "a.csv", 2)
