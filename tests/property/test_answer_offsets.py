"""For any string: answers are slices of it, and windows change nothing that fits one."""

from __future__ import annotations

import itertools
import math
from functools import cache
from unicodedata import category

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.helpers.odd_texts import ANYTHING, TEXTS, odd_tokenizer
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import init_weights
from zh_albert.tasks.reading.examples import AnswerSpan
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.reading.questions import encode_question
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.threshold import best_no_answer_threshold
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import Encoding, build_input
from zh_albert.tokenization.tokenizer import default_tokenizer

SHORT = WindowConfig(max_length=19, stride=4)
LONG = WindowConfig(max_length=512, stride=4)  # the same longest answer


@cache
def reader(*, odd: bool = False, blind: bool = False) -> TextReader:
    """A reader with wild members; a blind one sees a token at a time."""
    tokenizer = odd_tokenizer(True) if odd else default_tokenizer()
    config = AlbertConfig(
        vocab_size=tokenizer.vocab_size,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    result = TextReader(config, tokenizer, window=SHORT)
    torch.manual_seed(0)
    init_weights(result.module, 0.5)
    if blind:
        encoder = result.module.encoder
        for parameter in (
            *encoder.attention[0].dense.parameters(),
            encoder.embeddings.position.weight,
        ):
            torch.nn.init.zeros_(parameter)
    return result


def has_tokens(model: TextReader, text: str) -> bool:
    return model.encode_or_none([(text, "")]) != [None]


def answers(
    model: TextReader, asked: list[tuple[str, str]], top_k: int
) -> list[list[tuple[AnswerSpan, float]]]:
    readings = model.read(model.encode(asked), keep=top_k)
    return [reading.answers(model.threshold)[:top_k] for reading in readings]


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("odd", [False, True])
@given(context=ANYTHING, question=TEXTS)
def test_an_answer_is_a_slice_of_the_context(
    odd: bool, threshold: float | None, context: str, question: str
) -> None:
    model = reader(odd=odd)
    model.threshold = threshold
    assume(has_tokens(model, question))
    ranked = Reader(model)(question, context, top_k=6)
    readable = has_tokens(model, context)
    for answer in ranked:
        assert 0 <= answer.start <= answer.end <= len(context)
        assert answer.text == context[answer.start : answer.end]
        assert answer.text.strip() == answer.text
        if answer.text and not odd:  # its tokenizer drops all marks
            assert not [c for c in context[answer.end : answer.end + 1] if category(c) == "Mn"]
        assert bool(answer.text) or (threshold is not None or not readable)
        assert 0 <= answer.score <= 1
    assert len({(a.start, a.end) for a in ranked}) == len(ranked) >= 1
    assert [a.score for a in ranked] == sorted((a.score for a in ranked), reverse=True)
    assert Reader(model)(question, context) == ranked[0]


@given(context=TEXTS, question=TEXTS)
def test_a_context_that_fits_one_window_is_read_as_without_windows(
    context: str, question: str
) -> None:
    model = reader()
    model.threshold = 0.5
    asked = model.tokenizer.encode(question)
    read = model.tokenizer.encode(context).over_marks(context)
    assume(asked.ids and 0 < len(asked) + len(read) <= SHORT.max_length - 3)
    inputs = build_input(model.tokenizer.special, asked.ids, read.ids)
    ids, types = torch.tensor([inputs.token_ids]), torch.tensor([inputs.type_ids])
    with torch.inference_mode():
        [scores] = model.module(ids, types, torch.ones_like(ids).bool()).double()
    odds: dict[AnswerSpan, float] = {AnswerSpan(0, 0): 0.5}
    for first, last in itertools.product(range(len(read)), repeat=2):
        start, end = read.offsets[first][0], read.offsets[last][1]
        whole = read.offsets.index(read.offsets[first]) == first
        whole &= read.offsets[last] not in read.offsets[last + 1 :]
        if first <= last < first + SHORT.stride and whole:
            at = inputs.second.start
            score = scores[at + first, 0] + scores[at + last, 1] - scores[0].sum()
            odds[AnswerSpan(start, end)] = score.item()
    total = math.fsum(map(math.exp, odds.values()))
    [found] = answers(model, [(question, context)], 1000)
    assert dict(found).keys() == odds.keys()
    for span, score in found:
        assert score == pytest.approx(math.exp(odds[span]) / total, abs=1e-5)


@given(context=TEXTS, question=st.sampled_from(["谁？", "NLP是什么", "哪里" * 4]))
def test_windows_lose_and_double_nothing(context: str, question: str) -> None:
    model = reader(blind=True)
    model.threshold = None
    pairs = [(question, context), (question, context * 3)]
    in_windows = answers(model, pairs, 5000)
    model.window = LONG
    try:
        whole = answers(model, pairs, 5000)
    finally:
        model.window = SHORT
    for found, expected in zip(in_windows, whole, strict=True):
        assert len(found) == len(expected)
        scores = dict(expected)
        assert dict(found) == pytest.approx(scores, abs=1e-4)


@given(question=st.integers(1, 60), context=st.integers(0, 200))
def test_windows_never_exceed_their_length_and_leave_the_text_its_half(
    question: int, context: int
) -> None:
    tokens = [Encoding([7] * n, [(i, i + 1) for i in range(n)]) for n in (question, context)]
    encoded = encode_question(*tokens, SHORT)
    assert all(encoded.length(n) <= SHORT.max_length for n in range(len(encoded.parts)))
    assert {token for part in encoded.parts for token in part} == set(range(context))
    room = SHORT.max_length - 3
    kept = len(encoded.question)
    assert kept == question or (kept >= room - room // 2 and kept + min(context, room // 2) >= room)
    for first in range(context):
        for last in range(first, min(first + SHORT.stride, context)):
            holding = [
                part
                for part, decided in zip(encoded.parts, encoded.decided, strict=True)
                if first + last in decided
            ]
            assert len(holding) == 1
            assert first in holding[0]
            assert last in holding[0]


@given(
    rows=st.lists(
        st.tuples(
            st.integers(-5, 5), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 1.0])
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_other_threshold_scores_more(rows: list[tuple[int, float, float]]) -> None:
    def total(threshold: float) -> float:
        return sum(gain if odds >= threshold else loss for odds, gain, loss in rows)

    chosen = best_no_answer_threshold(*zip(*rows, strict=True))
    assert total(chosen) == max(total(half / 2) for half in range(-13, 14))
