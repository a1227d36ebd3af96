"""What is wrong with a table, in a form that the page can say in other languages."""

from __future__ import annotations

from pathlib import Path

from zh_albert.errors import DataError

NAMES_EXPECTED = "expected a name for each column, no two alike, as the first row"


class TableError(DataError):
    """A file is no table that can be read, or a row of it is not.

    Attributes:
        kind: "bad_csv" (a quote, or a cell without end), "old_mac" (its ends of lines), "ragged" (a
            row of another length than the header), "bad_header", "annotation" (of a tool, in
            another form), "large_array" (of JSON, beyond the limit); of a workbook also
            "old_workbook", "no_workbook", "bad_workbook", "large_workbook" or "empty_workbook".
        facts: Line number and what else the message tells.
    """

    kind: str
    facts: dict[str, int | str]

    @classmethod
    def of(
        cls, kind: str, problem: str, source: Path | str, line: int, **facts: int | str
    ) -> TableError:
        """Return an error with file and line; ``problem`` may contain the names of facts
        in braces.
        """
        error = cls(f"{source}, line {line}: {problem.format(**facts)}")
        error.kind, error.facts = kind, {"line": line, **facts}
        return error

    @classmethod
    def of_file(cls, kind: str, problem: str, source: Path | str) -> TableError:
        """Return an error about the file as a whole."""
        error = cls(f"{source}: {problem}")
        error.kind, error.facts = kind, {}
        return error
