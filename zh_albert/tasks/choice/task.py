"""Multiple choice: one of several answers to a question about a text."""

from __future__ import annotations

from zh_albert.tasks.choice.baseline import score_baseline
from zh_albert.tasks.choice.examples import read_choice_examples
from zh_albert.tasks.choice.finetune import ChoiceJob, evaluate
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.task import Task

TASK = Task(
    read=read_choice_examples,
    job=ChoiceJob,
    predictor=Chooser,
    evaluate=evaluate,
    score_baseline=score_baseline,
)
