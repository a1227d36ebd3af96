"""Whole words as token ranges."""

from __future__ import annotations

import sys

import pytest

from zh_albert.errors import MissingExtraError
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter, word_ranges


def words(text: str, name: str = "rjieba") -> list[str]:
    """Return each word's characters."""
    offsets = default_tokenizer().encode(text).offsets
    ranges = word_ranges(text, offsets, segmenter(name).cut)
    return [text[offsets[w.start][0] : offsets[w.stop - 1][1]] for w in ranges]


@pytest.mark.parametrize("name", ["rjieba", "jieba"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("使用语言模型来预测下一个词", "使用|语言|模型|来|预测|下|一个|词"),
        ("他在Kubernetes上用Node.js", "他|在|Kubernetes|上用|Node|.|js"),
        ("2008-6-1发布iPhone6s", "2008|-|6|-|1|发布|iPhone6s"),
        ("ＡＢＣ１２３ good  morning", "ＡＢＣ１２３|good|morning"),
        ("cafe\u0301s，naïveté！", "cafe\u0301s|，|naïveté|！"),
        ("他说：“好……”", "他|说|：|“|好|…|…|”"),
        ("中\x00国人\u200b民", "中|国人|民"),
        ("穿T恤", "穿|T恤"),
        ("哈😂😂", "哈|😂|😂"),
        ("好\ud800的", "好|的"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_words_are_whole(name, text, expected):
    assert words(text, name) == (expected.split("|") if expected else [])


def test_an_unknown_stretch_over_several_words_is_one_word():
    text = "好的" + "a" * 60 + "𝒳，" + "b" * 60 + "人"

    assert words(text) == ["好", "的", "a" * 60 + "𝒳", "，", "b" * 60, "人"]


def test_a_combining_mark_belongs_to_its_letter():
    offsets = [(i, i + 1) for i in range(6)]

    assert word_ranges("हिन्दी", offsets, list) == [range(6)]


def test_the_segmenter_in_use_is_told(monkeypatch):
    assert segmenter().name == "rjieba"
    assert segmenter("jieba").name == "jieba"
    monkeypatch.setitem(sys.modules, "rjieba", None)
    assert segmenter().name == "jieba"
    with pytest.raises(MissingExtraError, match=r"rjieba is not installed.*zh-albert\[words\]"):
        segmenter("rjieba")
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(MissingExtraError, match="rjieba is not installed"):
        segmenter()
    with pytest.raises(MissingExtraError, match=r"^jieba is not installed"):
        segmenter("jieba")


def test_jieba_says_nothing(capfd):
    list(segmenter("jieba").cut("结巴的词典"))

    assert capfd.readouterr() == ("", "")
