"""HTML that the tabs for long work have in common: rows of a table, and notices."""

from __future__ import annotations

from collections.abc import Sequence

from apps.i18n.page import PageStrings
from apps.jobs import BackgroundJob
from apps.markup.sections import table
from apps.markup.text import element, notice, plain
from apps.tables import RefusedError, Row, as_cell
from apps.text_answers import failure

MAX_CELL = 26  # characters shown of a cell


def rows_table(strings: PageStrings, columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the first rows of a table; long cells are cut."""
    heads = (plain(name[:MAX_CELL]) for name in columns)
    lines = ([_cell(as_cell(row.get(name))) for name in columns] for row in rows)
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
