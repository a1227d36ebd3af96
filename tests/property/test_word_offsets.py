"""For any string and any tags: words are slices of it that lose and double nothing."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers.odd_texts import ANYTHING, odd_tokenizer
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import init_weights
from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.predictor import Segmenter
from zh_albert.tasks.segmentation.segmenter import Head, TextSegmenter
from zh_albert.tasks.segmentation.tags import legal_transitions, tags_of, words_of
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer


def tokenizer(*, odd: bool) -> Tokenizer:
    return odd_tokenizer(True) if odd else default_tokenizer()


def assert_words(text: str, words: list[WordSpan]) -> None:
    """Check that words are in order and cover what is no white space exactly once."""
    covered = [place for start, end in words for place in range(start, end)]
    assert covered == [place for place, character in enumerate(text) if not character.isspace()]
    assert all(start < end for start, end in words)


@pytest.mark.parametrize("odd", [False, True])
@given(text=ANYTHING, data=st.data())
def test_any_tags_cut_a_text_into_all_of_its_characters(
    odd: bool, text: str, data: st.DataObject
) -> None:
    offsets = tokenizer(odd=odd).encode(text).offsets
    tags = data.draw(
        st.lists(st.integers(0, 3), min_size=len(offsets), max_size=len(offsets)), label="tags"
    )
    assert_words(text, words_of(text, tags, offsets))


@pytest.mark.parametrize("odd", [False, True])
@given(text=ANYTHING, data=st.data())
@example(text="a\x1cb", data=None)
def test_tags_of_words_are_legal_and_make_words_that_can_be_tagged_again(
    odd: bool, text: str, data: st.DataObject | None
) -> None:
    places = [place for place, character in enumerate(text) if not character.isspace()]
    cuts = data.draw(st.sets(st.sampled_from(places))) if data and places else set(places)
    words = []
    for word in text.split():  # only to have some borders between characters
        start = text.index(word, words[-1].end if words else 0)
        borders = [start, *sorted(c for c in cuts if start < c < start + len(word))]
        words += [WordSpan(*pair) for pair in itertools.pairwise([*borders, start + len(word)])]
    assert_words(text, words)

    offsets = tokenizer(odd=odd).encode(text).offsets
    tags = tags_of(words, offsets)
    assert len(tags) == len(offsets)
    transitions = legal_transitions()
    if tags:
        assert transitions.start[tags[0]]
        assert transitions.end[tags[-1]]
        assert all(transitions.between[pair] for pair in itertools.pairwise(tags))
    assert_words(text, words_of(text, tags, offsets))


@cache
def segmenter(head: Head, *, odd: bool) -> Segmenter:
    """A segmenter with random weights, which reads four tokens at a time."""
    chosen = tokenizer(odd=odd)
    config = AlbertConfig(
        vocab_size=chosen.vocab_size,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    made = TextSegmenter(config, chosen, window=WindowConfig(max_length=10, stride=3), head=head)
    torch.manual_seed(0)
    init_weights(made.module, 0.5)
    return Segmenter(made)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("head", ["softmax", "crf"])
@given(text=ANYTHING)
def test_predicted_words_are_slices_of_the_text(head: Head, odd: bool, text: str) -> None:
    [words] = segmenter(head, odd=odd)([text])
    assert_words(text, [WordSpan(word.start, word.end) for word in words])
    assert all(word.text == text[word.start : word.end] for word in words)
    assert "".join(word.text for word in words) == "".join(text.split())
