"""The loss of a reader's windows."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.jobs import encoded
from tests.helpers.reading_windows import WINDOW, example
from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.finetune import FinetuneConfig, ReadingJob, evaluate
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.spans import Penalties
from zh_albert.training.config import TrainConfig


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


def test_where_nothing_can_be_answered_the_threshold_stays_where_it_begins() -> None:
    examples = [example("二三", "八九"), example()]
    model = ReadingJob(examples, [], FinetuneConfig(window=WINDOW)).model
    scores = evaluate(model, [ReadingExample("，，", "谁谁", (), ())], tune=True)
    assert model.threshold == 0.0
    assert scores["f1"] == 100.0


def test_penalties_are_tuned_with_dev_and_kept_in_the_folder(tmp_path: Path) -> None:
    model = ReadingJob([example("零")], [], FinetuneConfig(window=WINDOW)).model
    model.penalties = Penalties(1.0, 0.5)
    evaluate(model, [example("零")])
    model.save(tmp_path / "reader", card="")
    assert TextReader.load(tmp_path / "reader").penalties == Penalties(1.0, 0.5)
    evaluate(model, [ReadingExample("，，", "谁谁", (), ())], tune=True)  # nothing to tune on
    assert model.penalties == Penalties()


def test_a_reader_that_goes_on_answers_as_before_until_it_learns(tmp_path: Path) -> None:
    examples = [example("二三", "八九"), example("零")]
    config = FinetuneConfig(window=WINDOW, train=TrainConfig(batch_tokens=1000, seed=1))
    before = ReadingJob(examples, [], config).model
    before.save(tmp_path / "reader", card="", dtype=torch.float32)
    again = replace(config, train=TrainConfig(batch_tokens=1000, seed=2))
    going_on = ReadingJob(examples, [], again, init=tmp_path / "reader").model
    asked = [(one.question, one.context) for one in examples]
    first, second = (one.read(one.encode(asked)) for one in (before, going_on))
    assert [one.best for one in first] == [one.best for one in second]
