"""Classification: a class, several classes, or a value for each text."""

from __future__ import annotations

from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples, read_unlabelled_texts
from zh_albert.tasks.classification.head_selection import refuse_unknown
from zh_albert.tasks.classification.label_remarks import label_remarks
from zh_albert.tasks.classification.predictor import predictor_of
from zh_albert.tasks.task import Task

TASK = Task(
    package=__package__,
    read=read_text_examples,
    read_unlabelled=read_unlabelled_texts,
    model=TextClassifier,
    predictor=predictor_of,
    remarks=label_remarks,
    check=lambda model, examples, source: refuse_unknown(model.head, examples, source),
)
