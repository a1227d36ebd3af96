"""The job of the tab for whole files: the rows of a table, each with a model's answer.

Rows are read, answered and written in chunks, so memory does not depend on their number.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from apps.jobs import TableJob
from apps.models import BulkModel
from apps.tables import HEAD_ROWS, Row, Table, as_cell, read_rows
from apps.tabs.batch.strings import BatchStrings
from zh_albert.errors import DataError
from zh_albert.tables.cells import harmless
from zh_albert.tables.delimited import is_csv
from zh_albert.tasks.classification.predictor import Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.texts import has_content
from zh_albert.textio import atomic_write, encode_json

_CHUNK = 256  # rows answered together; progress and stops come in these steps


def fields_of(model: BulkModel) -> tuple[str, ...]:
    """Return the fields that a model reads, named as in its task files."""
    if isinstance(model, Reader):
        return ("question", "context")
    if not isinstance(model, Tagger) and model.pairs:
        return ("text_a", "text_b")
    return ("text",)


class BatchJob(TableJob):
    """A model's answers to every row of a table; its output is the table with new columns.

    Args:
        strings: The tab's strings, for rows that cannot be answered.
        table: The table.
        columns: The columns of the model's fields, one each.
        name: The model's name; it begins the names of the new columns.
        model: The model.

    Attributes:
        model: The model.
        done: Rows answered so far.
        unanswered: Those of them without a text.
        counts: How often each label was given; for a tagger each type, for a reader an answer or
            none, for values each whole step of the scale.
        head: The first rows with their answers.
        new_columns: The columns that are added.
        main_column: The most important of these.
        shown_columns: Those that the page shows: without scores and errors.
    """

    def __init__(
        self,
        strings: BatchStrings,
        table: Table,
        columns: Sequence[str],
        name: str,
        model: BulkModel,
    ) -> None:
        super().__init__(table, columns, name)
        self.model = model
        self.done = self.unanswered = 0
        self.counts: Counter[str] = Counter()
        self.head: list[Row] = []
        self._strings = strings
        self._names = {
            key: _unused(f"{name}_{key}", table.columns) for key in (*model.unanswered, "error")
        }
        self.new_columns = list(self._names.values())
        self.main_column = self._names.get("text", self.new_columns[0])
        spare = ("scores", "error")
        self.shown_columns = [new for key, new in self._names.items() if key not in spare]
        self._file_name = f"{table.path.stem}-{name}{table.path.suffix.lower()}"
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since it began; once it has ended, the seconds it took."""
        return (self._ended or time.monotonic()) - self.started if self.started else 0.0

    def work(self) -> None:
        """Write the output; it appears under its name when it is whole."""
        output = self.folder / self._file_name
        with atomic_write(output) as file:
            write = _writer(file, self.table, self.new_columns)
            for row, answer in zip(self._rows(), self._answers(), strict=True):
                self.check()
                full = row | self._answer_of(self._texts(row), answer)
                write(full)
                if len(self.head) < HEAD_ROWS:
                    self.head.append(full)
                self.done += 1
        self._ended = time.monotonic()
        self.output = output

    def _answers(self) -> Iterator[Any]:
        contents = (self._content(row) for row in self._rows())
        while chunk := list(itertools.islice(contents, _CHUNK)):
            self.check()
            yield from self.model.stream(chunk)

    def _rows(self) -> Iterator[Row]:
        return (row for _, row in read_rows(self._strings.page.tables, self.table.path))

    def _texts(self, row: Row) -> tuple[str, ...]:
        values = (row.get(column) for column in self.columns)
        return tuple(value if isinstance(value, str) else "" for value in values)

    def _content(self, row: Row) -> Any:
        """Return what the model reads of a row: a text, or two."""
        texts = self._texts(row)
        return texts[0] if len(texts) == 1 else texts

    def _answer_of(self, texts: Sequence[str], answer: Any) -> Row:
        """Return the new columns of a row, and count its labels."""
        if isinstance(answer, DataError) or not all(map(has_content, texts)):
            self.unanswered += 1
            strings = self._strings
            missing = strings.no_text if len(texts) == 1 else strings.text_missing
            given = {**self.model.unanswered, "error": missing}
        else:
            given = {**self.model.row(answer), "error": None}
            self.counts.update(self._labels(given))
        return {self._names[key]: value for key, value in given.items()}

    def _labels(self, given: Row) -> list[str]:
        match self.model:
            case Tagger():
                return [entity["type"] for entity in given["entities"]]
            case Reader():
                return ["answer" if given["text"] else "none"]
            case Regressor():
                low = math.floor(given["value"])
                return [f"{low}–{low + 1}"]
        return given["labels"] if "labels" in given else [given["label"]]


def _unused(name: str, taken: dict[str, int]) -> str:
    """Return the name of a new column, with underscores where it is taken.

    >>> _unused("news_label", {"text": 1}), _unused("news_label", {"news_label": 1})
    ('news_label', 'news_label_')
    """
    while name in taken:
        name += "_"
    return name


def _writer(file: IO[bytes], table: Table, new: list[str]) -> Callable[[Row], object]:
    """Return a function that writes a row in the format of its table."""
    if not is_csv(table.path):
        return lambda row: file.write(encode_json(row) + b"\n")
    with table.path.open("rb") as original:  # Excel needs the mark, and puts it there
        marked = original.read(3) == codecs.BOM_UTF8
    if marked:
        file.write(codecs.BOM_UTF8)
    text = codecs.getwriter("utf-8")(file, "backslashreplace")
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(cells: Sequence[str]) -> None:
        # Python before 3.13 leaves a carriage return without quotes, and then cannot read it.
        lines = quoted if any("\r" in cell for cell in cells) else plain
        lines.writerow(map(harmless, cells))

    columns = [*table.columns, *new]
    write(columns)
    return lambda row: write([as_cell(row.get(column)) for column in columns])
