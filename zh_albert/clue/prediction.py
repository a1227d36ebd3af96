"""A model's answers to an official test file, written as a submission."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert.clue.checking import Fault, faults_in
from zh_albert.clue.readers import Row, read_official
from zh_albert.clue.submission import official_labels, official_tests, write_submission
from zh_albert.clue.task import ClueTask
from zh_albert.errors import ConfigError, DataError
from zh_albert.files.plain_files import refuse_same
from zh_albert.inference.loading import load


class Submission(NamedTuple):
    """A written submission file."""

    file: Path
    official_name: str
    answers: int
    guessed: int
    """Rows that the model gave no answer to: every row needs one."""
    faults: list[Fault]
    """The result of ``faults_in``; expected to be empty."""


def predict(
    task: ClueTask,
    model: str,
    data: Path,
    out: Path,
    *,
    version: str | None = None,
    follow: Callable[[Iterator[Any], int], Iterator[Any]] = lambda answers, _: answers,
) -> Submission:
    """Answer an official test file and write the answers in the official form.

    Args:
        task: What the file is a test of.
        model: A bundled name, a folder or a hub id.
        data: The official file, or the folder of the release that holds it.
        out: The file to write, or a folder (one that exists, or a name without an ending): the file
            then has its official name.
        version: Of the test, where there are several, see ``official_tests``.
        follow: Passes the answers on and shows the progress; its second argument is their number.

    Raises:
        ConfigError: If the test has no such version, or ``out`` is no name of a submission, or
            the official file.
        DataError: If the data cannot be read, or the model is one for another task.
    """
    test = official_tests(task, data, version)[0]
    if data.is_dir():
        data = data / test.data
    if out.is_dir() or not out.suffix[1:].isalpha():
        out = out / test.submission
    elif out.suffix != ".json":
        raise ConfigError(f"--out {out}: expected a folder, or a name that ends in .json")
    if not out.parent.is_dir() and out.parent.exists():
        raise ConfigError(f"--out {out}: expected a folder, found the file {out.parent}")
    refuse_same(out, data)
    rows = list(read_official(task, data))
    predictor = load(model)
    if predictor.task != task.trained_as:
        raise DataError(
            f"{task.name}: expected a model for the task {task.trained_as}, found one for "
            f"{predictor.task}; take another model"
        )
    answers = list(follow(_ANSWERS[task.trained_as](task, predictor, rows), len(rows)))
    guessed = [index for index, answer in enumerate(answers) if answer is None]
    for index in guessed:
        answers[index] = _guess(task, rows[index])
    write_submission(task, (row["id"] for row in rows), answers, out)
    faults = faults_in(task, out, data)
    return Submission(out, test.submission, len(answers), len(guessed), faults)


def _labels(task: ClueTask, model: Any, rows: Sequence[Row]) -> Iterator[str | None]:
    if model.kind != "classifier":
        raise DataError(
            f"{task.name}: expected a model that tells classes apart, found {model.kind}"
        )
    official = official_labels(task, model.labels)
    contents = (model.content_of(row, task.name, n) for n, row in enumerate(rows, start=1))
    for answer in model.stream(contents):
        yield None if isinstance(answer, DataError) else official[answer.label]


def _entities(task: ClueTask, model: Any, rows: Sequence[Row]) -> Iterator[list[dict[str, Any]]]:
    official = official_labels(task, model.labels)
    for found in model.stream(row["text"] for row in rows):
        yield [{**asdict(entity), "type": official[entity.type]} for entity in found]


def _passages(_: ClueTask, model: Any, rows: Sequence[Row]) -> Iterator[str | None]:
    for answer in model.stream((row["question"], row["context"]) for row in rows):
        yield None if isinstance(answer, DataError) else answer.text or None


def _choices(task: ClueTask, model: Any, rows: Sequence[Row]) -> Iterator[int | None]:
    # Nothing is asked where there is one choice, or none.
    asked = [(n, row) for n, row in enumerate(rows, start=1) if len(row["choices"]) > 1]
    answers = model.stream(model.content_of(row, task.name, n) for n, row in asked)
    for row in rows:
        answer = next(answers) if len(row["choices"]) > 1 else None
        yield None if answer is None or isinstance(answer, DataError) else answer.index


def _guess(task: ClueTask, row: Row) -> Any:
    """Return some answer of the right form."""
    match task.trained_as:
        case "reading":
            return row["context"].strip()[:10]
        case "choice":
            return 0
        case _:
            return next(iter(task.labels))


_ANSWERS: Mapping[str, Callable[[ClueTask, Any, Sequence[Row]], Iterator[Any]]] = {
    "classification": _labels,
    "pair": _labels,
    "ner": _entities,
    "reading": _passages,
    "choice": _choices,
}
