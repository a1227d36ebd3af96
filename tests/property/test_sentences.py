"""Sentence spans cover any text, and their ends stand where they should."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from corpora_tools.sentences import sentence_spans, split_sentences

MARKS = "。！？…，、：“”‘’「」（）()《》\"'!?. \n\t说道ab一二三𠮷é1/="
TEXTS = st.one_of(st.text(alphabet=MARKS, max_size=80), st.text(max_size=80))


@given(TEXTS)
def test_joined_sentences_are_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@given(TEXTS)
def test_spans_stand_side_by_side_and_none_is_empty(text: str) -> None:
    spans = sentence_spans(text)
    edges = [0, *(end for _, end in spans)]
    assert spans == list(itertools.pairwise(edges))
    assert all(start < end for start, end in spans)
    assert edges[-1] == len(text)


@given(TEXTS)
def test_no_sentence_begins_with_a_closing_mark_after_a_stop(text: str) -> None:
    sentences = split_sentences(text)
    for before, after in itertools.pairwise(sentences):
        if before[-1] in "。！？":
            assert after[0] not in "”’」）。！？，"


@given(st.lists(st.text(alphabet="一二三，", min_size=1, max_size=9), min_size=1, max_size=5))
def test_a_closed_quotation_is_never_cut(parts: list[str]) -> None:
    quotation = "“" + "。".join(["甲", *parts]) + "”"
    text = f"一句。他叫{quotation}，完了。又一句。"
    assert sum(quotation in sentence for sentence in split_sentences(text)) == 1


@given(st.lists(st.text(alphabet="一二三，", min_size=1, max_size=9), min_size=1, max_size=8))
def test_each_plain_sentence_is_one(parts: list[str]) -> None:
    sentences = [f"甲{part}乙。" for part in parts]
    assert split_sentences("".join(sentences)) == sentences
