"""HTML that the tabs for long work have in common: rows of a table, and notices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from apps.i18n.page import PageStrings
from apps.i18n.tabs import JobTabStrings
from apps.jobs import BackgroundJob
from apps.markup.sections import caption, table
from apps.markup.text import element, notice, plain
from apps.tables import RefusedError, Table, as_cell
from apps.text_answers import failure

MAX_CELL = 26  # characters shown of a cell


def which_column(strings: JobTabStrings, columns: Sequence[str | None]) -> str:
    """Return the question for a column that is not chosen yet; nothing if all are."""
    return notice(strings.which_column, alarm=False) if None in columns else ""


def table_notes(strings: PageStrings, table: Table) -> str:
    """Return what the reader of a file decided, a sentence each, and its damaged rows."""
    first = dict(reversed(table.notes))  # of each kind
    said = [strings.tables.notes[kind].format(**facts) for kind, facts in first.items()]
    if table.damaged:
        about = {"count": f"{table.damaged:,}", "line": table.damaged_at}
        said.append(strings.tables.damaged.format(**about))
    return "".join(caption(sentence, "za-short") for sentence in said)


def head_of(strings: PageStrings, table: Table) -> str:
    """Return the first rows of a file."""
    rows = ([row.get(name) for name in table.columns] for row in table.head)
    return rows_table(strings, list(table.columns), rows)


def rows_table(strings: PageStrings, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as a table; long cells are cut."""
    heads = (plain(name[:MAX_CELL]) for name in columns)
    lines = ([_cell(as_cell(value)) for value in row] for row in rows)
    title = element(strings.first_rows, "h4", "za-head-rows")
    return title + table(heads, lines, "za-scroll za-numbers")


def job_notice(strings: PageStrings, job: BackgroundJob, ahead: int) -> str:
    """Return the notice of a job that waits or failed; nothing for other jobs.

    Args:
        strings: The page's strings.
        job: The job.
        ahead: Jobs before it.
    """
    if job.state == "waiting":
        return notice(strings.queued.filled(count=ahead), alarm=False)
    if job.state == "failed":
        if isinstance(job.failure, RefusedError):
            return notice(job.failure.notice)
        return notice(failure(strings, job.failure))
    return ""


def _cell(written: str) -> str:
    return plain(written[:MAX_CELL]) + ("…" if len(written) > MAX_CELL else "")
