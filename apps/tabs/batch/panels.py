"""A table, and how far its answers are → HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from apps.job_panels import MAX_CELL, job_notice, rows_table
from apps.markup.bars import count_bars, progress_bar
from apps.markup.numbers import clock, duration
from apps.markup.sections import caption, section
from apps.markup.text import element, notice, panel
from apps.tables import Table
from apps.tabs.batch.job import BatchJob
from apps.tabs.batch.strings import BatchStrings
from zh_albert.tasks.classification.predictor import Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader


def table_panel(strings: BatchStrings, table: Table, columns: Sequence[str]) -> str:
    """Return the panel of an uploaded file.

    Args:
        strings: The tab's strings.
        table: The file.
        columns: The columns of its texts.
    """
    counts = {"rows": f"{table.rows:,}", "columns": len(table.columns)}
    warnings = ""
    for column in columns:
        if missing := table.rows - table.columns.get(column, 0):
            about = {"column": column[:MAX_CELL], "count": f"{missing:,}"}
            warnings += caption(strings.empty_cells.format(**about), "za-short")
    title = element(strings.read.format(name=table.name[-80:], **counts), "h3")
    rows = rows_table(strings.page, list(table.columns), table.head)
    return panel(section(title + warnings + rows, "za-first"))


def job_panel(strings: BatchStrings, job: BatchJob, ahead: int) -> str:
    """Return how far a job is, the counts of labels, and the first rows of the result.

    Args:
        strings: The tab's strings.
        job: The job.
        ahead: Jobs before it.
    """
    if job.state == "stopped":
        return notice(strings.stopped, alarm=False)
    if told := job_notice(strings.page, job, ahead):
        return told
    # The answer first: on a phone there is no room for more.
    columns = [job.main_column, *job.columns]
    columns += [name for name in job.shown_columns if name not in columns]
    rows = list(job.head)
    return panel(
        section(_progress(strings, job), "za-first")
        + section(_counts(strings, job))
        + (section(rows_table(strings.page, columns, rows)) if rows else "")
    )


def _progress(strings: BatchStrings, job: BatchJob) -> str:
    total, seconds = job.table.rows, job.seconds
    if job.state == "done":
        text = strings.finished.format(total=f"{total:,}", time=duration(seconds))
    else:
        text = strings.progress.format(done=f"{job.done:,}", total=f"{total:,}")
    chips = ""
    if job.done and seconds > 0:
        rate = job.done / seconds
        chips = element(strings.rate.format(rate=f"{rate:,.0f}"), "span", "za-chip")
        if job.state == "running":
            left = strings.page.time_left.format(time=clock((total - job.done) / rate))
            chips += element(left, "span", "za-chip")
    missing = strings.without_text.format(count=f"{job.unanswered:,}") if job.unanswered else ""
    return (
        f"<header>{element(text, 'h3')}<span>{chips}</span></header>"
        f"{progress_bar(job.done / total, text)}{caption(missing, 'za-short')}"
    )


def _counts(strings: BatchStrings, job: BatchJob) -> str:
    counts = Counter(job.counts)  # a copy: the job goes on counting
    ranked = counts.most_common()
    name_of: Callable[[str], str] = strings.page.names.of_class
    match job.model:
        case Tagger():
            title, name_of = strings.counts_entities, strings.page.names.of_entity
        case Reader():
            title, name_of = strings.counts_answers, strings.answered.__getitem__
        case Regressor():
            title, ranked = strings.counts_values, sorted(counts.items())
        case _:
            title = strings.counts
    body = count_bars(strings.page, ranked, name_of) if ranked else caption(strings.nothing_counted)
    return element(title, "h3") + body
