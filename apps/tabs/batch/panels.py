"""A table, and how far its answers are → HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from apps.job_panels import (
    MAX_CELL,
    head_of,
    job_notice,
    rows_table,
    table_notes,
    which_column,
)
from apps.markup.bars import count_bars, progress_bar
from apps.markup.numbers import clock, duration
from apps.markup.sections import caption, section
from apps.markup.text import element, notice, panel
from apps.tables import Row, Table
from apps.tabs.batch.job import BatchJob
from apps.tabs.batch.strings import BatchStrings
from zh_albert.tasks.classification.predictor import Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader


def table_panel(strings: BatchStrings, table: Table, columns: Sequence[str | None]) -> str:
    """Return the panel of an uploaded file.

    Args:
        strings: The tab's strings.
        table: The file.
        columns: The columns of its texts; None for one that is not chosen yet.
    """
    counts = {"rows": f"{table.rows:,}", "columns": len(table.columns)}
    warnings = table_notes(strings.page, table)
    for column in columns:
        missing = table.rows - table.damaged - table.columns.get(column, 0) if column else 0
        if column and missing:
            about = {"column": column[:MAX_CELL], "count": f"{missing:,}"}
            warnings += caption(strings.empty_cells.format(**about), "za-short")
    title = element(strings.read.format(name=table.path.name[-80:], **counts), "h3")
    body = title + warnings + head_of(strings.page, table)
    return which_column(strings, columns) + panel(section(body, "za-first"))


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
    return panel(
        section(_progress(strings, job), "za-first")
        + section(_counts(strings, job))
        + _first_answers(strings, job)
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
    cut = strings.page.tables.notes["cut_text"] if job.cuts_texts else ""
    return (
        f"<header>{element(text, 'h3')}<span>{chips}</span></header>"
        f"{progress_bar(job.done / total, text)}{caption(missing, 'za-short')}"
        f"{caption(cut, 'za-short')}"
    )


def _counts(strings: BatchStrings, job: BatchJob) -> str:
    counts = Counter(job.counts)  # a copy: the job goes on counting
    ranked = counts.most_common()
    name_of: Callable[[str], str] = partial(strings.page.names.of_class, model=str(job.setting))
    match job.model:
        case Tagger():
            title, name_of = strings.counts_entities, strings.page.names.of_entity
        case Reader():
            title, name_of = strings.counts_answers, strings.answered.__getitem__
        case Regressor():
            title, ranked = strings.counts_values, sorted(counts.items(), key=_lowest)
        case _:
            title = strings.counts
    body = count_bars(strings.page, ranked, name_of) if ranked else caption(strings.nothing_counted)
    return element(title, "h3") + body


def _lowest(step: tuple[str, int]) -> int:
    """Return the beginning of a step of the scale, with its count; see ``BatchJob.counts``."""
    return int(step[0].partition("–")[0])


def _first_answers(strings: BatchStrings, job: BatchJob) -> str:
    """Return the first rows, the answer first: on a phone there is no room for more."""
    if not job.head:
        return ""
    columns = [strings.answer, *job.columns, strings.score]
    rows = []
    for row, answer in list(job.head):
        texts = (row.get(column) for column in job.columns)
        score = answer.get("score")
        shown = _shown(strings, str(job.setting), answer)
        rows.append((shown, *texts, None if score is None else f"{score:.1%}"))
    if not any(row[-1] for row in rows):  # of entities each has its own
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return section(rows_table(strings.page, columns, rows))


def _shown(strings: BatchStrings, model: str, answer: Row) -> str:
    """Return a model's answer in the page's language."""
    names = strings.page.names
    match answer:
        case {"error": str(reason)}:
            return reason
        case {"entities": list(entities)}:
            found = (f"{one['text']}/{names.of_entity(one['type'])}" for one in entities)
            return "; ".join(found) or "—"
        case {"labels": list(labels)}:
            return "; ".join(map(names.of_class, labels))
        case {"value": float(value)}:
            return f"{value:.1f}"
        case {"label": str(label)}:
            return names.of_class(label, model)
    return answer["text"] or strings.answered["none"]
