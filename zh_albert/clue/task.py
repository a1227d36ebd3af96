"""What there is to know of a task of CLUE or FewCLUE; ``tasks`` says it of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from zh_albert.clue.labels import Labels

Form = Literal[
    "text", "pair", "keywords", "coreference", "entities", "reading", "choices", "idioms", "idiom"
]
"""How the official files say it; ``readers`` has a reader for each."""

# What this project trains for it, a name of ``tasks.catalog.TASKS``.
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
    """One test set that answers can be handed in for."""

    data: str
    """Its file in the release."""
    submission: str
    """The name the evaluation expects."""


class Download(NamedTuple):
    """One file of a release."""

    url: str
    sha256: str = ""
    """Empty where none is known that fits what lies there today."""


@dataclass(frozen=True, kw_only=True)
class ClueTask:
    """One task.

    Attributes:
        name: Of the task, and of the folder that holds its files.
        about: What is asked, in a few words.
        form: See ``Form``.
        fields: The official names of the texts.
        labels: See ``clue.labels``; empty where answers are no labels.
        described: Whether a submission also holds the label's name, as ``label_desc``.
        train: Files to learn from.
        dev: Files that choose the best weights.
        scored: Files that scores are reported on; published rows are, too.
        tests: By version; the first is the current one.
        metric: The score's name in ``evaluate``.
        downloads: The release; an archive, or single files.
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
