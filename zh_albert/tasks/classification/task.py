"""Classification: a class, several classes, or a value for each text."""

from __future__ import annotations

from zh_albert.tasks.classification.baseline import score_baseline
from zh_albert.tasks.classification.examples import read_text_examples, read_unlabelled_texts
from zh_albert.tasks.classification.finetune import ClassificationJob, evaluate
from zh_albert.tasks.classification.head_selection import refuse_unknown
from zh_albert.tasks.classification.predictor import predictor_of
from zh_albert.tasks.task import Task

TASK = Task(
    read=read_text_examples,
    read_unlabelled=read_unlabelled_texts,
    job=ClassificationJob,
    predictor=predictor_of,
    evaluate=evaluate,
    check=lambda model, examples, source: refuse_unknown(model.head, examples, source),
    score_baseline=score_baseline,
)
