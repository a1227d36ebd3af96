"""The tokens tab's panel: every character is drawn, and each box is a slice of the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.tabs.tokens import panels
from apps.tabs.tokens.panels import TokenizedText, tokens_panel
from apps.tabs.tokens.strings import CHINESE
from tests.helpers.panel_reader import HOSTILE, PanelReader, check_is_only_text

texts_of_all_kinds = st.text(st.characters(codec=None), max_size=60)  # lone surrogates too


def cut(text: str) -> TokenizedText:
    """Cut into single characters, two to a word; spaces belong to none."""
    offsets = [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]
    words = [range(i, min(i + 2, len(offsets))) for i in range(0, len(offsets), 2)]
    rows = [text[a:b] for a, b in offsets]
    return TokenizedText(
        text, list(range(100, 100 + len(offsets))), rows, offsets, words, unknown=1
    )


@given(text=texts_of_all_kinds)
@example(text=HOSTILE)
def test_user_text_brings_no_element_and_no_attribute(text: str) -> None:
    check_is_only_text(tokens_panel(CHINESE, cut(text), [0] if text.strip() else []))


@given(text=texts_of_all_kinds, seed=st.integers(0, 99))
@example(text="a\r\n b\u3000\u200b\ud800c\0", seed=1)
def test_every_character_is_drawn_and_each_box_is_a_slice(text: str, seed: int) -> None:
    parts = cut(text)
    words = parts.words[:: 1 + seed % 3]
    read = PanelReader(tokens_panel(CHINESE, parts, [token for word in words for token in word]))

    assert read.flows.get("za-flow za-tokens", "") == text
    assert read.slices == [text[a:b] for a, b in parts.offsets]


def test_masked_tokens_are_replaced_and_nothing_else() -> None:
    read = PanelReader(tokens_panel(CHINESE, cut("今天 天气好"), [2, 3]))

    assert read.flows["za-flow za-mask"] == "今天 [MASK][MASK]好"


def test_unknown_tokens_and_tokens_of_one_character_are_marked() -> None:
    parts = TokenizedText(
        "㎏𠮷", [5, 6, 1], ["k", "g", "[UNK]"], [(0, 1), (0, 1), (1, 2)], [], unknown=1
    )
    parts.words.extend([range(2), range(2, 3)])
    panel = tokens_panel(CHINESE, parts, [])

    assert PanelReader(panel).slices == ["㎏", "𠮷"]
    assert "k · id 5 + g · id 6" in panel
    assert panel.count("<small>[UNK]</small>") == 1


@pytest.mark.parametrize("length", [10, 11, 12, 13])
def test_a_long_text_is_drawn_up_to_the_limit_and_counted_in_full(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "MAX_DRAWN", 10)
    text = "一二三四五六七八九十 甲乙"[:length]
    panel = tokens_panel(CHINESE, cut(text), [])
    read = PanelReader(panel)

    assert read.flows["za-flow za-tokens"] == text[:10]
    assert read.flows["za-flow za-mask"] == text[:10]
    assert (f"共 {length} 个" in panel) == (length > 10)
    assert f'<strong class="za-count">{length}</strong>' in panel


def test_one_huge_token_is_cut_in_the_drawing() -> None:
    parts = TokenizedText("x" * 5000, [1], ["[UNK]"], [(0, 5000)], [range(1)], unknown=1)

    assert PanelReader(tokens_panel(CHINESE, parts, [])).slices == ["x" * 2000]
    assert len(tokens_panel(CHINESE, parts, [0])) < 6000
