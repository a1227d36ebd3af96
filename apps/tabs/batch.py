"""The tab for whole files: upload, watch, download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from apps.batch_job import BatchJob, BulkModel, fields_of
from apps.batch_panels import job_panel, table_panel
from apps.jobs import KEPT_S, YIELDS_S, JobQueue
from apps.markup import element, notice, page
from apps.panels import named
from apps.tables import MAX_BYTES, RefusedError, Table, open_table
from apps.tabs.sharing import Shared
from apps.tabs.wiring import MINE, QUIETLY, watching, when_opened
from apps.texts.languages import Language

_SAMPLES = Path(__file__).parent.parent / "samples"


def batch_tab(say: Language, models: Mapping[str, BulkModel], jobs: JobQueue) -> Shared:
    """Lay the tab out; without models it says how to get one. Returns what a link fills.

    Args:
        say: The page's language.
        models: By name.
        jobs: Where the work is done.
    """
    if not models:
        gr.HTML(notice(say.batch.no_models, alarm=False), elem_id="batch-result")
        return {}
    names = named(say, models)
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            file = gr.File(
                label=say.batch.file,
                file_types=[".csv", ".jsonl"],
                height=150,
                elem_id="batch-file",
                elem_classes="za-file",
            )
            columns = [
                gr.Dropdown(
                    [], label=say.batch.fields["text"], visible=False, elem_id=f"batch-column-{n}"
                )
                for n in (1, 2)
            ]
            chosen = gr.Radio(
                names,
                value=names[0][1],
                label=say.page.model,
                elem_id="batch-model",
                elem_classes="za-model za-models",
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.batch.go, variant="primary", elem_id="batch")
                stop = gr.Button(say.batch.stop, interactive=False, elem_id="batch-stop")
            download = gr.DownloadButton(
                say.batch.download,
                visible=False,
                elem_id="batch-download",
                elem_classes="za-download",
            )
        with gr.Column(elem_classes="za-answer"):
            waiting = notice(say.batch.waiting, alarm=False)
            result = gr.HTML(waiting, elem_id="batch-result", elem_classes="za-result")
        with gr.Column(elem_classes="za-examples"):
            limits = {
                "limit": f"{MAX_BYTES / 2**20:,.0f}",
                "hours": f"{KEPT_S / 3600:g}",
                "minutes": f"{YIELDS_S / 60:g}",
            }
            about = element(say.batch.about.format(**limits), "p", "za-caption")
            gr.HTML(page(about + element(say.page.examples, "h3")))
            samples = [
                (gr.Button(say.batch.samples[name], size="sm", elem_classes="za-example"), put)
                for name, put in _samples(models).items()
            ]
    table = gr.State(None)
    timer = gr.Timer(1, active=False)
    mine = gr.Textbox(visible=False)
    shown: list[Any] = [result, timer, stop, download]

    desk = _Desk(say, models, jobs)
    opened: list[Any] = [table, *columns, *shown]
    fresh: Any = {"trigger_mode": "always_last", **MINE}
    gr.on([file.upload, file.clear], desk.opened, [file, chosen, mine], opened, **fresh)
    chosen.input(desk.chosen, [table, chosen, mine], [*columns, result], **fresh)
    for column in columns:
        column.input(desk.preview, [table, *columns, chosen, mine], result, **fresh)
    go.click(desk.begin, [table, *columns, chosen, mine], shown, **MINE)
    timer.tick(desk.watch, mine, shown, **MINE)
    stop.click(desk.give_up, mine, **MINE)
    for button, put in samples:
        button.click(lambda put=put: put, None, [file, chosen], **QUIETLY).success(
            desk.opened, [file, chosen, mine], opened, **MINE
        )
    when_opened(desk.found_again, mine, [file, chosen, *opened], **MINE)
    return {"model": chosen}


def _samples(models: Mapping[str, BulkModel]) -> dict[str, tuple[str, str]]:
    """Return a file for each form that these models read, and the first model that does."""
    names = {"text": "reviews", "text_a": "pairs", "question": "questions"}
    found: dict[str, tuple[str, str]] = {}
    for model, reads in models.items():
        name = names[fields_of(reads)[0]]
        found.setdefault(name, (str(_SAMPLES / f"{name}.csv"), model))
    return found


class _Desk:
    """What the tab does with files and jobs.

    A job belongs to whoever started it: ``mine`` is a secret of that page.
    """

    def __init__(self, say: Language, models: Mapping[str, BulkModel], jobs: JobQueue) -> None:
        self._say, self._models, self._jobs = say, models, jobs

    def opened(self, path: str | None, model: str, mine: str) -> tuple[Any, ...]:
        """Check an uploaded file; return the table, its columns, and what is shown."""
        self._jobs.drop(mine)
        none = [_no_column(), _no_column()]
        if path is None:
            return None, *none, notice(self._say.batch.waiting, alarm=False), *_idle()
        try:
            table = open_table(self._say, Path(path), Path(path).name)
        except RefusedError as error:
            return None, *none, notice(error.notice), *_idle()
        likely = self._likely(table, model)
        return table, *self._pickers(table, model, likely), self._shown(table, likely), *_idle()

    def chosen(self, table: Table | None, model: str, mine: str) -> tuple[Any, ...]:
        """Ask for the columns that a model reads."""
        if table is None:
            return gr.skip(), gr.skip(), gr.skip()
        likely = self._likely(table, model)
        panel = gr.skip() if self._jobs.of(mine) else self._shown(table, likely)
        return *self._pickers(table, model, likely), panel

    def preview(
        self, table: Table | None, first: str, second: str | None, model: str, mine: str
    ) -> Any:
        """Show the file again when another column is chosen."""
        if table is None or self._jobs.of(mine):
            return gr.skip()
        return self._shown(table, [first, second or ""][: len(self._fields(model))])

    def begin(
        self, table: Table | None, first: str, second: str | None, model: str, mine: str
    ) -> tuple[Any, ...]:
        """Start a job."""
        columns = [first, second][: len(self._fields(model))]
        if table is None or model not in self._models or not {*columns} <= table.columns.keys():
            return notice(self._say.batch.no_file), gr.skip(), gr.skip(), gr.skip()
        if len({*columns}) < len(columns):
            return notice(self._say.batch.one_column), gr.skip(), gr.skip(), gr.skip()
        names = [name for name in columns if name is not None]
        self._jobs.put(mine, BatchJob(self._say, table, names, model, self._models[model]))
        return self.watch(mine)

    def watch(self, mine: str) -> tuple[Any, ...]:
        """Show how far the job is."""
        job = self._jobs.of(mine)
        if not isinstance(job, BatchJob):
            return gr.skip(), *_idle()
        # First what the job is, then what it shows: between the two it may end.
        active, file = job.active, job.result
        panel = job_panel(self._say, job, self._jobs.ahead_of(job))
        offered = gr.DownloadButton(value=file, visible=True) if file else _no_download()
        return panel, watching(active), gr.Button(interactive=active), offered

    def found_again(self, mine: str) -> tuple[Any, ...]:
        """Return file, model, columns and progress of a job that was begun before."""
        job = self._jobs.of(mine)
        if not isinstance(job, BatchJob) or not job.table.path.exists():
            return tuple(gr.skip() for _ in range(9))
        pickers = self._pickers(job.table, job.name, job.columns)
        return str(job.table.path), job.name, job.table, *pickers, *self.watch(mine)

    def give_up(self, mine: str) -> None:
        """Stop the job."""
        if job := self._jobs.of(mine):
            job.stop()

    def _fields(self, model: str) -> tuple[str, ...]:
        return fields_of(self._models[model]) if model in self._models else ("text",)

    def _likely(self, table: Table, model: str) -> list[str]:
        """Guess where a model's fields stand."""
        found: list[str] = []
        for field in self._fields(model):
            found.append(table.likely(field, without=found[0] if found else None))
        return found

    def _pickers(
        self, table: Table, model: str, columns: Sequence[str]
    ) -> tuple[gr.Dropdown, gr.Dropdown]:
        """Return what lets one choose the columns; no question where there is only one answer."""
        names, fields = list(table.columns), self._fields(model)
        first, *rest = (
            gr.Dropdown(names, value=column, label=self._say.batch.fields[field], visible=asked)
            for field, column in zip(fields, columns, strict=True)
            for asked in [len(names) > 1 or len(fields) > 1]
        )
        return first, rest[0] if rest else _no_column()

    def _shown(self, table: Table, columns: Sequence[str]) -> str:
        return table_panel(self._say, table, columns)


def _no_column() -> gr.Dropdown:
    return gr.Dropdown([], value=None, visible=False)


def _no_download() -> gr.DownloadButton:
    return gr.DownloadButton(value=None, visible=False)


def _idle() -> tuple[Any, ...]:
    """Return what the tab shows beside the panel while this page has no job."""
    return gr.Timer(active=False), gr.Button(interactive=False), _no_download()
