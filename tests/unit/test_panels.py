"""The demo's panels, without a browser: what is shown, and that user text is only ever text."""

from __future__ import annotations

import socket

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.answers import MAX_CHARACTERS, announce, classify, classify_typed, cut_and_mask
from apps.gradio_demo import build_demo, serve
from apps.markup import escape, notice, shown
from apps.models import Models
from apps.panels import (
    MAX_BARS,
    Answer,
    choices,
    class_name,
    classification_panel,
    percentages,
)
from apps.texts.languages import CHINESE
from apps.token_panels import CutText, tokens_panel
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.errors import DataError, MissingExtraError, ZhAlbertError
from zh_albert.tasks.classification.predictor import Classification, Classifier, EnsembleMembers
from zh_albert.tasks.texts import Content
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter

texts_of_all_kinds = st.text(st.characters(codec=None), max_size=60)  # lone surrogates too


def cut(text: str) -> CutText:
    """Cut into single characters, two to a word; spaces belong to none."""
    offsets = [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]
    words = [range(i, min(i + 2, len(offsets))) for i in range(0, len(offsets), 2)]
    rows = [text[a:b] for a, b in offsets]
    return CutText(text, list(range(100, 100 + len(offsets))), rows, offsets, words, unknown=1)


def answer(scores: dict[str, float], model: str = "sentiment") -> Answer:
    label = max(scores, key=lambda name: scores[name])
    return Answer(model, Classification(label, scores[label], scores), 0.0123)


@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=130).filter(lambda s: sum(s) > 0.01))
def test_percentages_sum_to_a_hundred_and_are_near(scores: list[float]) -> None:
    percents = percentages(scores)

    assert sum(round(10 * percent) for percent in percents) == 1000
    for score, percent in zip(scores, percents, strict=True):
        assert percent == pytest.approx(100 * score / sum(scores), abs=0.100001)


def test_a_classification_shows_bars_with_chinese_names_and_the_winner() -> None:
    panel = classification_panel(
        CHINESE, "好吃！", [answer({"positive": 0.973, "negative": 0.027})]
    )

    assert Reader(panel).bars == [97.3, 2.7]
    assert "好评" in panel
    assert '<span class="za-raw">positive</span>' in panel
    assert panel.count("za-winner") == 1
    assert panel.index("za-winner") < panel.index("差评")
    assert 'style="width:97.3%"' in panel
    assert "12 ms" in panel


def test_two_models_stand_side_by_side() -> None:
    news = answer({"news_finance": 0.5, "news_car": 0.5}, "news")
    panel = classification_panel(
        CHINESE, "股市", [answer({"positive": 1.0, "negative": 0.0}), news]
    )

    assert panel.count("<section") == 2
    assert "财经" in panel
    assert "情感" in panel


def test_many_classes_share_the_last_bar() -> None:
    scores = {f"类{i}": 1 / 119 for i in range(119)}
    panel = classification_panel(CHINESE, "应用", [answer(scores, "iflytek")])

    bars = Reader(panel).bars
    assert len(bars) == MAX_BARS + 1
    assert sum(bars) == pytest.approx(100)
    assert "其余 99 类合计" in panel


def test_labels_without_a_chinese_name_are_shown_as_they_are() -> None:
    panel = classification_panel(CHINESE, "x", [answer({"<b>退款</b>": 1.0}, "my <model>")])

    assert class_name(CHINESE, "退款") == "退款"
    assert "&lt;b&gt;退款&lt;/b&gt;" in panel
    assert set(Reader(panel).tags) <= OURS


def test_all_fifteen_news_classes_have_their_own_name() -> None:
    names = [name for label, name in CHINESE.labels.classes.items() if label.startswith("news_")]
    assert len(set(names)) == 15


def test_choices_offer_both_models_only_if_there_are_two() -> None:
    assert [value for _, value in choices(CHINESE, {"sentiment": 0})] == ["sentiment"]
    assert choices(CHINESE, {}) == []
    assert choices(CHINESE, {"a": 0, "b": 0, "c": 0})[0] == (CHINESE.classification.all_models, "")


@given(text=texts_of_all_kinds)
@example(text=HOSTILE)
def test_user_text_brings_no_element_and_no_attribute(text: str) -> None:
    panels = [
        classification_panel(CHINESE, text, [answer({text: 0.6, "negative": 0.4}, text)]),
        tokens_panel(CHINESE, cut(text), [0] if text.strip() else []),
        notice(CHINESE.page.failed.filled(reason=text)),
    ]
    for panel in panels:
        panel.encode()  # what JSON and UTF-8 cannot hold is gone
        read = Reader(panel)
        assert set(read.tags) <= OURS
        assert not [name for name, _ in read.attributes if name.startswith("on")]
        assert not set(panel) & set("${}@`\0")


@given(text=texts_of_all_kinds, seed=st.integers(0, 99))
@example(text="a\r\n b\u3000\u200b\ud800c\0", seed=1)
def test_every_character_is_drawn_and_each_box_is_a_slice(text: str, seed: int) -> None:
    parts = cut(text)
    words = parts.words[:: 1 + seed % 3]
    read = Reader(tokens_panel(CHINESE, parts, [token for word in words for token in word]))

    assert read.flows.get("za-flow za-tokens", "") == text
    assert read.slices == [text[a:b] for a, b in parts.offsets]


def test_masked_tokens_are_replaced_and_nothing_else() -> None:
    read = Reader(tokens_panel(CHINESE, cut("今天 天气好"), [2, 3]))

    assert read.flows["za-flow za-mask"] == "今天 [MASK][MASK]好"


def test_unknown_tokens_and_tokens_of_one_character_are_marked() -> None:
    parts = CutText("㎏𠮷", [5, 6, 1], ["k", "g", "[UNK]"], [(0, 1), (0, 1), (1, 2)], [], unknown=1)
    parts.words.extend([range(2), range(2, 3)])
    panel = tokens_panel(CHINESE, parts, [])

    assert Reader(panel).slices == ["㎏", "𠮷"]
    assert "k · id 5 + g · id 6" in panel
    assert panel.count("<small>[UNK]</small>") == 1


@pytest.mark.parametrize("length", [10, 11, 12, 13])
def test_a_long_text_is_drawn_up_to_the_limit_and_counted_in_full(length: int) -> None:
    text = "一二三四五六七八九十 甲乙"[:length]
    panel = tokens_panel(CHINESE, cut(text), [], limit=10)
    read = Reader(panel)

    assert read.flows["za-flow za-tokens"] == text[:10]
    assert read.flows["za-flow za-mask"] == text[:10]
    assert (f"共 {length} 个" in panel) == (length > 10)
    assert f'<strong class="za-count">{length}</strong>' in panel


def test_one_huge_token_is_cut_in_the_drawing() -> None:
    parts = CutText("x" * 5000, [1], ["[UNK]"], [(0, 5000)], [range(1)], unknown=1)

    assert Reader(tokens_panel(CHINESE, parts, [])).slices == ["x" * 2000]
    assert len(tokens_panel(CHINESE, parts, [0])) < 6000


def test_characters_with_nothing_to_see_get_a_sign() -> None:
    assert "␣" in shown(" ")
    assert "␀" in shown("\0")
    assert "↵" in shown("\n")
    assert "<br>" in shown("\n")
    assert "U+FE0F" in shown("\ufe0f")
    assert escape("\ud800") == "\ufffd"


class ClassifierOf(Classifier):
    """Says what it was made with, of any text."""

    def __init__(self, result: Classification | Exception) -> None:
        self._result = result

    def members(self, text: Content) -> EnsembleMembers:
        if isinstance(self._result, Exception):
            raise self._result
        return EnsembleMembers(together=self._result, network=self._result, ngrams=None)


POSITIVE = Classification("positive", 0.9, {"positive": 0.9, "negative": 0.1})
MODELS = {"sentiment": ClassifierOf(POSITIVE), "mine": ClassifierOf(POSITIVE)}


def test_a_chosen_model_answers_alone_and_no_choice_means_all() -> None:
    assert classify(CHINESE, MODELS, "好", "mine").count("<section") == 1
    assert classify(CHINESE, MODELS, "好", "").count("<section") == 2
    assert classify(CHINESE, MODELS, "好", None).count("<section") == 2


@pytest.mark.parametrize(
    ("models", "text", "expected"),
    [
        (MODELS, "", "请先输入要分类的文本"),
        (MODELS, None, "请先输入要分类的文本"),
        (MODELS, "好" * (MAX_CHARACTERS + 1), "超过了网页的上限 100,000 个"),
        ({"a": ClassifierOf(DataError("texts[0] is empty"))}, " \0", "没有模型能读的字符"),
        (
            {"a": ClassifierOf(RuntimeError("not enough\nmemory <b>"))},
            "好",
            "not enough memory &lt;b&gt;",
        ),
        ({}, "好", "还没有随附的分类模型"),
    ],
)
def test_what_cannot_be_classified_is_explained_in_chinese(
    models: dict[str, Classifier], text: str | None, expected: str
) -> None:
    assert expected in classify(CHINESE, models, text, "")


def test_while_typing_nothing_is_an_error_and_a_long_text_waits_for_the_button() -> None:
    assert "结果会显示在这里" in classify_typed(CHINESE, MODELS, " \n", "")
    assert "还没有随附的分类模型" in classify_typed(CHINESE, {}, "", None)
    assert "好评" in classify_typed(CHINESE, MODELS, "好" * 1000, "")
    assert "请按“分类”按钮" in classify_typed(CHINESE, MODELS, "好" * 1001, "")
    assert "超过了网页的上限" in classify_typed(CHINESE, MODELS, "好" * (MAX_CHARACTERS + 1), "")


def test_a_long_text_that_was_asked_for_is_announced_first() -> None:
    assert announce(CHINESE, MODELS, "好" * 1000) == announce(CHINESE, MODELS, "") == ""
    assert "正在读 1,001 个字符" in announce(CHINESE, MODELS, "好" * 1001)


@given(text=texts_of_all_kinds.filter(bool), seed=st.integers(0, 99))
@example(text="价格：１２８元 iPhone，\u200b真好😀！\ud800\0", seed=0)
def test_the_second_tab_draws_every_character_of_a_real_encoding(text: str, seed: int) -> None:
    tokenizer = default_tokenizer()
    panel = cut_and_mask(CHINESE, tokenizer, segmenter().cut, text, seed)
    read = Reader(panel)

    assert read.flows.get("za-flow za-tokens", "") == text
    assert ("[MASK]" in read.flows.get("za-flow za-mask", "")) == bool(tokenizer.encode(text).ids)


def test_the_second_tab_explains_what_it_cannot_draw() -> None:
    tokenizer, segment = default_tokenizer(), segmenter().cut

    assert "请先输入要切分的文本" in cut_and_mask(CHINESE, tokenizer, segment, "", 0)
    assert "超过了网页的上限" in cut_and_mask(
        CHINESE, tokenizer, segment, "好" * (MAX_CHARACTERS + 1), 0
    )
    assert cut_and_mask(CHINESE, tokenizer, segment, "今天天气很好，出门走走", 1) != cut_and_mask(
        CHINESE, tokenizer, segment, "今天天气很好，出门走走", 2
    )


def test_a_port_in_use_is_one_line_that_names_the_option() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ZhAlbertError, match=r"port \d+ is in use; .*--port") as caught:
            serve(port=taken.getsockname()[1], models=[])
    assert "\n" not in str(caught.value)


def test_without_gradio_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gradio", None)
    with pytest.raises(MissingExtraError, match=r"zh-albert\[demo\]"):
        build_demo(CHINESE, Models())
