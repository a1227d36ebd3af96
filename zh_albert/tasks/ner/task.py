"""Named entities: the spans of a text that name something, and their types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zh_albert.tasks.ner.examples import (
    EntityExample,
    read_entity_examples,
    read_unlabelled_texts,
    types_in,
)
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import refuse_unseen


def _check(tagger: TextTagger, examples: Sequence[EntityExample], source: Path | str) -> None:
    refuse_unseen(types_in(examples), tagger.labels, source, "types")


TASK = Task(
    package=__package__,
    read=read_entity_examples,
    read_unlabelled=read_unlabelled_texts,
    model=TextTagger,
    predictor=Tagger,
    check=_check,
    metric="f1",
)
