"""What a reader is taught, and what its scores of a window say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from zh_albert.tasks.reading.config import FinetuneConfig

from tests.helpers.jobs import encoded
from zh_albert.model.config import AlbertConfig
from zh_albert.tasks.reading.examples import AnswerSpan, ReadingExample, as_spans
from zh_albert.tasks.reading.finetune import FinetuneConfig, ReadingJob
from zh_albert.tasks.reading.questions import encode_question
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.spans import NO_ANSWER, RankedSpan, Reading, read_window
from zh_albert.tasks.reading.training_windows import (
    TrainingWindow,
    chance_loss,
    training_windows,
    with_fewer_empty,
)
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig

WINDOW = WindowConfig(max_length=16, stride=4)  # two tokens of question leave 11 for the text
CONTEXT = "零一二三四五六七八九甲乙丙丁戊己庚辛"


def reader() -> TextReader:
    tokenizer = default_tokenizer()
    config = AlbertConfig(
        vocab_size=tokenizer.vocab_size,
        embedding_size=4,
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
    )
    return TextReader(config, tokenizer, window=WINDOW)


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


def test_each_window_has_the_answers_that_are_whole_in_it() -> None:
    windows, skipped = training_windows(reader(), [example("二三", "八九", "庚辛")])
    assert str(skipped) == ""
    assert [(one.question.parts[one.window], one.answers) for one in windows] == [
        (range(11), [(6, 7), (12, 13)]),  # behind [CLS] 谁 谁 [SEP]
        (range(7, 18), [(5, 6), (13, 14)]),
    ]
    [first, second], _ = training_windows(reader(), [example("零")])
    assert (first.answers, second.answers) == ([(4, 4)], [(0, 0)])
    windows, _ = training_windows(reader(), [example()])
    assert [one.answers for one in windows] == [[(0, 0)], [(0, 0)]]


def test_what_cannot_be_taught_is_left_out_and_counted() -> None:
    windows, skipped = training_windows(
        reader(), [example("零一二三四"), example(references=("壬",)), example("零一二三四", "甲")]
    )
    assert len(windows) == 2
    assert {one.answers[0] for one in windows} == {(14, 14), (7, 7)}
    assert (skipped.questions, skipped.unread, skipped.too_long) == (3, 1, 1)


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


def test_chance_knows_how_often_there_is_an_answer() -> None:
    [first, second], _ = training_windows(reader(), [example("零")])
    here, elsewhere = chance_loss([first]), chance_loss([second])
    assert here == pytest.approx(2 * math.log(11))
    assert elsewhere == 0
    assert chance_loss([first, second]) == pytest.approx(2 * (math.log(2) + math.log(11) / 2))


def test_a_character_of_several_tokens_is_answered_whole_also_at_the_edge_of_a_window() -> None:
    places = [(n, n + 1) for n in range(15)]
    places[10] = places[11] = (10, 11)  # one character, two tokens, the edge of the first window
    question = encode_question(Encoding([5, 5], []), Encoding([7] * 15, places), WINDOW)
    assert question.parts == [range(11), range(4, 15)]
    found = []
    for number in range(2):
        zeros = np.zeros((16, 2), dtype=np.float32)
        ranked, _ = read_window(zeros, question, number, longest=7, keep=1000)
        found += [span for _, span in ranked]
    assert len(found) == len(set(found))
    assert AnswerSpan(4, 11) not in found  # the first window decides it and has half of its end
    assert AnswerSpan(10, 11) in found
    assert all(span.start < span.end for span in found)


def test_windows_are_compared_by_what_not_here_scores() -> None:
    question = encode_question(
        Encoding([5, 5], []), Encoding([7] * 18, [(n, n + 1) for n in range(18)]), WINDOW
    )
    reading, scores = Reading(), np.zeros((16, 2), dtype=np.float32)
    scores[5], scores[0] = 3.0, 2.0
    reading.add(*read_window(scores, question, 0, longest=4, keep=3), keep=3)  # odds 6 - 4
    scores = np.zeros((16, 2), dtype=np.float32)
    scores[13], scores[0] = 2.0, 0.5
    reading.add(*read_window(scores, question, 1, longest=4, keep=3), keep=3)  # odds 4 - 1
    assert [round(odds, 3) for odds, _ in reading.best[:2]] == [3, 2]
    assert [span for _, span in reading.best[:2]] == [AnswerSpan(16, 17), AnswerSpan(1, 2)]


def test_no_answer_stands_where_its_threshold_is() -> None:
    reading = Reading([RankedSpan(1.0, AnswerSpan(0, 1)), RankedSpan(-1.0, AnswerSpan(1, 2))])
    reading.log_mass = math.log(math.e + 1 / math.e)
    assert [span for span, _ in reading.answers(0.0)] == [(0, 1), NO_ANSWER, (1, 2)]
    assert sum(score for _, score in reading.answers(0.0)) == pytest.approx(1)
    assert [span for span, _ in reading.answers(None)] == [(0, 1), (1, 2)]
    assert sum(score for _, score in reading.answers(None)) == pytest.approx(1)
    assert Reading().answers(None) == Reading().answers(-9.0) == [(NO_ANSWER, 1.0)]


def test_settings_that_cannot_work_are_refused() -> None:
    from zh_albert.errors import ConfigError

    config = replace(reader().config, max_position_embeddings=12)
    with pytest.raises(ConfigError, match="must not exceed the encoder's"):
        TextReader(config, default_tokenizer(), window=WINDOW)
    for stride in (0, 6):
        window = WindowConfig(max_length=16, stride=stride)
        with pytest.raises(ConfigError, match=rf"stride \({stride}\) must be from 1 to 5"):
            TextReader(reader().config, default_tokenizer(), window=window)


def test_fewer_empty_windows_leave_every_answer_and_depend_on_the_seed() -> None:
    def with_answer(windows: Sequence[TrainingWindow]) -> list[TrainingWindow]:
        return [one for one in windows if one.answers != [(0, 0)]]

    windows, _ = training_windows(reader(), [example("二三")] * 60)
    answered = with_answer(windows)
    empty = len(windows) - len(answered)
    some = with_fewer_empty(windows, 0.25, seed=1)
    assert with_answer(some) == answered
    assert 0.1 * empty < len(some) - len(answered) < 0.4 * empty
    assert some == with_fewer_empty(windows, 0.25, seed=1) != with_fewer_empty(windows, 0.25, 2)
    assert with_fewer_empty(windows, 1.0, seed=1) == windows
