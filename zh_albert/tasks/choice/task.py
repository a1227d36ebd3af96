"""Multiple choice: one of several answers to a question about a text."""

from __future__ import annotations

from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import read_choice_examples
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.task import Task

TASK = Task(
    package=__package__,
    read=read_choice_examples,
    model=TextChooser,
    predictor=Chooser,
)
