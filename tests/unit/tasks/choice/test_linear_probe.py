"""Scores of choices that begin fitted to the encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import torch

from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

WINDOW = WindowConfig(max_length=16, stride=4)


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_scores_of_choices_know_their_questions_before_training(
    micro: Path, pooling: Literal["first", "mean"]
) -> None:
    examples = [
        ChoiceExample(Question(f"{place}的早上", "怎么样？", choices), choices.index("很好"))
        for place in ("北京", "上海", "杭州", "南京")
        for choices in (("很好", "很差"), ("太吵", "很好"), ("很差", "太吵", "很好"))
    ]
    config = choice.FinetuneConfig(
        model=choice.ModelConfig(pooling=pooling),
        window=WINDOW,
        train=TrainConfig(peak_lr=1e-9, max_updates=1),
    )
    started = choice.finetune(examples, [], config, init=micro)[0]
    assert choice.evaluate(started, examples)["accuracy"] > 0.9
    unstarted = choice.finetune(examples, [], config)[0].module.encoder.pooler.weight
    assert not torch.equal(unstarted, torch.diag(unstarted.diagonal()))
