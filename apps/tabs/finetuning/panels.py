"""The dataset and the training of a classifier → HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from apps.job_panels import head_of, job_notice, table_notes, which_column
from apps.markup.bars import count_bars, progress_bar
from apps.markup.line_figure import LineFigure, figures
from apps.markup.numbers import clock
from apps.markup.sections import caption, header, section
from apps.markup.text import element, notice, panel
from apps.tables import Table
from apps.tabs.finetuning.dataset import Dataset
from apps.tabs.finetuning.job import FinetuningJob
from apps.tabs.finetuning.strings import FinetuningStrings


def dataset_panel(strings: FinetuningStrings, dataset: Dataset) -> str:
    """Return the labels of a dataset, and the rows that were left out."""
    sizes = {"train": f"{len(dataset.train):,}", "dev": f"{len(dataset.dev):,}"}
    problems = "".join(element(text, "li") for text in dataset.problems)
    left_out = ""
    if problems:
        title = element(strings.left_out, "h4", "za-head-rows")
        left_out = f'{title}<ul class="za-list">{problems}</ul>'
    counts = count_bars(strings.page, dataset.counts.most_common(), strings.page.names.of_class)
    parts = caption(strings.parts.format(**sizes))
    notes = table_notes(strings.page, dataset.table)
    return panel(
        section(f"{element(strings.labels, 'h3')}{parts}{notes}{counts}{left_out}", "za-first")
        + section(head_of(strings.page, dataset.table))
    )


def undecided_panel(strings: FinetuningStrings, table: Table, columns: Sequence[str | None]) -> str:
    """Return the first rows of a file whose columns have to be asked for."""
    body = table_notes(strings.page, table) + head_of(strings.page, table)
    return which_column(strings, columns) + panel(section(body, "za-first"))


def training_panel(strings: FinetuningStrings, job: FinetuningJob, ahead: int) -> str:
    """Return how far the training is, and its curves.

    Args:
        strings: The tab's strings.
        job: The job.
        ahead: Jobs before it.
    """
    if job.state == "stopped" and job.classifier is None:
        return notice(strings.nothing_learned, alarm=False)
    if told := job_notice(strings.page, job, ahead):
        return told
    return panel(section(_progress(strings, job), "za-first") + figures(_figures(strings, job)))


def _progress(strings: FinetuningStrings, job: FinetuningJob) -> str:
    event, left, share = job.progress, "", 0.0
    text = strings.beginning
    if job.state == "stopped":
        text = strings.stopped
    elif job.state == "done" and event:
        text = strings.finished.format(time=clock(event.seconds))
    elif event:
        text = strings.progress.format(update=event.update, total=event.total)
        left = strings.page.time_left.format(time=clock(event.seconds_left))
    if event:
        share = event.update / event.total
    examined = ""
    if job.best is not None:
        shares = {"share": f"{job.best:.0%}", "chance": f"{job.chance:.0%}"}
        examined = strings.examined.format(dev=len(job.dataset.dev), **shares)
    return header(text, left) + progress_bar(share, text) + caption(examined)


def _figures(strings: FinetuningStrings, job: FinetuningJob) -> list[LineFigure]:
    """Return the curves that have a point already."""
    until = job.progress.total if job.progress else 0
    over_updates = partial(LineFigure, strings=strings.page, across=strings.updates, until=until)
    losses, accuracies = list(job.losses), list(job.accuracies)  # copies: the job adds to them
    drawn = []
    if losses:
        drawn.append(
            over_updates(
                title=strings.loss,
                hint=strings.loss_hint,
                points=losses,
                high=math.floor(10 * max(loss for _, loss in losses)) / 10 + 0.1,
                is_share=False,
            )
        )
    if accuracies:
        title, hint = strings.accuracy, strings.accuracy_hint
        drawn.append(over_updates(title=title, hint=hint, points=accuracies, chance=job.chance))
    return drawn
