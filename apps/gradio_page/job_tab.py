"""A tab for long work on an uploaded table: upload, watch, download."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import gradio as gr

from apps.gradio_page import layout
from apps.i18n.tabs import JobTabStrings
from apps.job_panels import head_of
from apps.jobs import KEPT_S, YIELDS_S, JobQueue, TableJob
from apps.markup.sections import section
from apps.markup.text import escape, notice, panel
from apps.tables import KINDS, RefusedError, Table, open_table

SAMPLES = Path(__file__).parent.parent / "samples"
MINE: dict[str, Any] = {"js": "(...values) => zaMine(values)", **layout.QUIETLY}
"""Settings of events whose last input is the owner of a job: a secret of the browser's tab, which a
page that is loaded again still has; see ``page.js``."""
LATEST_OF_MINE: dict[str, Any] = {"trigger_mode": "always_last", **MINE}
"""The same, where only the last of several quick events matters."""

S = TypeVar("S", bound=JobTabStrings)
J = TypeVar("J", bound=TableJob)


class JobTab(ABC, Generic[S, J]):
    """A tab for long work on an uploaded table.

    Most handlers of its events get the table, the names of two columns, the value of one more box,
    which is called the setting here, and the owner of the job.

    Attributes:
        strings: The tab's strings.
        most_outputs: The most files that a job can give.
        setting: The box of the setting.
        owner: The box of the owner.
        columns: The boxes in which the columns are chosen.
        result: The panel.
        inputs: The boxes that most events read.
        go: The button that starts a job.

    Args:
        name: The beginning of the ids on the page.
        strings: The tab's strings.
        jobs: The queue of the work.
        kind: The type of the tab's jobs.
    """

    most_outputs = 1

    def __init__(self, name: str, strings: S, jobs: JobQueue, kind: type[J]) -> None:
        self.strings = strings
        self._name, self._jobs, self._kind = name, jobs, kind

    @abstractmethod
    def setting_box(self) -> Any:
        """Draw the box of the setting."""

    @abstractmethod
    def column_labels(self, setting: Any) -> list[str]:
        """Return the labels of the columns that are read, one or two."""

    @abstractmethod
    def likely_columns(self, table: Table, setting: Any) -> list[str | None]:
        """Return the columns that are clearly meant; None for one that has to be asked for."""

    @abstractmethod
    def preview(self, table: Table, columns: Sequence[str | None]) -> str:
        """Return the panel of an uploaded table.

        Raises:
            RefusedError: If the table does not fit the work.
        """

    @abstractmethod
    def new_job(self, table: Table, columns: Sequence[str], setting: Any) -> J:
        """Return the job that the button starts.

        Raises:
            RefusedError: If the table or the columns do not fit the work.
        """

    @abstractmethod
    def progress(self, job: J, ahead: int) -> str:
        """Return the panel of a job, with the number of jobs before it."""

    def below_result(self) -> list[gr.Column]:
        """Draw what is visible below the result of a finished job."""
        return []

    def lay_out(
        self,
        column_ids: tuple[str, str],
        samples: Mapping[str, tuple[str, Any]],
        limits: Mapping[str, str],
    ) -> None:
        """Lay the tab out.

        Args:
            column_ids: The ids of the two boxes in which columns are chosen.
            samples: Labels of buttons, each with the file it uploads and the setting it chooses.
            limits: What the tab says about itself: values of its blanks.
        """
        strings, name = self.strings, self._name
        with layout.areas():
            with layout.area("input"):
                file = gr.File(
                    label=strings.file,
                    file_types=list(KINDS),
                    height=150,
                    elem_id=f"{name}-file",
                    elem_classes="za-file",
                )
                self.columns = [
                    gr.Dropdown([], visible=False, elem_id=elem_id) for elem_id in column_ids
                ]
                self.setting = self.setting_box()
                with gr.Row(elem_classes="za-actions"):
                    go = gr.Button(strings.go, variant="primary", elem_id=name)
                    stop = gr.Button(strings.page.stop, interactive=False, elem_id=f"{name}-stop")
                with gr.Row(elem_classes="za-downloads"):
                    downloads = [
                        gr.DownloadButton(
                            visible=False,
                            elem_id=f"{name}-download-{number}",
                            elem_classes="za-download",
                        )
                        for number in range(1, self.most_outputs + 1)
                    ]
            with layout.area("answer"):
                waiting = notice(strings.waiting, alarm=False)
                self.result = layout.result_panel(waiting, f"{name}-result")
                self._below = self.below_result()
            kept = {"hours": f"{KEPT_S / 3600:g}", "minutes": f"{YIELDS_S / 60:g}"}
            with layout.examples_area(strings.page, strings.about.format(**limits, **kept)):
                buttons = [
                    gr.Button(label, size="sm", elem_classes="za-example") for label in samples
                ]
        table, timer = gr.State(None), gr.Timer(1, active=False)
        self.owner = gr.Textbox(visible=False)
        shown = [self.result, timer, stop, *downloads, *self._below]
        self._shown_count = len(shown)
        opened = [table, *self.columns, *shown]
        uploaded = [file, self.setting, self.owner]
        self.inputs = [table, *self.columns, self.setting, self.owner]

        # Large files take a while: the one that was chosen last is shown, whichever is read sooner.
        in_turn: Any = {"concurrency_id": f"{name}-open", "concurrency_limit": 1}
        changed = [file.upload, file.clear]
        gr.on(changed, self.opened, uploaded, opened, **in_turn, **LATEST_OF_MINE)
        picked = [column.input for column in self.columns]
        gr.on(picked, self.columns_chosen, self.inputs, self.result, **LATEST_OF_MINE)
        go.click(self.begin, self.inputs, shown, **MINE)
        self.go = go
        timer.tick(self.watch, self.owner, shown, **MINE)
        stop.click(self.give_up, self.owner, **MINE)
        for button, sample in zip(buttons, samples.values(), strict=True):
            button.click(
                lambda sample=sample: sample, None, [file, self.setting], **layout.QUIETLY
            ).success(self.opened, uploaded, opened, **in_turn, **MINE)
        page = gr.context.Context.root_block  # the page that is being built
        page.load(self.found_again, self.owner, [file, self.setting, *opened], **MINE)

    def opened(self, path: str | None, setting: Any, owner: str) -> tuple[Any, ...]:
        """Check an uploaded file; return the table, its columns, and what is shown."""
        self._jobs.drop(owner)
        nothing = (None, *([gr.Dropdown([], value=None, visible=False)] * 2))
        if path is None:
            return *nothing, notice(self.strings.waiting, alarm=False), *self._idle()
        try:
            table = open_table(self.strings.page.tables, Path(path))
        except RefusedError as error:
            return *nothing, notice(error.notice), *self._idle()
        columns = self.likely_columns(table, setting)
        pickers = self.pickers(table, columns, setting)
        return table, *pickers, self.previewed(table, columns), *self._idle()

    def columns_chosen(
        self, table: Table | None, first: str | None, second: str | None, setting: Any, owner: str
    ) -> Any:
        """Show the file again when another column is chosen."""
        if job := self.job_of(owner):
            job.refused = ""
            return gr.skip()
        if table is None:
            return gr.skip()
        return self.previewed(table, [first, second][: len(self.column_labels(setting))])

    def begin(
        self, table: Table | None, first: str | None, second: str | None, setting: Any, owner: str
    ) -> tuple[Any, ...]:
        """Start a job."""
        chosen = [first, second][: len(self.column_labels(setting))]
        try:
            if table is None:
                raise RefusedError(self.strings.no_file)
            columns = [column for column in chosen if column in table.columns]
            if len(columns) < len(chosen):
                raise RefusedError(self.strings.which_column)
            job = self.new_job(table, columns, setting)
        except RefusedError as error:
            if earlier := self.job_of(owner):
                earlier.refused = notice(error.notice)
                return self.watch(owner)
            rows = panel(section(head_of(self.strings.page, table))) if table else ""
            return notice(error.notice) + rows, *([gr.skip()] * (self._shown_count - 1))
        self._jobs.put(owner, job)
        return self.watch(owner)

    def watch(self, owner: str) -> tuple[Any, ...]:
        """Show how far the job is; often while it is active, then to keep it."""
        job = self.job_of(owner)
        if job is None:
            forgotten = self._jobs.has_forgotten(owner)
            return notice(self.strings.page.forgotten) if forgotten else gr.skip(), *self._idle()
        # First what the job is, then what it shows: between the two it may end.
        active = job.active
        shown = job.refused + self.progress(job, self._jobs.ahead_of(job))
        if not active:  # for answers.js: another model may be chosen by now
            shown += f'<i hidden data-setting="{escape(str(job.setting))}"></i>'
        timer = gr.Timer(1 if active else 60, active=True)
        files = [] if active else job.outputs
        return shown, timer, gr.Button(interactive=active), *self._offered(files)

    def found_again(self, owner: str) -> tuple[Any, ...]:
        """Return file, setting, columns and progress of a job that began before."""
        job = self.job_of(owner)
        if job is None:
            return tuple([gr.skip()] * (5 + self._shown_count))
        pickers = self.pickers(job.table, job.columns, job.setting)
        # Gradio may have removed the upload; the job and its result are still there.
        file = str(job.table.path) if job.table.path.exists() else gr.skip()
        return file, job.setting, job.table, *pickers, *self.watch(owner)

    def give_up(self, owner: str) -> None:
        """Stop the job."""
        if self.job_of(owner):
            self._jobs.stop(owner)

    def job_of(self, owner: str) -> J | None:
        """Return an owner's job, if there is one."""
        job = self._jobs.of(owner)
        return job if isinstance(job, self._kind) else None

    def pickers(
        self, table: Table, columns: Sequence[str | None], setting: Any
    ) -> list[gr.Dropdown]:
        """Return the two boxes for columns, as chosen; invisible where there is no choice."""
        names, labels = list(table.columns), self.column_labels(setting)
        visible = len(names) > 1 or len(labels) > 1 or None in columns
        boxes = [
            gr.Dropdown(names, value=column, label=label, visible=visible)
            for label, column in zip(labels, columns, strict=True)
        ]
        return [*boxes, gr.Dropdown([], value=None, visible=False)][:2]

    def previewed(self, table: Table, columns: Sequence[str | None]) -> str:
        """Return the panel of a table, or the notice why it is refused."""
        try:
            return self.preview(table, columns)
        except RefusedError as error:
            return notice(error.notice)

    def _idle(self) -> tuple[Any, ...]:
        """Return what is shown below the panel while there is no job."""
        return gr.Timer(active=False), gr.Button(interactive=False), *self._offered([])

    def _offered(self, files: Sequence[Path]) -> list[Any]:
        downloads = [
            gr.DownloadButton(self.strings.download.format(kind=file.suffix), file, visible=True)
            for file in files
        ]
        hidden = [gr.DownloadButton(visible=False)] * (self.most_outputs - len(files))
        return [*downloads, *hidden, *(gr.Column(visible=bool(files)) for _ in self._below)]
