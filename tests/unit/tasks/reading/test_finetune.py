"""The loss of a reader's windows."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.jobs import encoded
from zh_albert.tasks.reading.examples import ReadingExample, as_spans
from zh_albert.tasks.reading.finetune import FinetuneConfig, ReadingJob
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

WINDOW = WindowConfig(max_length=16, stride=4)  # two tokens of question leave 11 for the text
CONTEXT = "零一二三四五六七八九甲乙丙丁戊己庚辛"


def example(*answers: str, references: tuple[str, ...] | None = None) -> ReadingExample:
    spans = as_spans(list(answers), CONTEXT, "here")
    return ReadingExample(CONTEXT, "谁谁", spans, answers if references is None else references)


class Fixed(nn.Module):
    """A network whose scores are given."""

    def __init__(self, scores: Tensor) -> None:
        super().__init__()
        self.scores = scores

    def forward(self, *_: Tensor) -> Tensor:
        return self.scores


def test_the_loss_is_that_of_any_right_answer() -> None:
    config = FinetuneConfig(window=WINDOW, train=TrainConfig(batch_tokens=1000, seed=1))
    job = encoded(ReadingJob([example("二三", "八九"), example("零")], [], config))
    [item] = job.plan(0)
    batch = job.load(item)
    assert batch.weight == 4
    assert batch.tokens == 4 * 16
    torch.manual_seed(0)
    scores = torch.randn(4, 16, 2)
    expected = 0.0
    for row, one in enumerate(job.windows[number] for number in item.texts):
        seen = [0, *range(4, 15)]  # [CLS] and the text
        start, end = (
            {place: scores[row, place, side].exp().item() for place in seen} for side in (0, 1)
        )
        right = sum(start[a] * end[b] for a, b in one.answers)
        expected -= math.log(right / (sum(start.values()) * sum(end.values())))
    found = job.loss(Fixed(scores), batch.inputs).loss
    assert found.item() == pytest.approx(expected, 1e-5)
