"""The fine-tuning tab: upload labelled texts, watch the model learn, try it, take it away."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import gradio as gr

from apps.answers import MAX_CHARACTERS, in_one_line
from apps.finetuning_job import DEFAULT_EPOCHS, MAX_EPOCHS, FinetuningJob
from apps.finetuning_panels import data_panel, learning_panel
from apps.jobs import KEPT_S, YIELDS_S, JobQueue
from apps.labelled import LABEL_COLUMNS, MAX_ROWS, read_labelled
from apps.markup import element, notice, page
from apps.panels import Answer, classification_panel
from apps.tables import RefusedError, Table, open_table
from apps.tabs.sharing import Shared
from apps.tabs.wiring import MINE, QUIETLY, watching, when_opened
from apps.texts.languages import Language
from zh_albert.errors import DataError, ZhAlbertError

SAMPLE = Path(__file__).parent.parent / "samples" / "messages.csv"


def finetuning_tab(say: Language, encoder: Path | None, jobs: JobQueue) -> Shared:
    """Lay the tab out; without an encoder it says how to get one. Returns what a link fills.

    Args:
        say: The page's language.
        encoder: The folder of the encoder that classifiers start from.
        jobs: Where the work is done.
    """
    if encoder is None:
        gr.HTML(notice(say.finetuning.no_encoder, alarm=False), elem_id="finetuning-result")
        return {}
    desk = _Desk(say, encoder, jobs)
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            file = gr.File(
                label=say.finetuning.file,
                file_types=[".csv", ".jsonl"],
                height=150,
                elem_id="finetuning-file",
                elem_classes="za-file",
            )
            text = gr.Dropdown(
                [], label=say.finetuning.text_column, visible=False, elem_id="finetuning-texts"
            )
            label = gr.Dropdown(
                [], label=say.finetuning.label_column, visible=False, elem_id="finetuning-labels"
            )
            epochs = gr.Slider(
                1,
                MAX_EPOCHS,
                DEFAULT_EPOCHS,
                step=1,
                label=say.finetuning.epochs,
                elem_id="finetuning-epochs",
                elem_classes="za-slider",
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.finetuning.go, variant="primary", elem_id="finetuning")
                stop = gr.Button(say.finetuning.stop, interactive=False, elem_id="finetuning-stop")
            download = gr.DownloadButton(
                say.finetuning.download,
                visible=False,
                elem_id="finetuning-download",
                elem_classes="za-download",
            )
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(say.finetuning.waiting, alarm=False),
                elem_id="finetuning-result",
                elem_classes="za-result",
            )
            with gr.Column(visible=False, elem_classes="za-try") as trial:
                typed = gr.Textbox(
                    label=say.finetuning.try_text,
                    placeholder=say.finetuning.try_placeholder,
                    lines=1,
                    max_lines=6,
                    elem_id="finetuning-try",
                    elem_classes="za-text",
                )
                answer = gr.HTML(elem_id="finetuning-answer")
        with gr.Column(elem_classes="za-examples"):
            limits = {
                "rows": f"{MAX_ROWS:,}",
                "hours": f"{KEPT_S / 3600:g}",
                "minutes": f"{YIELDS_S / 60:g}",
            }
            about = say.finetuning.about.format(**limits)
            gr.HTML(page(element(about, "p", "za-caption") + element(say.page.examples, "h3")))
            sample = gr.Button(say.finetuning.sample, size="sm", elem_classes="za-example")
    table = gr.State(None)
    timer = gr.Timer(1, active=False)
    mine = gr.Textbox(visible=False)
    shown: list[Any] = [result, timer, stop, download, trial]
    opened: list[Any] = [table, text, label, *shown]
    fresh: Any = {"trigger_mode": "always_last", **MINE}
    gr.on([file.upload, file.clear], desk.opened, [file, mine], opened, **fresh)
    gr.on([text.input, label.input], desk.preview, [table, text, label, mine], result, **fresh)
    go.click(desk.begin, [table, text, label, epochs, mine], shown, **MINE)
    timer.tick(desk.watch, mine, shown, **MINE)
    stop.click(desk.give_up, mine, **MINE)
    sample.click(lambda: str(SAMPLE), None, file, **QUIETLY).success(
        desk.opened, [file, mine], opened, **MINE
    )
    typed.change(desk.tried, [typed, mine], answer, **fresh)
    when_opened(desk.found_again, mine, [file, epochs, *opened], **MINE)
    return {"epochs": epochs}


class _Desk:
    """What the tab does with files, jobs and the models they make.

    A job belongs to whoever started it: ``mine`` is a secret of that page.
    """

    def __init__(self, say: Language, encoder: Path, jobs: JobQueue) -> None:
        self._say, self._encoder, self._jobs = say, encoder, jobs

    def opened(self, path: str | None, mine: str) -> tuple[Any, ...]:
        """Check an uploaded file; return the table, its columns, and what is shown."""
        self._jobs.drop(mine)
        none = gr.Dropdown([], value=None, visible=False)
        if path is None:
            waiting = notice(self._say.finetuning.waiting, alarm=False)
            return None, none, none, waiting, *_idle()
        try:
            table = open_table(self._say, Path(path), Path(path).name)
        except RefusedError as error:
            return None, none, none, notice(error.notice), *_idle()
        label = next((name for name in LABEL_COLUMNS if name in table.columns), None)
        text = table.likely(without=label)
        label = label or next((name for name in table.columns if name != text), text)
        return table, *_pickers(table, text, label), self._preview(table, text, label), *_idle()

    def preview(self, table: Table | None, text: str, label: str, mine: str) -> Any:
        """Show the file again when other columns are chosen."""
        if table is None or self._jobs.of(mine):
            return gr.skip()
        return self._preview(table, text, label)

    def begin(
        self, table: Table | None, text: str, label: str, epochs: float, mine: str
    ) -> tuple[Any, ...]:
        """Start to learn."""
        if table is None or not {text, label} <= table.columns.keys():
            return notice(self._say.finetuning.no_file), *_idle()
        try:
            data = read_labelled(self._say, table, text, label)
        except RefusedError as error:
            return notice(error.notice), *_idle()
        times = min(max(round(epochs), 1), MAX_EPOCHS)
        job = FinetuningJob(data, self._encoder, times, f"{table.path.stem}-model")
        self._jobs.put(mine, job)
        return self.watch(mine)

    def watch(self, mine: str) -> tuple[Any, ...]:
        """Show how far the learning is."""
        job = self._jobs.of(mine)
        if not isinstance(job, FinetuningJob):
            return gr.skip(), *_idle()
        # First what the job is, then what it shows: between the two it may end.
        active = job.active
        panel = learning_panel(self._say, job, self._jobs.ahead_of(job))
        file = None if active else job.packed
        return (
            panel,
            watching(active),
            gr.Button(interactive=active),
            gr.DownloadButton(value=file, visible=file is not None),
            gr.Column(visible=file is not None),
        )

    def found_again(self, mine: str) -> tuple[Any, ...]:
        """Return file, columns, progress and curves of a job that was begun before."""
        job = self._jobs.of(mine)
        if not isinstance(job, FinetuningJob) or not job.data.table.path.exists():
            return tuple(gr.skip() for _ in range(10))
        data = job.data
        pickers = _pickers(data.table, data.text, data.label)
        file = str(data.table.path)
        return file, job.epochs, data.table, *pickers, *self.watch(mine)

    def give_up(self, mine: str) -> None:
        """Stop; what was learned so far is kept."""
        if job := self._jobs.of(mine):
            job.stop()

    def tried(self, text: str, mine: str) -> str:
        """Ask the model that was taught."""
        job = self._jobs.of(mine)
        if not isinstance(job, FinetuningJob) or job.classifier is None:
            return notice(self._say.finetuning.no_model)
        if not text.strip():
            return ""
        if len(text) > MAX_CHARACTERS:
            limits = {"count": f"{len(text):,}", "limit": f"{MAX_CHARACTERS:,}"}
            return notice(self._say.page.too_long.filled(**limits))
        start = time.perf_counter()
        try:
            result = job.classifier(text)[0]
        except DataError:
            return notice(self._say.classification.nothing_to_read)
        except (ZhAlbertError, RuntimeError, MemoryError) as error:
            return notice(self._say.page.failed.filled(reason=in_one_line(error)))
        answer = Answer(self._say.finetuning.mine, result, time.perf_counter() - start)
        return classification_panel(self._say, text, [answer])

    def _preview(self, table: Table, text: str, label: str) -> str:
        try:
            return data_panel(self._say, table, read_labelled(self._say, table, text, label))
        except RefusedError as error:
            return notice(error.notice)


def _pickers(table: Table, text: str, label: str) -> list[gr.Dropdown]:
    return [gr.Dropdown(list(table.columns), value=one, visible=True) for one in (text, label)]


def _idle() -> tuple[Any, ...]:
    """Return what the tab shows beside the panel while no job of this page is there."""
    return (
        gr.Timer(active=False),
        gr.Button(interactive=False),
        gr.DownloadButton(value=None, visible=False),
        gr.Column(visible=False),
    )
