"""The fine-tuning tab: upload labelled texts, watch the training, try and download the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from apps.gradio_page import layout
from apps.gradio_page.job_tab import LATEST_OF_MINE, SAMPLES, JobTab
from apps.gradio_page.url_state import LinkedBoxes
from apps.jobs import JobQueue
from apps.markup.class_card import ClassAnswer
from apps.markup.text import notice
from apps.tables import Table
from apps.tabs.classification.panels import classification_panel
from apps.tabs.finetuning.dataset import MAX_ROWS, read_dataset
from apps.tabs.finetuning.job import DEFAULT_EPOCHS, MAX_EPOCHS, FinetuningJob
from apps.tabs.finetuning.panels import dataset_panel, training_panel, undecided_panel
from apps.tabs.finetuning.strings import FinetuningStrings
from apps.text_answers import FAILURES, failure, too_long
from zh_albert.errors import DataError


def finetuning_tab(strings: FinetuningStrings, encoder: Path | None, jobs: JobQueue) -> LinkedBoxes:
    """Lay the tab out; without an encoder it says how to get one.

    Args:
        strings: The tab's strings.
        encoder: The folder of the encoder that training starts from.
        jobs: The queue of the work.
    """
    if encoder is None:
        gr.HTML(notice(strings.page.no_encoder, alarm=False), elem_id="finetuning-result")
        return {}
    tab = FinetuningTab(strings, encoder, jobs)
    samples = {strings.sample: (str(SAMPLES / "messages.csv"), gr.skip())}
    limits = {"rows": f"{MAX_ROWS:,}"}
    tab.lay_out(("finetuning-texts", "finetuning-labels"), samples, limits)
    # What another model answered is not shown as the new one's.
    tab.go.click(lambda: ("", ""), None, [tab.trial, tab.answer], **layout.QUIETLY)
    tab.trial.change(tab.tried, [tab.trial, tab.owner], tab.answer, **LATEST_OF_MINE)
    return {"epochs": tab.setting}


class FinetuningTab(JobTab[FinetuningStrings, FinetuningJob]):
    """The fine-tuning tab; its setting is the number of epochs.

    Attributes:
        trial: The box for a text that the trained model answers.
        answer: The panel with its answer.
    """

    def __init__(self, strings: FinetuningStrings, encoder: Path, jobs: JobQueue) -> None:
        super().__init__("finetuning", strings, jobs, FinetuningJob)
        self._encoder = encoder

    def setting_box(self) -> gr.Slider:
        """Draw the choice of the number of epochs."""
        return gr.Slider(
            1,
            MAX_EPOCHS,
            DEFAULT_EPOCHS,
            step=1,
            label=self.strings.epochs,
            elem_id="finetuning-epochs",
            elem_classes="za-slider",
        )

    def below_result(self) -> list[gr.Column]:
        """Draw the box in which the trained model can be tried."""
        with gr.Column(visible=False, elem_classes="za-try") as below:
            self.trial = layout.text_box(
                self.strings.try_text, self.strings.try_placeholder, "finetuning-try", max_lines=6
            )
            self.answer = gr.HTML(elem_id="finetuning-answer")
        return [below]

    def column_labels(self, setting: Any) -> list[str]:  # noqa: ARG002
        """Return the labels of the columns of the texts and of the labels."""
        return [self.strings.text_column, self.strings.label_column]

    def likely_columns(self, table: Table, setting: Any) -> list[str | None]:  # noqa: ARG002
        """Return the columns that clearly hold the texts and the labels."""
        return [table.column_of("text"), table.column_of("label")]

    def preview(self, table: Table, columns: Sequence[str | None]) -> str:
        """Return the labels of an uploaded table, or the question for its columns."""
        text, label = columns
        if text is None or label is None:
            return undecided_panel(self.strings, table, columns)
        return dataset_panel(self.strings, read_dataset(self.strings, table, text, label))

    def new_job(self, table: Table, columns: Sequence[str], setting: float) -> FinetuningJob:
        """Return a job that trains a classifier."""
        dataset = read_dataset(self.strings, table, *columns)
        epochs = min(max(round(setting), 1), MAX_EPOCHS)
        return FinetuningJob(dataset, self._encoder, epochs, f"{table.path.stem}-model")

    def progress(self, job: FinetuningJob, ahead: int) -> str:
        """Return how far the training is, and its curves."""
        return training_panel(self.strings, job, ahead)

    def tried(self, text: str, owner: str) -> str:
        """Return the trained model's answer."""
        if not text.strip():
            return ""
        job, page = self.job_of(owner), self.strings.page
        if job is None or job.classifier is None:
            return notice(self.strings.no_model)
        if problem := too_long(page, len(text)):
            return notice(problem)
        start = time.perf_counter()
        try:
            [result] = job.classifier(text)
        except DataError:
            return notice(page.unreadable)
        except FAILURES as error:
            return notice(failure(page, error))
        answer = ClassAnswer(self.strings.mine, result, time.perf_counter() - start)
        return classification_panel(self.strings.classification, text, [answer])
