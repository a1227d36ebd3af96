"""The fill-mask tab's answers: words, hidden ones, what replaces them, and refusals."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.examples import read_examples
from apps.tabs.fill_mask.answers import MAX_CHARACTERS, MAX_GAPS, FillAnswers, FillState
from apps.tabs.fill_mask.panels import words_panel
from apps.tabs.fill_mask.strings import CHINESE
from tests.helpers.micro import save_micro_pretrained
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader, check_is_only_text
from zh_albert.errors import DataError
from zh_albert.inference.fill_mask import MASK, Candidate, FillMask, Spot
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter

TAGS = OURS | {"button", "h4", "mark"}


SENTENCE = "周末我们去公园散步。"
EXAMPLES = [one.texts[0] for group in read_examples("fill_mask").values() for one in group]


@pytest.fixture(scope="module")
def filler(tmp_path_factory: pytest.TempPathFactory) -> FillMask:
    folder = tmp_path_factory.mktemp("encoder") / "encoder"
    return FillMask(save_micro_pretrained(folder, max_length=512))


@pytest.fixture(scope="module")
def answers(filler: FillMask) -> FillAnswers:
    return FillAnswers(CHINESE, filler, segmenter().cut)


@pytest.mark.parametrize("word", ["公园", "公園"])
def test_a_traditional_word_is_guessed_by_its_simplified_form(
    filler: FillMask, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    spots = [Spot(1, 1 + 2 * len(MASK), [Candidate("公园", 0.9)])]
    monkeypatch.setattr(FillMask, "__call__", lambda *_: [spots])
    monkeypatch.setattr(filler, "tokenizer", default_tokenizer())
    answers = FillAnswers(CHINESE, filler, lambda _: ["去", word, "散步"])
    state = answers.typed(f"去{word}散步", [[1, 3, word]])
    assert f"猜中：{word}" in state.result


def sentence_of(state: FillState) -> str:
    """Return the sentence as the model filled it."""
    found = re.search(r'<p class="za-sentence">(.*?)</p>', state.result)
    assert found, state.result
    return html.unescape(re.sub("<.*?>", "", found[1]))


def pressed(state: FillState) -> list[str]:
    return re.findall(r'aria-pressed="true">(.*?)</button>', state.words)


typed = st.lists(
    st.sampled_from(
        ["公园", "我们", "散步", "，", MASK, " ", "iPhone", "１２", "😀", "[", "\n", "<b>"]
    ),
    max_size=7,
).map("".join)


@pytest.mark.slow
@settings(max_examples=40)
@given(text=typed, share=st.integers(1, 4))
@example(text=HOSTILE, share=5)
def test_every_hidden_word_is_replaced_where_it_stood(
    filler: FillMask, answers: FillAnswers, text: str, share: int
) -> None:
    words = answers.words(text)
    hidden = words[::share]
    assert all(text[start:end] == name for start, end, name in words)
    masked = text
    for word in reversed(hidden):
        masked = filler.hide(masked, word.start, word.end)
    expected = masked
    if MASK not in masked or masked.count(MASK) > 20:
        return
    spots = filler(masked)[0]
    if len(spots) > MAX_GAPS:
        return
    for spot in reversed(spots):
        expected = expected[: spot.start] + spot.candidates[0].text + expected[spot.end :]

    state = answers.typed(text, hidden)

    assert sentence_of(state) == expected.replace("\n", "↵")
    assert state.result.count("data-gap=") == len(spots)
    assert state.hidden == hidden
    for panel in (state.words, state.result):
        check_is_only_text(panel, TAGS)


@given(text=st.text(st.characters(codec=None), max_size=60))
@example(text=HOSTILE)
def test_the_words_show_every_character(answers: FillAnswers, text: str) -> None:
    read = PanelReader(words_panel(CHINESE, text, answers.words(text), []))

    if answers.words(text):
        shown = read.flows["za-flow za-words"]
        assert shown == re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert set(read.tags) <= TAGS


def test_a_click_hides_a_word_and_another_puts_it_back(answers: FillAnswers) -> None:
    state = answers.typed(SENTENCE, [])
    assert 'data-word="5"' in state.words
    assert pressed(state) == []
    assert "还没有遮住的地方" in state.result

    state = answers.hiding(SENTENCE, ["5"])
    assert pressed(state) == ["公园"]
    assert "原词：公园" in state.result
    state = answers.hiding(SENTENCE, ["5", "7"])
    assert "原词：公园散步" in state.result, "words side by side are one blank"
    state = answers.hiding(SENTENCE, ["7"])
    assert pressed(state) == ["散步"]

    for nonsense in ("5", ["6"], ["x"], None, [["5"]], [5], {"5": 1}):
        assert answers.hiding(SENTENCE, nonsense).hidden == []


def test_typing_keeps_what_is_hidden_while_it_stands_there(answers: FillAnswers) -> None:
    hidden = answers.hiding(SENTENCE, ["5"]).hidden

    assert pressed(answers.typed(SENTENCE + "天气很好", hidden)) == ["公园"]
    assert pressed(answers.typed("今天" + SENTENCE, hidden)) == []
    assert pressed(answers.typed("周末我们去商场购物。", hidden)) == []
    assert answers.typed("", hidden).hidden == []


def test_a_typed_mask_is_no_word(answers: FillAnswers) -> None:
    words = answers.words("去[MASK][MASK]散步")
    assert [word.text for word in words] == ["去", "散步"]
    assert "2 个 [MASK]" in answers.typed("去[MASK][MASK]散步", []).result


@pytest.mark.parametrize(
    ("text", "waiting", "asked"),
    [
        ("", "候选词会显示在这里", "请先输入一句话"),
        (" \n", "候选词会显示在这里", "请先输入一句话"),
        ("今天天气很好", "点一个词把它遮住", "点一个词把它遮住"),
        ("好" * (MAX_CHARACTERS + 1), "这一页最多 500 个", "这一页最多 500 个"),
        ("好[MASK]" * (MAX_GAPS + 1), "一次最多猜 12 处", "一次最多猜 12 处"),
    ],
)
def test_what_cannot_be_filled_is_explained_in_chinese(
    answers: FillAnswers, text: str, waiting: str, asked: str
) -> None:
    assert waiting in answers.typed(text, []).result
    state = answers.asked(text, [])
    assert asked in state.result
    assert 'role="alert"' in state.result


def test_a_model_that_fails_is_told_in_one_line(
    answers: FillAnswers, filler: FillMask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DataError("the window\nis too small <b>")

    monkeypatch.setattr(FillMask, "__call__", fail)
    assert "the window is too small &lt;b&gt;" in answers.typed("[MASK]", []).result


@pytest.mark.parametrize("marked", EXAMPLES)
def test_every_example_hides_what_it_says(answers: FillAnswers, marked: str) -> None:
    text, state = answers.example(marked)

    assert [text for _, _, text in state.hidden] == re.findall("【(.*?)】", marked)
    assert "za-card" in state.result
    assert not set(text) & set("【】")
