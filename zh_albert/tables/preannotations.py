"""Rows with entities or labels as annotation tools import them: pre-annotations to correct."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from zh_albert.errors import DataError

Row = dict[str, Any]
Tool = Literal["doccano", "label-studio"]


def for_tool(row: Row, tool: Tool) -> Row:
    """Return a row for a tool's import; what was predicted comes before what the row had.

    Args:
        row: With ``text`` and ``entities`` or ``label``, as task files and ``predict --out`` have.
        tool: doccano's JSON Lines, or a task of Label Studio with predictions.

    >>> row = {"text": "李华在", "entities": [{"start": 0, "end": 2, "type": "PER"}]}
    >>> for_tool(row, "doccano")
    {'text': '李华在', 'label': [[0, 2, 'PER']]}
    """
    text = row["text"]
    entities = row.get("predicted_entities", row.get("entities")) or []
    labels = _labels(row)
    if tool == "doccano":
        spans = [[one["start"], one["end"], one["type"]] for one in entities]
        return {"text": text, "label": spans or labels}
    result: list[Row] = []
    for one in entities:
        start, end = (_in_utf16(text, one[name]) for name in ("start", "end"))
        slice_ = text[one["start"] : one["end"]]
        value = {"start": start, "end": end, "text": slice_, "labels": [one["type"]]}
        result.append({"from_name": "label", "to_name": "text", "type": "labels", "value": value})
    if labels:
        value = {"choices": labels}
        result.append({"from_name": "choice", "to_name": "text", "type": "choices", "value": value})
    return {"data": {"text": text}, "predictions": [{"result": result}]}


def refuse_no_offsets(row: Row, source: Path | str, line: int) -> None:
    """Check that the entities of a row, if it has any, say where they are.

    Raises:
        DataError: If they are something else, such as the cell of a table.
    """
    for name in ("entities", "predicted_entities"):
        entities = row.get(name)
        if entities is None or (isinstance(entities, list) and all(map(_is_span, entities))):
            continue
        problem = f'"{name}": expected a list of {{start, end, type}}, found {entities!r:.60}'
        hint = "Tables hold no offsets: use predict --out FILE.jsonl"
        raise DataError.at(source, line, problem, hint=hint)


def _is_span(entity: Any) -> bool:
    match entity:
        case {"start": int(), "end": int(), "type": str()}:
            return True
    return False


def _labels(row: Row) -> list[str]:
    fields = ("predicted_label", "predicted_labels", "label", "labels")
    label = next((row[name] for name in fields if name in row), None)
    if label is None:
        return []
    return [str(one) for one in label] if isinstance(label, list) else [str(label)]


def _in_utf16(text: str, place: int) -> int:
    """Return an offset in the units that JavaScript counts."""
    return len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
