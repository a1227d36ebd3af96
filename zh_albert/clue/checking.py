"""Validation of submissions, before the evaluation rejects them or silently counts zero."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert.clue.readers import Row, read_official
from zh_albert.clue.submission import WHOLE, official_tests
from zh_albert.clue.task import ClueTask
from zh_albert.errors import DataError
from zh_albert.files.encodings import refuse_packed
from zh_albert.files.plain_files import read_plain
from zh_albert.files.textio import encode_json


class Fault(NamedTuple):
    """One fault of a submission.

    Attributes:
        line: Line of the submission; None: the file as a whole.
        problem: What was expected and what was found.
    """

    line: int | None
    problem: str


class SubmittedAnswer(NamedTuple):
    """One answer, as found in a submission."""

    line: int | None
    identity: Any
    value: dict[str, Any]


def check(task: ClueTask, file: Path, data: Path, *, version: str | None = None) -> list[Fault]:
    """Return all faults of a submission: those of its name, and those of ``faults_in``.

    Args:
        task: Task of the submission.
        file: The submission.
        data: The official test file, or the folder of the release.
        version: Of the test; by default determined by the file names.

    Raises:
        ConfigError: If there is no such version.
        DataError: If the test file or the submission cannot be read.
    """
    tests = official_tests(task, data, version)
    names = [test.submission for test in tests]
    if data.is_dir():
        data = data / tests[names.index(file.name) if file.name in names else 0].data
    faults = faults_in(task, file, data)
    if file.name not in names:
        wanted = " or ".join(names[:2])
        faults.insert(0, Fault(None, f"the file must be named {wanted}, found {file.name}"))
    return faults


def faults_in(task: ClueTask, file: Path, data: Path) -> list[Fault]:
    """Return the faults inside a submission, in the order of its lines.

    Raises:
        DataError: If the test file or the submission cannot be read.
    """
    rows = {str(row["id"]): row for row in read_official(task, data)}
    try:
        raw = read_plain(file)
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from None
    refuse_packed(raw, file)
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return [Fault(1, "UTF-16, expected UTF-8; for example: iconv -f UTF-16 -t UTF-8")]
    faults = []
    if raw.startswith(codecs.BOM_UTF8):
        faults.append(Fault(1, "begins with a byte-order mark; save it as UTF-8 without one"))
        raw = raw.removeprefix(codecs.BOM_UTF8)
    answers = list(_one_object(raw, faults) if task.form in WHOLE else _lines(raw, faults))
    faults += _wrong_ids(answers, list(rows))
    if task.form not in WHOLE:  # keys of an object have no order
        faults += _wrong_order(answers, list(rows))
    problems_of = _PROBLEMS.get(task.trained_as, _label_problems)
    for answer in answers:
        if (row := rows.get(str(answer.identity))) is not None:
            faults += [Fault(answer.line, text) for text in problems_of(task, answer.value, row)]
    return sorted(faults, key=lambda fault: fault.line or 0)


def _lines(raw: bytes, faults: list[Fault]) -> Iterator[SubmittedAnswer]:
    """Yield the answers of a file with one object per line."""
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            if number < len(lines):  # nothing after the last line end is no line
                faults.append(Fault(number, "an empty line; the evaluation counts lines"))
            continue
        repeated: list[str] = []
        value = _decoded(line, number, faults, repeated)
        if value is None:
            continue
        faults.extend(Fault(number, f"{name!r} occurs twice") for name in repeated)
        if not isinstance(value, dict):
            found = type(value).__name__
            faults.append(Fault(number, f"expected one JSON object a line, found a {found}"))
        elif not _is_id(value.get("id")):
            found = (
                repr(value.get("id")) if "id" in value else f"fields {', '.join(map(repr, value))}"
            )
            faults.append(Fault(number, f'expected "id", a number or string, found {found:.80}'))
        else:
            yield SubmittedAnswer(number, value["id"], value)


def _one_object(raw: bytes, faults: list[Fault]) -> Iterator[SubmittedAnswer]:
    """Yield the answers of a file that is one object, id → answer."""
    repeated: list[str] = []
    value = _decoded(raw, None, faults, repeated)
    if value is None:
        return
    if not isinstance(value, dict):
        faults.append(Fault(None, f"expected one JSON object, found a {type(value).__name__}"))
        return
    faults.extend(Fault(None, f"id {name!r} has several answers") for name in repeated)
    for (name, answer), line in zip(value.items(), _lines_of(raw, value), strict=True):
        yield SubmittedAnswer(line, name, {"answer": answer})


def _decoded(raw: bytes, number: int | None, faults: list[Fault], repeated: list[str]) -> Any:
    """Return the JSON value of some bytes; None, with a fault, if they are invalid or null.

    Names that an object has more than once are added to ``repeated``.
    """

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in found)
        repeated.extend(name for name, count in counts.items() if count > 1)
        return dict(found)

    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=pairs)
        if value is None:
            faults.append(Fault(number, "expected a JSON object, found null"))
        return value
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + (number or 1)
        faults.append(Fault(line, f"not UTF-8 (byte 0x{raw[error.start]:02x})"))
    except json.JSONDecodeError as error:
        line = number or error.lineno
        faults.append(Fault(line, f"not JSON: {error.msg} at column {error.colno}"))
    except (ValueError, RecursionError) as error:
        faults.append(Fault(number, f"not JSON that can be read: {error}"))
    return None


def _wrong_ids(answers: Sequence[SubmittedAnswer], expected: Sequence[str]) -> Iterator[Fault]:
    known, seen = set(expected), dict[str, int | None]()
    for answer in answers:
        identity = str(answer.identity)
        if identity not in known:
            yield Fault(answer.line, f"id {answer.identity!r} is not in the test file")
        elif identity in seen:
            yield Fault(
                answer.line, f"id {answer.identity!r} was answered in line {seen[identity]}"
            )
        seen.setdefault(identity, answer.line)
    if missing := [identity for identity in expected if identity not in seen]:
        shown = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        yield Fault(None, f"no answer for {len(missing)} ids: {shown}")
    if len(answers) != len(expected):
        yield Fault(None, f"expected {len(expected)} answers, found {len(answers)}")


def _wrong_order(answers: Sequence[SubmittedAnswer], expected: Sequence[str]) -> Iterator[Fault]:
    """Yield the first answer that is not in the order of the test file."""
    known, seen = set(expected), dict[str, int | None]()
    for answer in answers:
        seen.setdefault(str(answer.identity), answer.line)
    given = [identity for identity in seen if identity in known]
    order = (identity for identity in expected if identity in seen)
    for identity, there in zip(given, order, strict=True):
        if identity != there:
            yield Fault(
                seen[identity], f"expected id {there} as in the test file, found {identity}"
            )
            return


def _label_problems(task: ClueTask, value: Mapping[str, Any], _row: Row) -> Iterator[str]:
    label = value.get("label")
    if "label" not in value:
        yield f'expected "label", found fields {", ".join(map(repr, value))}'
    elif not isinstance(label, str):
        yield f"the label must be a string, found {label!r:.50}"
    elif label not in task.labels:
        official = next((known for known, name in task.labels.items() if name == label), None)
        hint = f"; its official label is {official!r}" if official else ""
        yield f"unknown label {label!r:.50}{hint}"
    elif task.described and value.get("label_desc", task.labels[label]) != task.labels[label]:
        yield f"label {label} is {task.labels[label]}, label_desc is {value['label_desc']!r:.50}"


def _choice_problems(task: ClueTask, value: Mapping[str, Any], row: Row) -> Iterator[str]:
    field = "label" if task.form == "choices" else "answer"
    choice, count = value.get(field), len(row["choices"])
    if field == "label" and isinstance(choice, str) and choice.isdecimal() and len(choice) < 9:
        choice = int(choice)  # C3's evaluation accepts both
    if type(choice) is not int:
        yield f'"{field}" must be the number of a choice, found {choice!r:.50}'
    elif not 0 <= choice < count:
        yield f"the choices are 0 to {count - 1}, found {choice}"


def _reading_problems(_task: ClueTask, value: Mapping[str, Any], row: Row) -> Iterator[str]:
    answer = value["answer"]
    if not isinstance(answer, str):
        yield f"the answer to {row['id']} must be a string, found {answer!r:.50}"
    elif not answer.strip():
        yield f"the answer to {row['id']} is empty"
    elif answer not in row["context"]:
        yield f"the answer to {row['id']} is not in its context: {answer!r:.50}"


def _entity_problems(task: ClueTask, value: Mapping[str, Any], row: Row) -> Iterator[str]:
    found, text = value.get("label"), row["text"]
    if not isinstance(found, dict) or not all(isinstance(s, dict) for s in found.values()):
        yield f'"label" must be {{type: {{surface: [[start, last], …]}}}}, found {found!r:.50}'
        return
    for name, surfaces in found.items():
        if name not in task.labels:
            yield f"unknown type {name!r:.50}"
        for surface, places in surfaces.items():
            for place in places if isinstance(places, list) and places else [places]:
                if problem := _place_problem(surface, place, text):
                    yield problem


def _place_problem(surface: str, place: Any, text: str) -> str:
    match place:
        case [int(start), int(last)] if 0 <= start <= last < len(text):
            if text[start : last + 1] == surface:
                return ""
            hint = "; the end is inclusive" if text[start:last] == surface else ""
            return f"{start}–{last} is {text[start : last + 1]!r:.50}, not {surface!r:.50}{hint}"
        case [int(start), int(last)]:
            hint = "; the end is inclusive" if text[start:last] == surface else ""
            return f"{start}–{last} is outside the text of {len(text)} characters{hint}"
        case _:
            return f"{surface!r:.50}: a place must be [start, last], found {place!r:.50}"


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _lines_of(raw: bytes, names: Iterable[str]) -> Iterator[int | None]:
    """Yield the line of each key, in the file's order; None if it is not there as plain text."""
    place, line = 0, 1
    for name in names:
        found = raw.find(encode_json(name), place)
        if found < 0:
            yield None
            continue
        line += raw.count(b"\n", place, found)
        place = found
        yield line


_PROBLEMS: Mapping[str, Callable[[ClueTask, Mapping[str, Any], Row], Iterator[str]]] = {
    "choice": _choice_problems,
    "reading": _reading_problems,
    "ner": _entity_problems,
}
