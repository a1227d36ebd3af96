"""Readers of the official files of CLUE and FewCLUE, with rows in this project's task format.

They include the preprocessing that affects scores: keywords are placed before the abstract, C3's
turns form one text, each blank of ChID is a question of its own. (CLUEWSC's spans are marked by the
task itself.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from zh_albert.clue.task import ClueTask, Form
from zh_albert.errors import DataError
from zh_albert.files.plain_files import parse_json
from zh_albert.files.textio import read_lines
from zh_albert.tables.objects import read_objects
from zh_albert.tasks.classification.marked_spans import text_with_marks

BLANK = "#idiom#"  # the blank of the question, in a context
_OTHER_BLANK = "____"
_TAG = re.compile(r"#idiom\d+#")
_NO_MAJORITY = "-"  # label of pairs without agreement of the annotators; dropped by the authors
# ChID's punctuation, normalized as in CLUE's own baseline.
_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "-", "…": "..."})

Row = dict[str, Any]


def read_official(task: ClueTask, path: Path) -> Iterator[Row]:
    """Yield the rows of an official file in its order, in the task format, each with its ``id``.

    Labels are this project's names. A file without labels (a test) gives rows without. Rows have
    two more fields if a submission needs them: ``group`` (ChID: the same for all blanks of a
    passage) and ``reference_texts`` (reading: all answers, including those not in the context).

    Raises:
        DataError: With file and line: another form, an unknown label, an entity or answer that is
            not at its place; or no rows at all.
    """
    count = 0
    try:
        for count, row in enumerate(_READERS[task.form](task, path), start=1):  # noqa: B007
            yield row
    except DataError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: not an official file of {task.name} after row {count} ({error!r:.80}); is "
            "it of another task or version?"
        ) from None
    if not count:
        raise DataError(
            f"{path}: expected rows as in {task.name}'s official files, found none; is it of "
            "another task or version?"
        )


def _texts(task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        text = _string(row, task.fields[0], path, line)
        yield {"id": row["id"], "text": text, **_label(task, row, path, line)}


def _pairs(task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        if row.get("label") == _NO_MAJORITY:
            continue
        first, second = (_string(row, name, path, line) for name in task.fields)
        label = _label(task, row, path, line)
        yield {"id": row["id"], "text_a": first, "text_b": second, **label}


def _keywords(task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        words = _strings(row, "keyword", f"{path}, line {line}")
        text = _string(row, "abst", path, line)
        label = _label(task, row, path, line)
        yield {"id": row["id"], "text_a": " ".join(words), "text_b": text, **label}


def _coreferences(task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        text, target = _string(row, "text", path, line), row.get("target")
        if not isinstance(target, dict):
            raise DataError.at(path, line, f'"target" must be an object, found {target!r:.80}')
        spans = {
            name: {"text": target.get(f"{name}_text"), "start": target.get(f"{name}_index")}
            for name in ("span1", "span2")
        }
        text_with_marks(spans, text, path, line)  # raises if spans are not at their places
        yield {"id": row["id"], "text": text, **spans, **_label(task, row, path, line)}


def _entities(task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        text = _string(row, "text", path, line)
        if row.get("label") is None:
            yield {"id": row["id"], "text": text}
            continue
        spans = []
        for name, surface, start, last in _places(row["label"], task, path, line):
            found = text[start : last + 1]  # one past the end of the text is the same
            if start < 0 or not found or found != surface:
                problem = f"expected {surface!r} at {start}–{last}, found {found!r}"
                raise DataError.at(path, line, problem)
            end = start + len(surface)
            spans.append({"start": start, "end": end, "type": task.labels[name]})
        spans.sort(key=lambda span: (span["start"], span["end"]))
        yield {"id": row["id"], "text": text, "entities": spans}


def _places(label: Any, task: ClueTask, path: Path, line: int) -> list[tuple[str, str, int, int]]:
    """Return type, text, first and last character of each entity of a label."""
    try:
        found = [
            (name, surface, int(start), int(last))
            for name, surfaces in label.items()
            for surface, places in surfaces.items()
            for start, last in places
        ]
    except (AttributeError, TypeError, ValueError):
        problem = f'"label" must be {{type: {{text: [[first, last], …]}}}}, found {label!r:.80}'
        raise DataError.at(path, line, problem) from None
    for name in label:
        if name not in task.labels:
            raise DataError.at(path, line, f"unknown type {name!r}", hint=_known(task))
    return found


def _questions(_task: ClueTask, path: Path) -> Iterator[Row]:
    for article in _whole(path, "data"):
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            for question in paragraph["qas"]:
                row = {"id": question["id"], "context": context, "question": question["question"]}
                given = [answer for answer in question.get("answers", ()) if answer["text"].strip()]
                if given:
                    places = (_place(a["text"], a["answer_start"], context) for a in given)
                    row["answers"] = [
                        {"text": answer["text"], "start": place}
                        for answer, place in zip(given, places, strict=True)
                        if place >= 0
                    ]
                    row["reference_texts"] = list(dict.fromkeys(a["text"] for a in given))
                yield row


def _place(answer: str, start: int, context: str) -> int:
    """Return the place of an answer: the given one, else the nearest one, else -1."""
    if context[max(start, 0) :].startswith(answer):
        return max(start, 0)
    places = [match.start() for match in re.finditer(re.escape(answer), context)]
    return min(places, key=lambda place: abs(place - start), default=-1)


def _choices(_task: ClueTask, path: Path) -> Iterator[Row]:
    for turns, questions, document in _whole(path):
        place = f"{path}, document {document}"
        context = "\n".join(_strings({"text": turns}, "text", place))
        for number, question in enumerate(questions):
            choices = _strings(question, "choice", place)
            row = {
                "id": question.get("id", f"{document}-{number}"),
                "context": context,
                "question": question["question"],
                "choices": choices,
            }
            if answer := question.get("answer"):
                if answer not in choices:
                    raise DataError(f"{path}: {row['id']}: {answer!r} is not among the choices")
                row["label"] = choices.index(answer)
            yield row


def _blanks(_task: ClueTask, path: Path) -> Iterator[Row]:
    key = path.with_name(f"{path.stem}_answer.json")
    answers = _whole(key) if key.exists() else None
    for line, passage in read_objects(path):
        choices = _strings(passage, "candidates", f"{path}, line {line}")
        for text in _strings(passage, "content", f"{path}, line {line}"):
            plain = text.translate(_PLAIN)
            for tag in _TAG.findall(plain):
                row = {
                    "id": tag,
                    "group": f"{path.stem}-{line}",
                    "context": _TAG.sub(_OTHER_BLANK, plain.replace(tag, BLANK)),
                    "question": BLANK,
                    "choices": choices,
                }
                if answers is not None:
                    if tag not in answers:
                        raise DataError.at(path, line, f"{key.name} has no answer for {tag}")
                    row["label"] = answers[tag]
                yield row


def _blank(_task: ClueTask, path: Path) -> Iterator[Row]:
    for line, row in _lines(path):
        context = _string(row, "content", path, line)
        choices = _strings(row, "candidates", f"{path}, line {line}")
        found = {"context": context, "question": BLANK, "choices": choices}
        label = {"label": row["answer"]} if "answer" in row else {}
        yield {"id": row["id"], **found, **label}


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield line numbers and objects, each with an ``id``: its own, or its index in the file."""
    for index, (line, row) in enumerate(read_objects(path)):
        yield line, {**row, "id": row.get("id", row.get("idx", index))}


def _whole(path: Path, key: str = "") -> Any:
    """Read a file that is one JSON value; if ``key`` is given, the value of that key of an
    object.
    """
    text = "\n".join(line for _, line in read_lines(path))
    try:
        value = parse_json(text)
    except ValueError as error:
        raise DataError(f"{path}: expected one JSON value: {error}") from None
    if not key:
        return value
    if not isinstance(value, dict) or key not in value:
        raise DataError(f'{path}: expected one JSON object with "{key}"')
    return value[key]


def _string(row: Row, name: str, path: Path, line: int) -> str:
    if not isinstance(text := row.get(name), str):
        found = ", ".join(repr(key) for key in row if key != "id")
        problem = f'expected a string under "{name}", found {text!r:.50} (fields: {found})'
        raise DataError.at(path, line, problem, hint="Is it a file of this task, as released?")
    return text


def _strings(row: Row, name: str, place: str) -> list[str]:
    texts = row.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(
            f'{place}: "{name}" must be a list of strings, found {texts!r:.80}. Is it a file of '
            "this task, as released, and of this version?"
        )
    return texts


def _label(task: ClueTask, row: Row, path: Path, line: int) -> Row:
    label = row.get("label")
    if label is None or label == "":  # as in tests
        if others := [name for name in row if name.endswith("label") and name != "label"]:
            problem = f'expected the label under "label", found {others[0]!r}'
            raise DataError.at(path, line, problem, hint="Is it another version?")
        return {}
    name = label if isinstance(label, str) else json.dumps(label)  # true, 104
    if name not in task.labels:
        problem = f"unknown label {label!r:.50}"
        raise DataError.at(path, line, problem, hint=_known(task))
    return {"label": task.labels[name]}


def _known(task: ClueTask) -> str:
    names = list(task.labels)
    shown = ", ".join(names[:15])
    return f"Known: {shown}{f' and {len(names) - 15} more' if len(names) > 15 else ''}"


_Reader = Callable[[ClueTask, Path], Iterator[Row]]
_READERS: Mapping[Form, _Reader] = {
    "text": _texts,
    "pair": _pairs,
    "keywords": _keywords,
    "coreference": _coreferences,
    "entities": _entities,
    "reading": _questions,
    "choices": _choices,
    "idioms": _blanks,
    "idiom": _blank,
}
