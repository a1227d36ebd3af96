"""Exports of annotation tools and published sets, as rows of our task files.

doccano, Label Studio (full and minimal), CLUENER, SQuAD 1 and 2. Each is known by what is in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from zh_albert.files.notes import FileNote, tell
from zh_albert.tables.table_error import TableError

Row = dict[str, Any]


def from_annotations(
    rows: Iterable[tuple[int, Any]], source: Path | str
) -> Iterator[tuple[int, Any]]:
    """Yield the rows of our task files that exported rows stand for; other rows as they are.

    What our files do not hold (relations, annotations besides the first) is told in a warning at
    the end.

    Args:
        rows: With their places; an error in place of one is passed on.
        source: Named in errors.

    Raises:
        TableError: If an annotation has another form than its kind says.
    """
    left_out: Counter[str] = Counter()
    for place, row in rows:
        if not isinstance(row, dict):
            yield place, row
            continue
        try:
            yield from ((place, one) for one in _converted(row, left_out))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            problem = "an annotation has another form than expected ({error}). Export it again, or "
            problem += "write it in the project's format (docs/formats.md)"
            why = f"{error!r:.80}"
            raise TableError.of("annotation", problem, source, place, error=why) from None
    if left_out:
        counts = ", ".join(f"{count:,} {what}" for what, count in left_out.items())
        tell(FileNote(f"{source}: left out: {counts}", "left_out", counts=counts))


def _converted(row: Row, left_out: Counter[str]) -> Iterator[Row]:  # noqa: PLR0912  (one a form)
    match row:
        case {"data": [{"paragraphs": list()}, *_] as articles}:
            yield from _squad(articles)
        case {"data": [{}, *_] as rows} if all(isinstance(one, dict) for one in rows):
            for one in rows:
                yield from _converted(one, left_out)
        case {"paragraphs": list()}:
            yield from _squad([row])
        case {"data": dict(), "annotations": list()}:
            yield _label_studio(row, left_out)
        case {"text": str(text), "label": dict(types)}:  # CLUENER: the end is included
            spans = [
                (start, end + 1, name)
                for name, texts in types.items()
                for places in texts.values()
                for start, end in places
            ]
            yield _with_entities(row, text, spans, "label")
        case _ if field := _minimal_marks(row):
            text = _text_of(row, [m.get("text") for m in row[field]])
            spans = [
                (*_in_characters(text, m["start"], m["end"], m.get("text")), name)
                for m in row[field]
                for name in m["labels"]
            ]
            yield _with_entities(row, text, spans, field)
        case {"text": str(text), "label": [[_, _, _], *_] as marks}:
            yield _with_entities(row, text, [tuple(mark) for mark in marks], "label")
        case {"text": str(text), "labels": [[_, _, _], *_] as marks}:
            yield _with_entities(row, text, [tuple(mark) for mark in marks], "labels")
        case {"text": str(), "label": []} if "entities" not in row:  # no labels, or no entities
            yield row | {"entities": []}
        case {"text": str(text), "entities": [{"start_offset": _}, *_] as marks}:
            left_out.update(["relations"] * len(row.get("relations", [])))
            spans = [(m["start_offset"], m["end_offset"], m["label"]) for m in marks]
            yield _with_entities(row, text, spans, "entities", "relations")
        case {"text": str(text), "entities": [], "relations": _}:
            yield _with_entities(row, text, [], "entities", "relations")
        case _:
            yield row


def _with_entities(row: Row, text: str, spans: list[Any], *replaced: str) -> Row:
    """Return a row with entities in place of its own fields for them."""
    entities = [{"start": start, "end": end, "type": name} for start, end, name in spans]
    others = {name: value for name, value in row.items() if name not in replaced}
    return others | {"text": text, "entities": entities}


def _label_studio(row: Row, left_out: Counter[str]) -> Row:
    """Return the first annotation of a task: spans as entities, a choice as label."""
    done = [one for one in row["annotations"] if not one.get("was_cancelled")]
    marks = done[0]["result"] if done else []
    text = _text_of(row["data"], [mark.get("value", {}).get("text") for mark in marks])
    left_out.update(["further annotations of a text"] * (len(done) - 1))
    entities: list[Row] = []
    labels: list[str] = []
    for mark in marks:
        value = mark.get("value", {})
        if mark.get("type") == "labels":
            start, end = _in_characters(text, value["start"], value["end"], value.get("text"))
            entities += [{"start": start, "end": end, "type": name} for name in value["labels"]]
        elif mark.get("type") == "choices":
            labels += value["choices"]
        else:
            left_out[f"marks of type {mark.get('type')}"] += 1
    if labels and not entities:
        return {"text": text, "label": labels[0] if len(labels) == 1 else labels}
    return {"text": text, "entities": entities}


def _minimal_marks(row: Row) -> str | None:
    """Return the field with the marks of Label Studio's minimal export, named by its template."""
    for name, value in row.items():
        match value:
            case [{"labels": list()}, *_]:
                return name
    return None


def _text_of(fields: Row, found: list[Any]) -> str:
    """Return the annotated one of some fields: it has the marked texts, or is the longest."""
    marked = [one for one in found if isinstance(one, str)]
    texts = [value for name, value in fields.items() if isinstance(value, str)]
    named = fields.get("text")
    return max(texts, key=lambda text: (sum(m in text for m in marked), text is named, len(text)))


def _in_characters(text: str, start: int, end: int, found: str | None) -> tuple[int, int]:
    """Return offsets in characters of offsets in UTF-16 units, if only these give the text."""
    if found is None or text[start:end] == found:
        return start, end
    units = text.encode("utf-16-le", "surrogatepass")
    first, last = (len(units[: 2 * place].decode("utf-16-le", "replace")) for place in (start, end))
    return (first, last) if text[first:last] == found else (start, end)


def _squad(articles: list[Row]) -> Iterator[Row]:
    for article in articles:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                given = [] if asked.get("is_impossible") else asked["answers"]
                answers = [{"text": a["text"], "start": a["answer_start"]} for a in given]
                unique = {(a["text"], a["start"]): a for a in answers}
                yield {
                    "id": asked.get("id"),
                    "context": paragraph["context"],
                    "question": asked["question"],
                    "answers": list(unique.values()),
                }
