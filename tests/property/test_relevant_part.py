"""The part of a context that is read for a question, for any text."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tasks.choice.relevance import relevant_part
from zh_albert.tokenization.tokenizer import default_tokenizer

TOKENIZER = default_tokenizer()
TEXTS = st.text("春天花会开。！，、\n a1", max_size=300)
WORDS = st.text("春天花会开", min_size=1, max_size=6)


@given(TEXTS, WORDS, st.lists(WORDS, min_size=2, max_size=4), st.integers(1, 80))
def test_it_is_of_the_context_in_its_order_and_has_room(
    text: str, question: str, choices: list[str], room: int
) -> None:
    context, asked, *offered = TOKENIZER.encode_batch([text, question, *choices])
    ids = [choice.ids for choice in offered]
    part = relevant_part(text, context, asked.ids, ids, room)
    if len(context) <= room:
        assert part == context
        return
    assert 0 < len(part) <= room
    there = list(zip(context.ids, context.offsets, strict=True))
    places = [there.index(token) for token in zip(part.ids, part.offsets, strict=True)]
    assert places == sorted(set(places))
    # The order of the choices makes no difference.
    assert relevant_part(text, context, asked.ids, ids[::-1], room) == part


@given(st.lists(st.text("春天花会开", min_size=1, max_size=30), min_size=2, max_size=9), WORDS)
def test_sentences_are_read_whole(sentences: list[str], question: str) -> None:
    text = "。".join(sentences) + "。"
    context, asked = TOKENIZER.encode_batch([text, question])
    part = relevant_part(text, context, asked.ids, [asked.ids], 40)
    read = {start for start, _ in part.offsets}
    assert read
    for sentence in re.finditer("[^。]+。", text):
        assert len(read & {*range(*sentence.span())}) in (0, len(sentence[0]))
