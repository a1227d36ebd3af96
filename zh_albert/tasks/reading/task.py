"""Reading comprehension: the passage of a text that answers a question, or none."""

from __future__ import annotations

from zh_albert.tasks.reading.examples import read_reading_examples
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.task import Task

TASK = Task(
    package=__package__,
    read=read_reading_examples,
    model=TextReader,
    predictor=Reader,
    metric="f1",
    best_score=100.0,
)
