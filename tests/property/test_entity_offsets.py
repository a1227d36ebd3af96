"""For any string: entities are slices of it, and windows change nothing that fits one."""

from __future__ import annotations

import itertools
from functools import cache
from unicodedata import category

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.odd_texts import ANYTHING, TEXTS, odd_tokenizer
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import init_weights
from zh_albert.tasks.ner.alignment import flat, to_characters
from zh_albert.tasks.ner.networks import HEADS, Head
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.ner.tagger import Found, TextTagger
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import build_input
from zh_albert.tokenization.tokenizer import default_tokenizer

TYPES = ["LOC", "PER"]
SHORT = WindowConfig(max_length=10, stride=3)
LONG = WindowConfig(max_length=512, stride=0)


@cache
def tagger(head: Head, *, odd: bool = False, blind: bool = False) -> TextTagger:
    """A tagger that finds something nearly everywhere; a blind one sees a token at a time."""
    tokenizer = odd_tokenizer(True) if odd else default_tokenizer()
    config = AlbertConfig(
        vocab_size=tokenizer.vocab_size,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    result = TextTagger(config, tokenizer, TYPES, window=SHORT, head=head)
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


def entities(model: TextTagger, *texts: str) -> Found:
    return model.entities_of(model.encode(texts))


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("head", HEADS)
@given(text=ANYTHING)
def test_an_entity_is_a_slice_of_the_text(head: Head, odd: bool, text: str) -> None:
    tag = Tagger(tagger(head, odd=odd))
    [found] = tag(text)
    for entity in found:
        assert 0 <= entity.start < entity.end <= len(text)
        assert entity.text == text[entity.start : entity.end]
        assert entity.text.strip() == entity.text
        if not odd:  # its tokenizer drops all marks
            assert not [c for c in text[entity.end : entity.end + 1] if category(c) == "Mn"]
        assert entity.type in TYPES
        assert 0 <= entity.score <= 1
    assert found == sorted(found, key=lambda e: (e.start, e.end, e.type))
    assert len({(e.start, e.end, e.type) for e in found}) == len(found)
    if head in ("softmax", "crf"):
        assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("head", HEADS)
@given(text=TEXTS)
def test_a_text_that_fits_one_window_is_read_as_without_windows(head: Head, text: str) -> None:
    model = tagger(head)
    encoding = model.tokenizer.encode(text).over_marks(text)
    if not 0 < len(encoding) <= SHORT.max_length - 2:
        assert encoding.ids or entities(model, text) == [[]]
        return
    ids = torch.tensor([build_input(model.tokenizer.special, encoding.ids).token_ids])
    with torch.inference_mode():
        [scores] = model.module(ids, torch.zeros_like(ids), torch.ones_like(ids).bool())
    everything = range(2 * len(encoding) - 1)
    [spans] = model.head.entities(
        [[model.head.piece(scores, range(len(encoding)), everything)]], [()]
    )
    expected = to_characters(spans, encoding.offsets, TYPES)
    if model.head.flat:
        expected = flat(expected)
    found = entities(model, text)[0]
    assert [entity for entity, _ in found] == [entity for entity, _ in expected]
    assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=1e-5)


@pytest.mark.parametrize("head", ["softmax", "crf", "span"])
@given(text=TEXTS)
def test_windows_lose_and_double_nothing(head: Head, text: str) -> None:
    model = tagger(head, blind=True)
    in_windows = entities(model, text, text * 3)
    model.window = LONG
    try:
        whole = entities(model, text, text * 3)
    finally:
        model.window = SHORT
    for found, expected in zip(in_windows, whole, strict=True):
        assert [entity for entity, _ in found] == [entity for entity, _ in expected]
        assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=1e-3)


@pytest.mark.parametrize("head", HEADS)
@given(
    parts=st.lists(TEXTS, min_size=2, max_size=4), end=st.sampled_from(["\n", " \r\n", "\u2028"])
)
def test_no_entity_goes_on_behind_a_line_end_if_asked(
    head: Head, parts: list[str], end: str
) -> None:
    model = tagger(head)
    model.split_at_breaks = True
    try:
        [found] = entities(model, text := end.join(parts))
    finally:
        model.split_at_breaks = False
    for entity, score in found:
        assert "\n" not in text[entity.start : entity.end].strip("\n")
        assert 0 <= score <= 1


@pytest.mark.parametrize("head", HEADS)
@given(words=st.lists(st.sampled_from(["北京", "上海", "好", "中文字"]), min_size=2, max_size=9))
def test_blanks_part_chinese_characters_if_asked(head: Head, words: list[str]) -> None:
    model = tagger(head)
    model.split_at_breaks = True
    try:
        [found] = entities(model, text := " ".join(words))
    finally:
        model.split_at_breaks = False
    assert not any(" " in text[entity.start : entity.end] for entity, _ in found)
