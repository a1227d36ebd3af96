"""Sentence vectors: texts of similar meaning are close to each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.examples import EmbeddingExample, judged, read_embedding_examples
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.task import Task


def _check(_: TextEmbedder, examples: Sequence[EmbeddingExample], source: Path | str) -> None:
    judged(examples, source)


TASK = Task(
    package=__package__,
    read=read_embedding_examples,
    model=TextEmbedder,
    predictor=Embedder,
    check=_check,
    metric="spearman",
)
