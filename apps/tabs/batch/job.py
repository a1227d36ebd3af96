"""The job of the tab for whole files: the rows of a table, each with a model's answer.

Rows are read, answered and written in chunks, so memory does not depend on their number.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from apps.jobs import TableJob
from apps.models import BulkModel
from apps.tables import HEAD_ROWS, RefusedError, Row, Table, read_rows
from apps.tabs.batch.strings import BatchStrings
from zh_albert.errors import DataError
from zh_albert.files.notes import listening
from zh_albert.inference.answered_tables import answered_table
from zh_albert.tasks.classification.predictor import Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.texts import has_content

_CHUNK = 256  # rows answered together; progress and stops come in these steps
_OBJECTS = (".json", ".jsonl", ".ndjson")


def fields_of(model: BulkModel) -> tuple[str, ...]:
    """Return the fields that a model reads, named as in its task files."""
    if isinstance(model, Reader):
        return ("question", "context")
    if not isinstance(model, Tagger) and model.pairs:
        return ("text_a", "text_b")
    return ("text",)


class BatchJob(TableJob):
    """A model's answers to every row of a table; its outputs are what ``predict --out`` writes.

    They are a workbook, and CSV, or JSON Lines of a file of objects.

    Args:
        strings: The tab's strings, for rows that cannot be answered.
        table: The table.
        columns: The columns of the model's fields, one each.
        name: The model's name; the outputs are named after it.
        model: The model.

    Attributes:
        model: The model.
        done: Rows answered so far.
        unanswered: Those of them that could not be.
        counts: How often each label was given; for a tagger each type, for a reader an answer or
            none, for values each whole step of the scale.
        head: The first rows, each with the fields of its answer.
        cuts_texts: Whether the workbook has texts that were too long for it.
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
        self.head: list[tuple[Row, Row]] = []
        self.cuts_texts = False
        self._strings = strings
        kinds = (".xlsx", ".jsonl" if table.path.suffix.lower() in _OBJECTS else ".csv")
        self._names = [f"{table.path.stem}-{Path(name).name}{kind}" for kind in kinds]
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since it began; once it has ended, the seconds it took."""
        return (self._ended or time.monotonic()) - self.started if self.started else 0.0

    def work(self) -> None:
        """Write the outputs; each appears under its name when it is whole."""
        paths = [self.folder / name for name in self._names]
        label_zh, columns = self.model.metadata.get("label_zh"), list(self.table.columns)
        tables = [answered_table(path, label_zh, columns=columns) for path in paths]
        with listening() as notes, ExitStack() as written:
            files = [written.enter_context(table) for table in tables]
            for row, answer in self._answered():
                self.check()
                for file in files:
                    file.write(row, answer)
                if len(self.head) < HEAD_ROWS:
                    self.head.append((row if isinstance(row, dict) else {}, answer))
                self.done += 1
        # The notes of reading were shown with the file.
        self.cuts_texts = any(note.kind == "cut_text" for note in notes)
        self._ended = time.monotonic()
        self.outputs = paths

    def _answered(self) -> Iterator[tuple[Row | RefusedError, Row]]:
        rows = (row for _, row in read_rows(self._strings.page.tables, self.table.path))
        while chunk := list(itertools.islice(rows, _CHUNK)):
            self.check()
            texts = [self._texts(row) for row in chunk]
            contents: list[Any] = [one[0] if len(one) == 1 else one for one in texts]
            for row, read, answer in zip(chunk, texts, self.model.stream(contents), strict=True):
                yield row, self._fields(row, read, answer)

    def _texts(self, row: Row | RefusedError) -> tuple[str, ...]:
        """Return what the model reads of a row; nothing of a damaged one."""
        found = row if isinstance(row, dict) else {}
        values = (found.get(column) for column in self.columns)
        return tuple(value if isinstance(value, str) else "" for value in values)

    def _fields(self, row: Row | RefusedError, texts: Sequence[str], answer: Any) -> Row:
        """Return the fields of a row's answer, and count its labels."""
        if not isinstance(answer, DataError) and all(map(has_content, texts)):
            given = self.model.row(answer)
            self.counts.update(self._labels(given))
            return given
        self.unanswered += 1
        strings = self._strings
        reason = strings.no_text if len(texts) == 1 else strings.text_missing
        if isinstance(row, RefusedError):
            reason = row.notice.problem
        return {**self.model.unanswered, "error": reason}

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
