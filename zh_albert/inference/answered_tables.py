"""A file of rows with their answers: CSV, a workbook, JSON Lines, or vectors alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from zh_albert.errors import ConfigError
from zh_albert.files.notes import FileNote, tell
from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.inference.vectors_file import VectorsFile
from zh_albert.tables.cells import harmless
from zh_albert.tables.workbook import CellText
from zh_albert.tasks.predictor import Predictor

Row = dict[str, Any]
_LONGEST = 32_767  # characters of a workbook's cell
_MOST_ROWS = 1 << 20  # of a sheet
_EXACT = 10**15  # from here on a spreadsheet rounds whole numbers
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # would be read as a character
_NOT_XML = re.compile("[\\0-\\x08\\v\\f\\x0e-\\x1f\\ufffe\\uffff]|\\r(?=\\n)")
_LISTS: Mapping[str, Callable[[Any], str]] = {  # field of an answer → its cell
    "entities": lambda found: "; ".join(f"{one['text']}/{one['type']}" for one in found),
    "labels": "; ".join,
    "words": " ".join,
    "spots": lambda spots: "; ".join(_texts(spot["candidates"]) for spot in spots),
    "answers": lambda ranked: _texts(ranked[1:]),  # the best has columns of its own
}


class AnsweredTable:
    """Rows as they were read, with the fields of their answers behind them.

    Of an answer a table has what fits into cells: a label, its score, a value, the passage; lists
    as text: entities as ``杭州/LOC; 李华/PER``, words with blanks between, the candidates of each
    mask as ``公园 / 海边; 花``, and so the further answers to a question.

    Args:
        write_cells: Writes the cells of a row, the names of the columns first.
        label_zh: See ``answered_table``.
        columns: See ``answered_table``.
    """

    def __init__(
        self,
        write_cells: Callable[[Sequence[Any]], object],
        label_zh: Mapping[str, str],
        columns: Sequence[str],
    ) -> None:
        self._write, self._label_zh = write_cells, label_zh
        self._columns = list(columns)
        self._answers: dict[str, str] = {}  # field of an answer → name of its column
        self._waiting: list[Row] = []  # answers to damaged rows before that
        self._complete = True  # no field was left out

    def write(self, row: Any, answer: Row) -> None:
        """Add a row."""
        given, found = _given(row), _flat(_named(answer, self._label_zh))
        self._columns = self._columns or list(given)
        if not self._columns:
            self._waiting.append(found)
            return
        if not self._answers:
            self._answers = {name: _apart(name, self._columns) for name in [*found, "error"]}
            self._write([*self._columns, *self._answers.values()])
            self._write_waiting()
        self._write_row(given, found)

    def finish(self) -> None:
        """Write what waits for a row that could be read, if none came."""
        if self._waiting and not self._answers:
            names = dict.fromkeys(name for found in self._waiting for name in found)
            self._answers = {name: name for name in names}
            self._write([*self._answers])
            self._write_waiting()

    def _write_waiting(self) -> None:
        for damaged in self._waiting:
            self._write_row({}, damaged)

    def _write_row(self, given: Row, found: Row) -> None:
        lost = [n for n in given if n not in self._columns and not _is_empty(given[n])]
        if lost and self._complete:
            self._complete = False
            said = f"fields that the first row lacks are left out of the table: {lost[0]!r:.80}"
            how = "give a file instead of standard input, or write --out FILE.jsonl"
            tell(FileNote(f"{said} and maybe others; {how}", "lost_field"))
        cells = [given.get(name) for name in self._columns]
        self._write(list(map(_cell, cells + [found.get(name) for name in self._answers])))


class _Lines:
    """JSON Lines: each row's fields, and its answer as it is."""

    def __init__(self, file: IO[bytes], label_zh: Mapping[str, str]) -> None:
        self._file, self._label_zh = file, label_zh

    def write(self, row: Any, answer: Row) -> None:
        given = _given(row)
        answer = _named(answer, self._label_zh)
        named = {_apart(name, given): value for name, value in answer.items()}
        self._file.write(encode_json(given | named) + b"\n")


@contextmanager
def answered_table(
    path: Path,
    label_zh: Mapping[str, str] | None = None,
    *,
    columns: Sequence[str] = (),
    kinds: Sequence[str] = Predictor.written_as,
) -> Iterator[AnsweredTable | _Lines | VectorsFile]:
    """Write a table of answers, completely or not at all.

    Args:
        path: The file.
        label_zh: Chinese names of labels: a further field of each row; of a bundled model its
            ``metadata["label_zh"]``.
        columns: Names of the rows' fields, of a table its columns; none: those of the first row
            that could be read.
        kinds: Endings that the answers can be written as; see ``Predictor.written_as``.

    Raises:
        ConfigError: If the name has none of these endings.
    """
    kind = path.suffix.lower()
    if kind not in kinds:
        raise ConfigError(f"--out {path}: expected a file that ends in {', '.join(kinds)}")
    names = label_zh or {}
    with atomic_write(path) as file:
        if kind == ".jsonl":
            yield _Lines(file, names)
        elif kind == ".npy":
            vectors = VectorsFile(file)
            yield vectors
            vectors.finish()
        elif kind == ".csv":
            # Excel takes a file for UTF-8 only if it begins with the mark.
            text = io.TextIOWrapper(file, "utf-8-sig", "backslashreplace", newline="")
            writer = csv.writer(text, lineterminator="\r\n")
            table = AnsweredTable(
                lambda cells: writer.writerow(map(_harmless, cells)), names, columns
            )
            yield table
            table.finish()
            text.flush()
            text.detach()
        else:
            sheets = _Sheets()
            try:
                table = AnsweredTable(sheets.append, names, columns)
                yield table
                table.finish()
            except BaseException:
                sheets.discard()
                raise
            sheets.book.save(file)


class _Sheets:
    """The sheets of a workbook that is written; a further one begins when one is full."""

    def __init__(self) -> None:
        import openpyxl  # noqa: PLC0415  (takes a while)

        self.book = openpyxl.Workbook(write_only=True)
        self._cell_type = openpyxl.cell.WriteOnlyCell
        self._sheets: list[Any] = []
        self._names: list[Any] = []
        self._rows = 0

    def append(self, cells: Sequence[Any]) -> None:
        """Add a row; the first one names the columns of every sheet."""
        values = [_of_workbook(cell) for cell in cells]
        self._names = self._names or values
        if self._rows % _MOST_ROWS == 0:
            title = f"answers {len(self._sheets) + 1}" if self._sheets else "answers"
            self._sheets.append(self.book.create_sheet(title))
            if self._rows:
                self._write(self._names)
        self._write(values)

    def _write(self, values: Sequence[Any]) -> None:
        self._sheets[-1].append([self._cell(value) for value in values])
        self._rows += 1

    def _cell(self, value: Any) -> Any:
        """Return a cell whose text no spreadsheet runs, also after it was edited."""
        if not isinstance(value, str) or (harmless(value) == value and value[:1] != "#"):
            return value  # of texts, openpyxl takes those with "=" or "#" for something else
        cell = self._cell_type(self._sheets[-1], value)
        cell.data_type, cell.quotePrefix = "s", True
        return cell

    def discard(self) -> None:
        """Delete the sheets' temporary files, which else stay until the process ends."""
        for sheet in self._sheets:
            sheet.close()
            sheet._writer.cleanup()


def _given(row: Any) -> Row:
    """Return what the file has in a row; of a damaged one nothing."""
    if isinstance(row, str):
        return {"text": row}
    given: Row = getattr(row, "own", row) if isinstance(row, dict) else {}
    return given


def _apart(name: str, given: Container[str]) -> str:
    """Return a name for a field of an answer that no column of the input has."""
    while name in given:
        name = f"predicted_{name}"
    return name


def _named(answer: Row, label_zh: Mapping[str, str]) -> Row:
    """Return an answer with the Chinese name behind its label."""
    if not label_zh or "label" not in answer:
        return answer
    fields: Row = {}
    for name, value in answer.items():
        fields[name] = value
        if name == "label":
            fields["label_zh"] = label_zh.get(value, value)
    return fields


def _flat(answer: Row) -> Row:
    """Return the fields of an answer that a table shows."""
    flat: Row = {}
    for name, value in answer.items():
        if not isinstance(value, dict | list):
            flat[name] = value
        elif name in _LISTS:
            flat[name] = _LISTS[name](value)
    return flat


def _texts(found: Sequence[Row]) -> str:
    return " / ".join(one["text"] for one in found if one["text"])


def _is_empty(value: Any) -> bool:
    return value is None or value == ""


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, str | int | float) else encode_json(value).decode()


def _harmless(cell: Any) -> Any:
    return harmless(cell) if isinstance(cell, str) else cell


def _of_workbook(cell: Any) -> Any:
    r"""Return a value that a workbook can hold.

    Characters that XML cannot hold are blanks, so that offsets stay true: also ``\r`` in ``\r\n``.
    A number or a date that was read from a workbook is written as such.
    """
    if isinstance(cell, CellText):
        cell = cell.value
    if isinstance(cell, int) and abs(cell) >= _EXACT:
        return str(cell)
    if not isinstance(cell, str):
        return cell
    kept = _NOT_XML.sub(" ", cell).replace("\r", "\n").encode("utf-8", "replace").decode()
    if len(kept) > _LONGEST:
        tell(FileNote(f"a text is cut to {_LONGEST:,} characters, the most of a cell", "cut_text"))
    return _ESCAPE.sub("_x005F_", kept[:_LONGEST])
