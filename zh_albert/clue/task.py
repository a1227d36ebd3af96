"""Description of a task of CLUE or FewCLUE; ``tasks`` has one for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from zh_albert.clue.labels import Labels

Form = Literal[
    "text", "pair", "keywords", "coreference", "entities", "reading", "choices", "idioms", "idiom"
]
"""Form of the official files; ``readers`` has a reader for each."""

# This project's task for each form, a name of ``tasks.catalog.TASKS``.
_TRAINED_AS: Mapping[Form, str] = {
    "text": "classification",
    "coreference": "classification",
    "pair": "pair",
    "keywords": "pair",
    "entities": "ner",
    "reading": "reading",
    "choices": "choice",
    "idioms": "choice",
    "idiom": "choice",
}


class OfficialTest(NamedTuple):
    """One test set for which answers can be submitted."""

    data: str
    """Its file in the release."""
    submission: str
    """The name the evaluation expects."""


class Download(NamedTuple):
    """One file of a release."""

    url: str
    sha256: str = ""
    """Empty if no known checksum matches the file that is online today."""


@dataclass(frozen=True, kw_only=True)
class ClueTask:
    """One task.

    Attributes:
        name: Of the task, and of the folder with its files.
        about: Short description.
        form: See ``Form``.
        fields: The official names of the texts.
        labels: See ``clue.labels``; empty if answers are not labels.
        described: Whether a submission also contains the label's name, as ``label_desc``.
        train: Training files.
        dev: Files that select the best weights.
        scored: Files that scores, including published ones, are reported on.
        tests: By version; the first is the current one.
        metric: The score's name in ``evaluate``.
        downloads: The release: an archive, or single files.
        recipe: Settings of the fine-tuning job.
    """

    name: str
    about: str
    form: Form
    fields: tuple[str, ...] = ()
    labels: Labels = field(default_factory=dict)
    described: bool = False
    train: tuple[str, ...] = ("train.json",)
    dev: tuple[str, ...] = ("dev.json",)
    scored: tuple[str, ...] = ("dev.json",)
    tests: Mapping[str, OfficialTest]
    metric: Literal["accuracy", "f1", "exact_match"] = "accuracy"
    downloads: tuple[Download, ...]
    recipe: Mapping[str, Any]

    @property
    def trained_as(self) -> str:
        """This project's task for it."""
        return _TRAINED_AS[self.form]
