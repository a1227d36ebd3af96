"""Where Chinese sentences end."""

from __future__ import annotations

import pytest

from corpora_tools.sentences import sentence_spans, split_sentences


@pytest.mark.parametrize(
    "marked",  # a bar where a sentence ends
    [
        "好吗？|好！|走吧。|",
        "真的？！|真的。。。|好",
        "他说：“好。走吧。”|然后走了。|",
        "“好。”|“不好。”|走了。|",
        "“走吧。”他笑着说。|走了。|",
        "“走吧。”，他想。|走了。|",
        "「『好。』『走。』」她问道：“去哪儿？”|走了。|",
        "第二句（见上。见下。）在此。|（全句。）|后面。|",
        "他来了……|又走了。|",
        "未闭合的“引号。|第二句。\n|第三句。|",
        "第一段\n\n  |第二段。 |第三句",
        "圆周率是3.14。|见https://a.cn/?id=1。|Dr. Smith said it. |Good.",
        '他说："好。走。"|"不。"|走了。|',
        "！！！|",
        "真的!……|a，好……，对!。|a！|",
    ],
)
def test_sentences_end_at_the_bars(marked: str) -> None:
    sentences = marked.removesuffix("|").split("|")
    assert split_sentences("".join(sentences)) == sentences


def test_an_empty_text_has_no_sentence() -> None:
    assert sentence_spans("") == []


def test_a_quotation_of_more_than_200_characters_is_cut_inside() -> None:
    assert [len(split_sentences("“" + "很长的话。" * n + "”")) for n in (40, 41)] == [1, 41]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    ["字" * 5_000_000, "“" * 1_000_000, "“" * 300_000 + "」" * 300_000, "\n" * 1_000_000],
)
def test_time_grows_with_the_length_only(text: str) -> None:
    assert sentence_spans(text) == [(0, len(text))]


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("mark", "after"),
    [("。", "，好"), ("！？", "，好"), ("!", "a"), ("…", "，好"), ("!。", "，好"), ("…。", "，好")],
)
def test_a_run_of_marks_that_ends_no_sentence_is_read_once(mark: str, after: str) -> None:
    text = "好" + mark * 100_000 + after
    assert sentence_spans(text) == [(0, len(text))]
