"""The panels of attention: what is drawn is what was computed."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.tabs.inside.attention_panels import MEAN, map_panel, overview_panel
from apps.tabs.inside.strings import CHINESE
from tests.helpers.panel_reader import OURS, PanelReader
from zh_albert.inference.introspection import Attention

TAGS = OURS | {"table", "tbody", "td", "th", "thead", "tr"}


def attention(text: str) -> Attention:
    """Two layers of two heads; the second layer's first head looks at the next token."""
    count = len(text) + 2
    heads = np.full((2, 2, count, count), 1 / count, np.float32)
    heads[1, 0] = np.roll(np.eye(count, dtype=np.float32), 1, axis=1)
    offsets = [None, *((i, i + 1) for i in range(len(text))), None]
    return Attention(["[CLS]", *text, "[SEP]"], offsets, heads)


def test_the_map_has_the_texts_characters_on_both_axes_and_the_shares_in_the_cells() -> None:
    panel = map_panel(CHINESE, "我看山", attention("我看山"), 1, 1)

    columns = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', panel)
    rows = re.findall(r'<th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', panel)
    assert columns == [name for name, _ in rows] == ["[CLS]", "我", "看", "山", "[SEP]"]
    filled = [re.findall(r"<td(?: style=\"--p:(\d+)%\")?", cells) for _, cells in rows]
    assert filled[1] == ["", "", "100", "", ""]
    assert "“我”看“看” 100.0%" in panel
    assert "第 2 层 · 第 1 头" in panel
    # Of 我, 看 and 山 two look at the next character, one at [SEP].
    assert re.findall(r"za-count\">([\d.]+)%", panel) == ["0.0", "66.7", "33.3", "0.0"]


def test_where_the_texts_tokens_look_is_summed_up() -> None:
    found = attention("我看山")
    shares = np.zeros((5, 5), np.float32)
    shares[1:4] = [
        [0.1, 0.6, 0.2, 0.1, 0.0],
        [0.0, 0.2, 0.5, 0.1, 0.2],
        [0.0, 0.3, 0.0, 0.4, 0.3],
    ]
    found.probabilities[0, 0] = shares
    panel = map_panel(CHINESE, "我看山", found, 0, 1)

    # Itself 0.6 + 0.5 + 0.4, neighbours 0.2 + 0.3 + 0, special 0.1 + 0.2 + 0.3: of three rows.
    assert re.findall(r"za-count\">([\d.]+)%", panel) == ["50.0", "16.7", "20.0", "13.3"]


def test_the_mean_comes_before_the_first_head() -> None:
    found = attention("我")
    panel = map_panel(CHINESE, "我", found, 1, MEAN)

    share = (1 + 1 / 3) / 2
    assert f"“[CLS]”看“我” {share:.1%}" in panel
    assert "各头平均" in panel


def test_every_head_is_a_button_and_one_is_pressed() -> None:
    panel = overview_panel(CHINESE, attention("我看山"), 1, 2)

    buttons = re.findall(r"<button .*?</button>", panel)
    assert len(buttons) == 2 * 3
    pressed = [button for button in buttons if 'aria-pressed="true"' in button]
    assert len(pressed) == 1
    assert 'data-layer="1" data-head="2"' in pressed[0]
    assert 'tabindex="0"' in pressed[0]
    assert "background-position:100.000% 100.000%" in pressed[0]


@given(st.text(st.characters(codec=None), min_size=1, max_size=10))
def test_text_is_only_ever_text(text: str) -> None:
    panel = map_panel(CHINESE, text, attention(text), 0, 0)

    assert set(PanelReader(f"<div>{panel}</div>").tags) <= TAGS
    assert not set("$`{}@") & set(panel)


def test_a_character_that_html_writes_in_several_is_still_a_short_one() -> None:
    panel = map_panel(CHINESE, "<山", attention("<山"), 0, MEAN)
    assert '<th scope="col" class="za-one">&lt;</th>' in panel
    assert "za-long" not in panel
