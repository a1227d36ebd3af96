"""Pre-annotations: what a tool gets back is what it exports."""

from __future__ import annotations

from typing import Any

import pytest

from zh_albert.tables.annotations import from_annotations
from zh_albert.tables.preannotations import Tool, for_tool

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
