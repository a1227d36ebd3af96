"""Words proposed by a masked LM with random weights: whole words, lengths, rates, windows."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_encoder, save_micro_pretrained
from zh_albert.compression.augmentation.variants import sides_of
from zh_albert.compression.augmentation.word_replacement import (
    WordProposer,
    WordReplacement,
    word_replacements,
)
from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError
from zh_albert.tasks.texts import Content

LONG = "老师让学生把手机交给家长，大家怎么看待这种事？" * 12
TEXTS: list[Content] = [
    "今天天气不错，我们去公园散步吧！",
    ("这部电影好看吗？", "Node.js怎么安装"),
    "😂😂👍🏽",
    "Kubernetes 1.31 is out",
    "好",
    "",
    " \n\ud800",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_micro_pretrained(tmp_path_factory.mktemp("encoder") / "encoder")


@pytest.fixture(scope="module")
def proposer(folder: Path) -> WordProposer:
    return WordProposer(folder)


@pytest.mark.slow
def test_candidates_are_other_words_of_the_same_length(proposer):
    jieba = pytest.importorskip("jieba")
    text = "今天天气不错，我们去图书馆"

    places = proposer(text, 15)

    words = [text[place.start : place.end] for place in places]
    assert words == ["今天天气", "不错", "我们", "去", "图书馆"]
    for word, place in zip(words, places, strict=True):
        assert len({word, *place.candidates}) == 16
        assert all(len(new) == len(word) for new in place.candidates)
        assert all(jieba.dt.FREQ[new] for new in place.candidates)


def test_a_word_is_hidden_from_the_model_that_replaces_it(proposer):
    cities = ("北京", "上海")

    found = [proposer(f"我们昨天去{city}看电影", 100) for city in cities]

    proposed = [[word for word in places[3].candidates if word not in cities] for places in found]
    assert proposed[0][:98] == proposed[1][:98]
    assert found[0][0] != found[1][0]  # the other words are guessed from it


def test_a_traditional_word_is_not_replaced_by_itself(proposer):
    (simplified,) = proposer("国家", 10**6)
    (traditional,) = proposer("國家", 10**6)

    assert "国家" not in simplified.candidates
    assert "国家" not in traditional.candidates


def test_only_chinese_words_are_replaced(proposer):
    text = "穿T恤的𠮷先生用Node.js，3个"

    words = [text[place.start : place.end] for place in proposer(text, 2)]

    assert words == ["穿", "的", "𠮷", "先生", "用", "个"]


def test_words_in_all_windows_are_replaced(proposer):
    places = proposer(LONG, 3)  # windows of 22 tokens

    assert places == sorted(places)
    assert all(one.end <= other.start for one, other in itertools.pairwise(places))
    assert len(LONG) - places[-1].end < 3
    covered = sum(place.end - place.start for place in places)
    assert covered > 0.8 * sum(map(str.isalpha, LONG))


@pytest.mark.slow
def test_words_are_replaced_at_their_rate_and_lengths_stay(folder, proposer):
    places = proposer(LONG, 15)
    drawn = -(-10_000 // len(places))
    wanted = WordReplacement(variants=drawn, encoder=str(folder))

    (variants,) = word_replacements([LONG], wanted, 1)

    assert len(variants) == drawn
    assert {len(variant) for variant in variants} == {len(LONG)}
    draws = drawn * len(places)
    replaced = sum(
        variant[place.start : place.end] != LONG[place.start : place.end]
        for variant in variants
        for place in places
    )
    assert abs(replaced - 0.4 * draws) <= 3 * math.sqrt(draws * 0.4 * 0.6)


@pytest.mark.slow
def test_neither_order_nor_the_other_texts_matter(folder):
    wanted = WordReplacement(variants=4, encoder=str(folder))

    found = [*word_replacements(TEXTS, wanted, 3)]

    assert found == [*word_replacements(TEXTS[::-1], wanted, 3)][::-1]
    assert [*word_replacements(TEXTS[:1], wanted, 3)] == found[:1]
    assert [*word_replacements(TEXTS[:1], wanted, 4)] != found[:1]


@pytest.mark.slow
def test_odd_texts_and_pairs(folder):
    wanted = WordReplacement(variants=12, encoder=str(folder))

    sentence, pair, emoji, english, one, empty, blank = word_replacements(TEXTS, wanted, 3)

    assert len({*sentence}) == len(sentence) > 8
    assert emoji == english == empty == blank == []
    assert all(isinstance(text, str) and len(text) == 1 and text != "好" for text in one)
    old = sides_of(TEXTS[1])
    changed = {tuple(a != b for a, b in zip(sides_of(new), old, strict=True)) for new in pair}
    assert changed == {(True, False), (False, True)}
    assert all(sides_of(new)[1].startswith("Node.js") for new in pair)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"variants": 0}, "variants must be at least 1"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"share": -0.1}, "share must be from 0 to 1"),
        ({"share": 0}, "no text is changed"),
        ({"candidate": 3}, "did you mean 'candidates'"),
    ],
)
def test_bad_settings_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        build(WordReplacement, values)


def test_bad_encoders_are_refused_at_the_call(tmp_path):
    with pytest.raises(CheckpointError, match="no such model folder"):
        word_replacements(["好"], WordReplacement(encoder="encoderr"), 1)
    save_micro_encoder(tmp_path / "encoder")
    with pytest.raises(CheckpointError, match=r"missing predictions\.bias"):
        word_replacements(["好"], WordReplacement(encoder=str(tmp_path / "encoder")), 1)


def test_a_missing_library_is_named_at_the_call(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)

    with pytest.raises(MissingExtraError, match="jieba is not installed"):
        word_replacements(["好"], WordReplacement(encoder=str(folder)), 1)
