"""What a classifier is taught with, and how it learns → HTML: pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from apps.batch_panels import clock, count_bars, failure_notice, progress_bar, rows_table
from apps.finetuning_job import FinetuningJob
from apps.labelled import Labelled
from apps.line_figure import LineFigure
from apps.markup import element, notice, page
from apps.panels import class_name
from apps.tables import Table
from apps.texts.languages import Language


def data_panel(say: Language, table: Table, data: Labelled) -> str:
    """Show what a file teaches, and which of its rows were left out."""
    sizes = {"train": f"{len(data.train):,}", "dev": f"{len(data.dev):,}"}
    problems = "".join(element(text, "li") for text in data.problems)
    left_out = ""
    if problems:
        title = element(say.finetuning.left_out, "h4", "za-head-rows")
        left_out = f'{title}<ul class="za-list">{problems}</ul>'
    return page(
        f'<section class="za-section za-first">{element(say.finetuning.labels, "h3")}'
        f"{element(say.finetuning.parts.format(**sizes), 'p', 'za-caption')}"
        f"{count_bars(say, data.counts.most_common(), partial(class_name, say))}{left_out}"
        "</section>"
        f'<section class="za-section">{rows_table(say, list(table.columns), table.head)}</section>'
    )


def learning_panel(say: Language, job: FinetuningJob, ahead: int) -> str:
    """Show how far the learning is, and its curves.

    Args:
        say: The page's language.
        job: The job.
        ahead: Jobs before it.
    """
    if job.state == "waiting":
        return notice(say.finetuning.queued.filled(count=ahead), alarm=False)
    if job.state == "failed":
        return notice(failure_notice(say, job.failure))
    if job.state == "stopped" and job.classifier is None:
        return notice(say.finetuning.nothing_learned, alarm=False)
    figures = "".join(
        f'<section class="za-section">{element(figure.title, "h3")}{figure.draw()}'
        f"{element(figure.hint, 'p', 'za-caption')}</section>"
        for figure in _figures(say, job)
    )
    return page(
        f'<section class="za-section za-first">{_progress(say, job)}</section>'
        f'<div class="za-figures">{figures}</div>'
    )


def _progress(say: Language, job: FinetuningJob) -> str:
    event, chip, share = job.progress, "", 0.0
    text = say.finetuning.beginning
    if job.state == "stopped":
        text = say.finetuning.stopped
    elif job.state == "done" and event:
        text, share = say.finetuning.finished.format(time=clock(event.seconds)), 1.0
    elif event:
        text = say.finetuning.progress.format(update=event.update, total=event.total)
        left = say.finetuning.left.format(time=clock(event.seconds_left))
        chip = element(left, "span", "za-chip")
    if event:
        share = event.update / event.total
    told = ""
    if job.best is not None:
        shares = {"share": f"{job.best:.0%}", "chance": f"{job.chance:.0%}"}
        told = say.finetuning.examined.format(dev=len(job.data.dev), **shares)
    return (
        f"<header>{element(text, 'h3')}{chip}</header>{progress_bar(share, text)}"
        f"{element(told, 'p', 'za-caption') if told else ''}"
    )


def _figures(say: Language, job: FinetuningJob) -> list[LineFigure]:
    """Return the curves that have a point already."""
    until = job.progress.total if job.progress else 0
    losses, accuracies = _columns(job.losses), _columns(job.accuracies)
    figures = []
    if losses:
        figures.append(
            LineFigure(
                say=say,
                title=say.finetuning.loss,
                hint=say.finetuning.loss_hint,
                across=say.finetuning.updates,
                places=losses[0],
                values=losses[1],
                low=0,
                high=math.floor(10 * max(losses[1])) / 10 + 0.1,
                is_share=False,
                until=until,
            )
        )
    if accuracies:
        figures.append(
            LineFigure(
                say=say,
                title=say.finetuning.accuracy,
                hint=say.finetuning.accuracy_hint,
                across=say.finetuning.updates,
                places=accuracies[0],
                values=accuracies[1],
                low=0,
                high=1,
                is_share=True,
                chance=job.chance,
                until=until,
            )
        )
    return figures


def _columns(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]] | None:
    """Return where points stand and how high; a copy, as the job goes on adding some."""
    found = list(points)
    return ([place for place, _ in found], [value for _, value in found]) if found else None
