"""A table through a model: the same rows in the same order, with the model's answers beside them.

Rows are read, answered and written in pools: memory does not depend on their number.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from apps.jobs import Job
from apps.tables import HEAD_ROWS, Row, Table, as_cell, read_rows
from apps.texts.languages import Language
from zh_albert.errors import DataError
from zh_albert.tasks.classification.predictor import Classifier, MultiLabelClassifier, Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.texts import has_content
from zh_albert.textio import atomic_write, encode_json, is_csv

BulkModel = Classifier | MultiLabelClassifier | Regressor | Tagger | Reader


def fields_of(model: BulkModel) -> tuple[str, ...]:
    """Return what a model reads of a row: the fields of its task files."""
    if isinstance(model, Reader):
        return ("question", "context")
    if not isinstance(model, Tagger) and model.pairs:
        return ("text_a", "text_b")
    return ("text",)


_POOL = 256  # rows answered together: so often progress is told, and a stop heard


class BatchJob(Job):
    """Answers every row of a table.

    Args:
        say: The page's language, for what rows cannot be answered.
        table: What to read.
        columns: Where the model's fields stand, one each.
        name: The model's name; it begins the names of the new columns.
        model: Answers.

    Attributes:
        done: Rows answered so far.
        unanswered: Those of them without a text.
        model: The model.
        counts: How often each label was given; of a tagger each type, of a reader an answer or
            none, of values each whole step of the scale.
        head: The first rows with their answers.
        result: The file, once it is whole.
        new_columns: What was added.
        main_column: The one of these that tells most.
        shown_columns: These, without what takes much room or only tells of failures.
    """

    def __init__(
        self, say: Language, table: Table, columns: Sequence[str], name: str, model: BulkModel
    ) -> None:
        super().__init__()
        self.table, self.columns, self.name, self.model = table, tuple(columns), name, model
        self.done = self.unanswered = 0
        self.counts: Counter[str] = Counter()
        self.head: list[Row] = []
        self.result: Path | None = None
        self._say = say
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
        """Seconds since it began; once it has ended, those that it took."""
        return (self._ended or time.monotonic()) - self.started if self.started else 0.0

    def work(self) -> None:
        """Write the result; it appears under its name when it is whole."""
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
        self.result = output

    def _answers(self) -> Iterator[Any]:
        contents = (self._content(row) for row in self._rows())
        while pool := list(itertools.islice(contents, _POOL)):
            self.check()
            yield from self.model.stream(pool)

    def _rows(self) -> Iterator[Row]:
        return (row for _, row in read_rows(self._say, self.table.path))

    def _texts(self, row: Row) -> tuple[str, ...]:
        values = (row.get(column) for column in self.columns)
        return tuple(value if isinstance(value, str) else "" for value in values)

    def _content(self, row: Row) -> Any:
        """Return what the model reads: a text, or two."""
        texts = self._texts(row)
        return texts[0] if len(texts) == 1 else texts

    def _answer_of(self, texts: Sequence[str], answer: Any) -> Row:
        """Return the new columns of a row, and count what was answered."""
        if isinstance(answer, DataError) or not all(map(has_content, texts)):
            self.unanswered += 1
            missing = self._say.batch.no_text if len(texts) == 1 else self._say.batch.text_missing
            given = {**dict(self.model.unanswered), "error": missing}
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
    """Return a column's name, with as many signs behind it as it takes to be new.

    >>> _unused("news_label", {"text": 1}), _unused("news_label", {"news_label": 1})
    ('news_label', 'news_label_')
    """
    while name in taken:
        name += "_"
    return name


def _writer(file: IO[bytes], table: Table, new: list[str]) -> Callable[[Row], None]:
    """Return what writes a row in the form of the table it comes from."""
    if not is_csv(table.path):
        return lambda row: _write(file, encode_json(row) + b"\n")
    with table.path.open("rb") as original:  # Excel needs the mark, and puts it there
        marked = original.read(3) == codecs.BOM_UTF8
    line = io.StringIO()
    cells = csv.writer(line, lineterminator="\n")

    def write(values: list[Any]) -> None:
        cells.writerow(map(as_cell, values))
        _write(file, line.getvalue().encode("utf-8", "backslashreplace"))
        line.seek(0)
        line.truncate()

    columns = [*table.columns, *new]
    _write(file, codecs.BOM_UTF8 if marked else b"")
    write(list(columns))
    return lambda row: write([row.get(column) for column in columns])


def _write(file: IO[bytes], data: bytes) -> None:
    file.write(data)
