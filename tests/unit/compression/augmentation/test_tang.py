"""Words masked, exchanged and cut to n-grams: rates, parts of speech, order, odd texts."""

from __future__ import annotations

import math
import random
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zh_albert.compression.augmentation.tang import (
    MASKED,
    Frequencies,
    TangAugmentation,
    tagger,
    tang_variants,
)
from zh_albert.compression.augmentation.variants import sides_of
from zh_albert.configio import build
from zh_albert.errors import ConfigError, MissingExtraError
from zh_albert.tasks.texts import Content, has_content
from zh_albert.tokenization.words import segmenter

WORDS = [
    "学生",
    "老师",
    "手机",
    "苹果",
    "喜欢",
    "学习",
    "讨论",
    "漂亮",
    "高兴",
    "聪明",
    "北京",
    "上海",
    "iPhone",
    "Node",
    "因为",
    "虽然",
]
TEXTS: list[Content] = [
    "今天天气不错，我们去公园散步吧！",
    "老师让学生把手机交给家长",
    ("这部电影好看吗？", "电影院在哪里"),
    "😂😂👍🏽",
    "Kubernetes 1.31 is out",
    "好",
    "",
    " \n",
]


def long_text(words: int) -> str:
    """Return a text of which every word stands between commas."""
    rng = random.Random(7)
    return "，".join(rng.choice(WORDS) for _ in range(words))


def variants_of(text: str, **kwargs: float) -> list[str]:
    nothing = {"mask": 0.0, "same_pos": 0.0, "ngram": 0.0}
    (found,) = tang_variants([text], build(TangAugmentation, nothing | kwargs), 1)
    assert all(isinstance(variant, str) for variant in found)
    return [*map(str, found)]


def within_three_sigma(count: int, rate: float, draws: int) -> bool:
    return abs(count - rate * draws) <= 3 * math.sqrt(draws * rate * (1 - rate))


@pytest.mark.slow
def test_words_are_masked_and_exchanged_at_their_rates():
    text = long_text(10_000)
    tags = {word: tagger()(word) for word in WORDS}
    assert all(len(tagged) == 1 for tagged in tags.values())

    (variant,) = variants_of(text, variants=1, mask=0.1, same_pos=0.1)

    pairs = [*zip(text.split("，"), variant.split("，"), strict=True)]
    masked = sum(new == MASKED for _, new in pairs)
    exchanged = [(old, new) for old, new in pairs if new not in (old, MASKED)]
    assert within_three_sigma(masked, 0.1, 10_000)
    assert within_three_sigma(len(exchanged), 0.1, 10_000)
    assert all(tags[old][0].tag == tags[new][0].tag for old, new in exchanged)


def test_a_share_of_variants_are_ngrams():
    text = long_text(200)

    variants = variants_of(text, variants=2000, ngram=0.25, mask=0.5)

    # Equal n-grams, and those of masks alone, are left out; 200 half-masked words never recur.
    whole = sum(variant.count("，") == 199 for variant in variants)
    assert within_three_sigma(whole, 0.75, 2000)


def test_ngrams_are_one_to_five_neighbouring_words():
    text = "，".join(f"{number}" for number in range(100, 300))

    variants = variants_of(text, variants=500, ngram=1)

    assert {1 + variant.count("，") for variant in variants} == {1, 2, 3, 4, 5}
    assert all(f"，{variant}，" in f"，{text}，" for variant in variants)


def test_other_words_are_drawn_by_frequency():
    drawn, rng = Frequencies({"甲": 1, "乙": 3, "丙": 96}), random.Random(1)

    counts = Counter(drawn.another("丙", rng) for _ in range(4000))

    assert counts.keys() == {"甲", "乙"}
    assert within_three_sigma(counts["乙"], 0.75, 4000)
    assert Frequencies({"甲": 5}).another("甲", rng) == "甲"


def test_order_does_not_matter():
    found = [*tang_variants(TEXTS, TangAugmentation(), 3)]
    turned = [*tang_variants(TEXTS[::-1], TangAugmentation(), 3)]

    assert found == turned[::-1]
    assert found != [*tang_variants(TEXTS, TangAugmentation(), 4)]


def test_a_pair_keeps_one_text_or_changes_both():
    pair = ("这部电影好看吗？", "电影院在哪里")
    (found,) = tang_variants([pair], TangAugmentation(mask=0.5), 1)

    kept = Counter((new[0] == pair[0], new[1] == pair[1]) for new in found)
    assert kept.keys() == {(True, False), (False, True), (False, False)}


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30) | st.tuples(st.text(max_size=9), st.text(max_size=9))))
def test_variants_of_any_text_are_distinct_and_say_something(contents):
    for content, found in zip(
        contents, tang_variants(contents, TangAugmentation(variants=6), 1), strict=True
    ):
        assert len({content, *found}) == len(found) + 1 <= 7
        for variant in found:
            changed = set(sides_of(variant)) - set(sides_of(content))
            assert all(has_content(side) for side in changed)


def test_odd_texts_have_few_variants():
    found = dict(zip(TEXTS, tang_variants(TEXTS, TangAugmentation(), 1), strict=True))

    assert found["😂😂👍🏽"] == found[""] == found[" \n"] == []
    assert all(variant != MASKED for variant in found["好"])
    assert "Kubernetes" in found["Kubernetes 1.31 is out"]


def test_words_are_the_text_s_own():
    text = "他说\ud800：Ａbc 😂\n好"

    words = tagger()(text)

    assert "".join(word.text for word in words) == text
    assert [word.text for word in words if not word.tag] == ["\ud800", "：", " ", "😂", "\n"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"variants": 0}, "variants must be at least 1, got 0"),
        ({"mask": 1.5}, "mask must be from 0 to 1, got 1.5"),
        ({"ngram": float("nan")}, "ngram must be from 0 to 1"),
        ({"mask": 0.6, "same_pos": 0.6}, "add up to at most 1, got 0.6 and 0.6"),
        ({"mask": 0, "same_pos": 0, "ngram": 0}, "no text is changed"),
        ({"same_po": 0.1}, "did you mean 'same_pos'"),
    ],
)
def test_bad_settings_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        build(TangAugmentation, values)


def test_a_missing_library_is_named_at_the_call(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)

    with pytest.raises(MissingExtraError, match=r"jieba is not installed.*zh-albert\[words\]"):
        tang_variants(["好"], TangAugmentation(), 1)


def test_nothing_is_printed(capfd):
    segmenter("jieba")
    tagger()("结巴的词典")

    assert capfd.readouterr() == ("", "")
