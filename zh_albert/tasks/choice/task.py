"""Multiple choice: one of several answers to a question about a text."""

from __future__ import annotations

from zh_albert.tasks.choice.baseline import score_baseline
from zh_albert.tasks.choice.card import chooser_card
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.config import FinetuneConfig
from zh_albert.tasks.choice.examples import read_choice_examples
from zh_albert.tasks.choice.finetune import ChoiceJob, evaluate
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.task import Task

TASK = Task(
    config=FinetuneConfig,
    read=read_choice_examples,
    model=TextChooser,
    job=ChoiceJob,
    predictor=Chooser,
    evaluate=evaluate,
    score_baseline=score_baseline,
    card=chooser_card,
)
