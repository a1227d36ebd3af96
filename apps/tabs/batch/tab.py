"""The tab for whole files: a table goes through a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from apps.gradio_page import layout
from apps.gradio_page.job_tab import LATEST_OF_MINE, SAMPLES, JobTab
from apps.gradio_page.url_state import LinkedBoxes
from apps.job_panels import MAX_CELL
from apps.jobs import JobQueue
from apps.markup.text import notice
from apps.models import BulkModel
from apps.tables import MAX_BYTES, RefusedError, Table
from apps.tabs.batch.job import BatchJob, fields_of
from apps.tabs.batch.panels import job_panel, table_panel
from apps.tabs.batch.strings import BatchStrings


def batch_tab(
    strings: BatchStrings, models: Mapping[str, BulkModel], jobs: JobQueue
) -> LinkedBoxes:
    """Lay the tab out; without models it says how to get one.

    Args:
        strings: The tab's strings.
        models: By name.
        jobs: The queue of the work.
    """
    if not models:
        gr.HTML(notice(strings.no_models, alarm=False), elem_id="batch-result")
        return {}
    tab = BatchTab(strings, models, jobs)
    samples: dict[str, tuple[str, Any]] = {}
    for name, model in models.items():
        sample = {"text": "reviews", "text_a": "pairs", "question": "questions"}[
            fields_of(model)[0]
        ]
        samples.setdefault(strings.samples[sample], (str(SAMPLES / f"{sample}.csv"), name))
    limits = {"limit": f"{MAX_BYTES / 2**20:,.0f}"}
    tab.lay_out(("batch-column-1", "batch-column-2"), samples, limits)
    shown = [*tab.columns, tab.result]
    tab.setting.input(tab.model_chosen, tab.inputs, shown, **LATEST_OF_MINE)
    return {"model": tab.setting}


class BatchTab(JobTab[BatchStrings, BatchJob]):
    """The tab for whole files; its setting is the name of the model."""

    most_outputs = 2

    def __init__(
        self, strings: BatchStrings, models: Mapping[str, BulkModel], jobs: JobQueue
    ) -> None:
        super().__init__("batch", strings, jobs, BatchJob)
        self._models = models

    def setting_box(self) -> gr.Radio:
        """Draw the choice of a model."""
        names = layout.named_models(self.strings.page, self._models)
        return gr.Radio(
            names,
            value=names[0][1],
            label=self.strings.page.model,
            elem_id="batch-model",
            elem_classes="za-model za-models",
        )

    def column_labels(self, setting: str) -> list[str]:
        """Return the labels of the columns of the model's fields."""
        return [self.strings.fields[field] for field in self._fields(setting)]

    def likely_columns(self, table: Table, setting: str) -> list[str | None]:
        """Return the columns that clearly hold the model's fields."""
        return [table.column_of(field) for field in self._fields(setting)]

    def preview(self, table: Table, columns: Sequence[str | None]) -> str:
        """Return the panel of an uploaded table."""
        return table_panel(self.strings, table, columns)

    def new_job(self, table: Table, columns: Sequence[str], setting: str) -> BatchJob:
        """Return a job that lets the model answer each row."""
        if setting not in self._models:
            raise RefusedError(self.strings.no_file)
        if len({*columns}) < len(columns):
            raise RefusedError(self.strings.one_column)
        for column in columns:
            if not table.columns[column]:
                raise RefusedError(self.strings.empty_column.filled(column=column[:MAX_CELL]))
        return BatchJob(self.strings, table, columns, setting, self._models[setting])

    def progress(self, job: BatchJob, ahead: int) -> str:
        """Return how far the job is, and its first answers."""
        return job_panel(self.strings, job, ahead)

    def model_chosen(
        self,
        table: Table | None,
        first: str | None,
        second: str | None,
        setting: str,
        owner: str,
    ) -> tuple[Any, ...]:
        """Ask for the columns that another model reads; a single chosen one stays."""
        if table is None:
            return gr.skip(), gr.skip(), gr.skip()
        columns = self.likely_columns(table, setting)
        if len(columns) == 1 and second is None and first in table.columns:
            columns = [first]
        panel = gr.skip() if self.job_of(owner) else self.previewed(table, columns)
        return *self.pickers(table, columns, setting), panel

    def _fields(self, model: str) -> tuple[str, ...]:
        return fields_of(self._models[model]) if model in self._models else ("text",)
