"""Cells of downloaded tables: a spreadsheet must not take a text for a formula.

Excel and others run a cell of CSV that begins with "=", "+", "-", "@", a tab or a carriage return,
also one that somebody else wrote (Source: OWASP, "CSV Injection"). An apostrophe before it makes it
a text; ``restored`` takes the apostrophe away again. Plain numbers stay numbers.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"'*[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def harmless(cell: str) -> str:
    """Return a cell that no spreadsheet runs.

    >>> harmless("=1+1"), harmless("'=1+1"), harmless("-0.5"), harmless("好")
    ("'=1+1", "''=1+1", '-0.5', '好')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def restored(cell: str) -> str:
    """Return the cell that ``harmless`` was given.

    >>> restored("'=1+1"), restored("'-0.5"), restored("'好'")
    ('=1+1', "'-0.5", "'好'")
    """
    if not cell.startswith("'"):
        return cell
    return cell[1:] if harmless(cell[1:]) == cell else cell
