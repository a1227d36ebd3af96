"""A table, and how far its answers are → HTML: pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from apps.batch_job import BatchJob
from apps.entity_panels import type_name
from apps.markup import element, escape, notice, page, plain
from apps.panels import MAX_BARS, bar, class_name, duration
from apps.tables import RefusedError, Row, Table, as_cell
from apps.texts.languages import Language
from zh_albert.tasks.classification.predictor import Regressor
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader

_CELL = 26  # characters shown of a cell


def table_panel(say: Language, table: Table, columns: Sequence[str]) -> str:
    """Show what is in a file that was uploaded.

    Args:
        say: The page's language.
        table: The file.
        columns: Where its texts stand.
    """
    counts = {"rows": f"{table.rows:,}", "columns": len(table.columns)}
    warned = ""
    for column in columns:
        if missing := table.rows - table.columns.get(column, 0):
            told = say.batch.empty_cells.format(column=column[:_CELL], count=f"{missing:,}")
            warned += element(told, "p", "za-short")
    return page(
        f'<section class="za-section za-first">'
        f"{element(say.batch.read.format(name=table.name[-80:], **counts), 'h3')}{warned}"
        f"{rows_table(say, list(table.columns), table.head)}</section>"
    )


def job_panel(say: Language, job: BatchJob, ahead: int) -> str:
    """Show how far a job is, what was counted, and the first rows of the result.

    Args:
        say: The page's language.
        job: The job.
        ahead: Jobs before it.
    """
    match job.state:
        case "waiting":
            return notice(say.batch.queued.filled(count=ahead), alarm=False)
        case "stopped":
            return notice(say.batch.stopped, alarm=False)
        case "failed":
            return notice(failure_notice(say, job.failure))
    # The answer first: on a phone there is no room for more.
    columns = [job.main_column, *job.columns]
    columns += [name for name in job.shown_columns if name not in columns]
    head = rows_table(say, columns, list(job.head)) if job.head else ""
    return page(
        f'<section class="za-section za-first">{_progress(say, job)}</section>'
        f'<section class="za-section">{_counts(say, job)}</section>'
        f'{f"""<section class="za-section">{head}</section>""" if head else ""}'
    )


def failure_notice(say: Language, error: Exception | None) -> Any:
    """Return what to say of a job that failed."""
    if isinstance(error, RefusedError):
        return error.notice
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return say.page.failed.filled(reason=reason)


def progress_bar(share: float, label: str) -> str:
    """Draw how far something is.

    Args:
        share: From 0 to 1.
        label: What screen readers call it.
    """
    percent = f"{100 * min(max(share, 0), 1):.1f}"
    return (
        f'<div class="za-track za-progress" role="progressbar" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent}" aria-label="{escape(label)}">'
        f'<span class="za-fill" style="width:{percent}%"></span></div>'
    )


def clock(seconds: float) -> str:
    """Write a time that people wait for.

    >>> clock(7.6), clock(75), clock(3725)
    ('8 s', '1 min 15 s', '1 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def rows_table(say: Language, columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Draw rows; long cells are cut."""
    heads = "".join(f"<th>{plain(name[:_CELL])}</th>" for name in columns)
    lines = "".join(
        f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in columns)}</tr>"
        for row in rows
    )
    return (
        f"{element(say.batch.first_rows, 'h4', 'za-head-rows')}"
        f'<div class="za-scroll za-numbers"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    written = as_cell(value)
    return plain(written[:_CELL]) + ("…" if len(written) > _CELL else "")


def _progress(say: Language, job: BatchJob) -> str:
    total, seconds = job.table.rows, job.seconds
    if job.state == "done":
        text = say.batch.finished.format(total=f"{total:,}", time=duration(seconds))
    else:
        text = say.batch.progress.format(done=f"{job.done:,}", total=f"{total:,}")
    chips = ""
    if job.done and seconds > 0:
        rate = job.done / seconds
        chips = element(say.batch.rate.format(rate=f"{rate:,.0f}"), "span", "za-chip")
        if job.state == "running":
            left = say.batch.left.format(time=clock((total - job.done) / rate))
            chips += element(left, "span", "za-chip")
    warned = say.batch.without_text.format(count=f"{job.unanswered:,}") if job.unanswered else ""
    return (
        f"<header>{element(text, 'h3')}<span>{chips}</span></header>"
        f"{progress_bar(job.done / total, text)}"
        f"{element(warned, 'p', 'za-short') if warned else ''}"
    )


def _counts(say: Language, job: BatchJob) -> str:
    counts = Counter(job.counts)  # a copy: the job goes on counting
    named: Callable[[str], str] = partial(class_name, say)
    match job.model:
        case Tagger():
            title, named = say.batch.counts_entities, partial(type_name, say)
        case Reader():
            title, named = say.batch.counts_answers, say.batch.answered.__getitem__
        case Regressor():
            title, counts = say.batch.counts_values, Counter(dict(sorted(counts.items())))
        case _:
            title = say.batch.counts
    heading = element(title, "h3")
    if not counts:
        return heading + element(say.batch.nothing_counted, "p", "za-caption")
    ranked = list(counts.items()) if isinstance(job.model, Regressor) else counts.most_common()
    return heading + count_bars(say, ranked, named)


def count_bars(
    say: Language, ranked: Sequence[tuple[str, int]], named: Callable[[str], str]
) -> str:
    """Draw how often each label occurs.

    Args:
        say: The page's language.
        ranked: Labels and how often they occur, in order; at least one.
        named: What a label is called.
    """
    total = sum(count for _, count in ranked)
    rows = [
        bar(named(label), f"{count:,}", 100 * count / total, winner=False)
        for label, count in ranked[:MAX_BARS]
    ]
    if rest := ranked[MAX_BARS:]:
        together = sum(count for _, count in rest)
        others = say.classification.others.format(count=len(rest))
        rows.append(bar(others, f"{together:,}", 100 * together / total, winner=False))
    return f'<ol class="za-bars">{"".join(rows)}</ol>'
