"""Submissions: files of answers in the form that the evaluation of a CLUE task accepts.

Sources: CLUE's instructions for submission (2021-09-04), the examples in CLUEbenchmark/CLUENER2020
and in CLUEbenchmark/FewCLUE (``resources``), the baselines in CLUEbenchmark/CLUE (ChID, C3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zh_albert.clue.task import ClueTask, Form, OfficialTest
from zh_albert.errors import ConfigError, DataError
from zh_albert.files.textio import atomic_write, encode_json

WHOLE: frozenset[Form] = frozenset({"reading", "idioms"})
"""Forms whose submission is one JSON object, id → answer; all others have one object per line."""


def official_tests(task: ClueTask, data: Path, version: str | None) -> list[OfficialTest]:
    """Return the test sets that a file may be, the current version first.

    Args:
        task: Its task.
        data: The file, named as in the release, or the folder of the release.
        version: If given, only this one, whatever the file's name.

    Raises:
        ConfigError: If there is no such version.
    """
    every = list(task.tests.values())
    if version is None:
        return [test for test in every if test.data == data.name] or every
    if version not in task.tests:
        known = ", ".join(repr(name) for name in task.tests)
        raise ConfigError(f"{task.name} has no test version {version!r}; known: {known}")
    return [task.tests[version]]


def official_labels(task: ClueTask, known: Sequence[str]) -> dict[str, str]:
    """Return the official label of each label of a model.

    The model may have this project's names or the official labels.

    Raises:
        DataError: If it has a label that the task does not have.
    """
    by_name = {name: label for label, name in task.labels.items()}
    found = {}
    for name in known:
        label = by_name.get(name, name if name in task.labels else None)
        if label is None:
            raise DataError(
                f"the model has the label {name!r}, which is no label of {task.name} "
                f"({', '.join(list(by_name)[:6])} …); was it trained for this task?"
            )
        found[name] = label
    return found


def write_submission(task: ClueTask, ids: Iterable[Any], answers: Iterable[Any], out: Path) -> None:
    """Write a submission atomically.

    Args:
        task: Task of the answers.
        ids: Of the test's rows, in order.
        answers: One for each row: an official label; the index of a choice; a text; entities as
            ``{"start", "end", "type", "text"}``.
        out: The file.
    """
    pairs = zip(ids, answers, strict=True)
    with atomic_write(out) as file:
        if task.form in WHOLE:
            file.write(encode_json(dict(pairs), indent=1) + b"\n")
            return
        for identity, answer in pairs:
            file.write(encode_json({"id": identity, **_line(task, answer)}) + b"\n")


def _line(task: ClueTask, answer: Any) -> dict[str, Any]:
    match task.form:
        case "entities":
            return {"label": _by_type(answer)}
        case "choices":
            return {"label": str(answer)}
        case "idiom":
            return {"answer": answer}
        case _:
            named = {"label_desc": task.labels[answer]} if task.described else {}
            return {"label": answer, **named}


def _by_type(entities: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[list[int]]]]:
    found: dict[str, dict[str, list[list[int]]]] = {}
    for entity in entities:
        surfaces = found.setdefault(entity["type"], {})
        # The end is inclusive.
        surfaces.setdefault(entity["text"], []).append([entity["start"], entity["end"] - 1])
    return found
