"""The fill-mask tab without a browser: words, what is hidden, what is put there, and refusals."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.fill_answers import MAX_CHARACTERS, MAX_GAPS, FillAnswers, FillState
from apps.fill_panels import Gap, Word, fill_panel, words_panel
from apps.texts.examples import HIDDEN, MASKS
from apps.texts.languages import CHINESE
from tests.micro import save_micro_pretrained
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.errors import DataError
from zh_albert.inference.fill_mask import MASK, Candidate, FillMask
from zh_albert.tokenization.words import segmenter

TAGS = OURS | {"button", "h4", "mark"}
SENTENCE = "周末我们去公园散步。"


@pytest.fixture(scope="module")
def filler(tmp_path_factory: pytest.TempPathFactory) -> FillMask:
    folder = tmp_path_factory.mktemp("encoder") / "encoder"
    return FillMask(save_micro_pretrained(folder, max_length=512))


@pytest.fixture(scope="module")
def answers(filler: FillMask) -> FillAnswers:
    return FillAnswers(CHINESE, filler, segmenter().cut)


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
        read = Reader(panel)
        assert set(read.tags) <= TAGS
        assert not [name for name, _ in read.attributes if name.startswith("on")]
        assert not set(panel) & set("${}@`\0")


@given(text=st.text(st.characters(codec=None), max_size=60))
@example(text=HOSTILE)
def test_the_words_show_every_character(answers: FillAnswers, text: str) -> None:
    read = Reader(words_panel(CHINESE, text, answers.words(text), []))

    if answers.words(text):
        shown = read.flows["za-flow za-words"]
        assert shown == re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert set(read.tags) <= TAGS


def test_a_click_hides_a_word_and_another_puts_it_back(answers: FillAnswers) -> None:
    state = answers.typed(SENTENCE, [])
    assert 'data-word="5"' in state.words
    assert pressed(state) == []
    assert "还没有遮住的地方" in state.result

    state = answers.toggled(SENTENCE, state.hidden, "5")
    assert pressed(state) == ["公园"]
    assert "原词：公园" in state.result
    state = answers.toggled(SENTENCE, state.hidden, "7")
    assert "原词：公园散步" in state.result, "words side by side are one blank"
    state = answers.toggled(SENTENCE, state.hidden, "5")
    assert pressed(state) == ["散步"]

    for nonsense in ("6", "x", None, ["5"], ""):
        assert answers.toggled(SENTENCE, state.hidden, nonsense).hidden == state.hidden


def test_typing_keeps_what_is_hidden_while_it_stands_there(answers: FillAnswers) -> None:
    hidden = answers.toggled(SENTENCE, [], "5").hidden

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


@pytest.mark.parametrize("marked", [example.text for example in (*HIDDEN, *MASKS)])
def test_every_example_hides_what_it_says(answers: FillAnswers, marked: str) -> None:
    text, state = answers.example(marked)

    assert [text for _, _, text in state.hidden] == re.findall("【(.*?)】", marked)
    assert "za-card" in state.result
    assert not set(text) & set("【】")


def test_the_hidden_word_is_marked_among_the_candidates() -> None:
    candidates = [Candidate("公园", 0.61234), Candidate("山里", 0.2), Candidate("网上", 0.0001)]
    right = fill_panel(CHINESE, "去公园", [Gap(1, 3, "公园", candidates)], 0.01)
    wrong = fill_panel(CHINESE, "去山里", [Gap(1, 3, "山里", candidates)], 0.01)
    typed = fill_panel(CHINESE, "去[MASK]", [Gap(1, 7, "[MASK]", candidates)], 0.01)

    assert Reader(right).bars == [61.2, 20.0, 0.0]
    assert "&lt;0.1%" in right
    assert "猜中：公园" in right
    assert '<mark class="za-put za-right">公园</mark>' in right
    assert "原词：山里" in wrong
    assert wrong.count('<span class="za-raw">原词</span>') == 1
    assert "猜中" not in typed
    assert "原词" not in typed


def test_capitals_are_no_other_word() -> None:
    gap = Gap(0, 6, "iPhone", [Candidate("iphone", 0.5)])
    assert gap.is_guessed


def test_words_that_stand_twice_are_two() -> None:
    words = [Word(0, 1, "人"), Word(1, 2, "人")]
    panel = words_panel(CHINESE, "人人", words, words[1:])
    assert re.findall(r'aria-pressed="(\w+)"', panel) == ["false", "true"]


def test_a_damaged_folder_is_not_taken_for_none(tmp_path: Path) -> None:
    from apps.gradio_demo import serve
    from zh_albert.errors import CheckpointError

    folder = save_micro_pretrained(tmp_path / "encoder")
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="not a complete safetensors file"):
        serve(port=0, models=[str(folder)])
