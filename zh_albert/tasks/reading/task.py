"""Reading comprehension: the passage of a text that answers a question, or none."""

from __future__ import annotations

from zh_albert.tasks.reading.baseline import score_baseline
from zh_albert.tasks.reading.examples import read_reading_examples
from zh_albert.tasks.reading.finetune import ReadingJob, evaluate
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.task import Task

TASK = Task(
    read=read_reading_examples,
    job=ReadingJob,
    predictor=Reader,
    evaluate=evaluate,
    score_baseline=score_baseline,
    metric="f1",
    best_score=100.0,
)
