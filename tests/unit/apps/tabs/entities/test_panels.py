"""The entities tab's panel: marks lie where the entities are, and text stays text."""

from __future__ import annotations

import json
import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from apps.tabs.entities.panels import MAX_ROWS, entity_panel, nesting
from apps.tabs.entities.strings import CHINESE
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader
from zh_albert.tasks.ner.predictor import Entity

TYPES = ["name", "company", "药品"]


TAGS = OURS | {"details", "mark", "pre", "summary", "table", "tbody", "td", "th", "thead", "tr"}


def entity(text: str, start: int, end: int, kind: str = "name") -> Entity:
    return Entity(start, end, kind, text[start:end], 0.875)


def marks(panel: str) -> list[str]:
    """The type of each mark, and in nested ones of each inner mark, in order."""
    return [unescape(name) for name in re.findall(r'<mark [^>]*data-type="([^"]*)"', panel)]


@st.composite
def tagged(draw: st.DrawFn) -> tuple[str, list[Entity]]:
    text = draw(st.text(st.characters(codec=None), min_size=1, max_size=40))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)), st.sampled_from(TYPES))
    spans = {(min(a, b), max(a, b), kind) for a, b, kind in draw(st.lists(places, max_size=6))}
    return text, [entity(text, *span) for span in sorted(spans) if span[0] < span[1]]


@given(tagged())
def test_the_marked_text_is_the_users_own_string(case: tuple[str, list[Entity]]) -> None:
    text, entities = case
    panel = entity_panel(CHINESE, text, entities, TYPES, 0.01)
    reader = PanelReader(panel)

    assert reader.flows == {"za-flow za-marked": text}
    assert set(reader.tags) <= TAGS
    assert len(marks(panel)) == len(nesting(entities))


@given(tagged())
def test_only_entities_that_cross_a_drawn_one_are_not_drawn(
    case: tuple[str, list[Entity]],
) -> None:
    _, entities = case
    drawn = nesting(entities)

    def cross(a: Entity, b: Entity) -> bool:
        return a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end

    assert not any(cross(a, b) for a in drawn for b in drawn)
    assert all(any(cross(one, other) for other in drawn) for one in entities if one not in drawn)


def test_types_have_chinese_names_positions_and_colours_of_their_own() -> None:
    text = "王芳在星河公司上班，吃阿司匹林"
    found = [entity(text, 0, 2), entity(text, 3, 7, "company"), entity(text, 11, 15, "药品")]
    panel = entity_panel(CHINESE, text, found, TYPES, 0.0123)

    assert marks(panel) == ["人名", "公司", "药品"]
    assert re.findall(r'<mark class="za-entity (za-e\d)"', panel) == ["za-e0", "za-e1", "za-e2"]
    assert "找到 3 个实体" in panel
    assert all(part in panel for part in ("3–7", "87.5%", "12 ms"))
    written = re.search(r'<pre class="za-json">(.*?)</pre>', panel, re.DOTALL)
    assert written is not None
    assert [one["text"] for one in json.loads(unescape(written[1]))] == [
        "王芳",
        "星河公司",
        "阿司匹林",
    ]


def test_a_nested_entity_is_a_mark_within_a_mark() -> None:
    text = "北京大学"
    panel = entity_panel(
        CHINESE, text, [entity(text, 0, 4), entity(text, 0, 2, "company")], TYPES, 0.0
    )

    assert re.search(r"<mark [^>]*><mark [^>]*>北京</mark>大学</mark>", panel)


def test_a_text_without_entities_says_so_and_lists_nothing() -> None:
    panel = entity_panel(CHINESE, "今天下雨", [], TYPES, 0.0)

    assert "没有找到实体" in panel
    assert "<table" not in panel


def test_hostile_text_in_entities_and_types_is_only_text() -> None:
    found = [Entity(0, len(HOSTILE), HOSTILE, HOSTILE, 1.0)]
    panel = entity_panel(CHINESE, HOSTILE, found, [HOSTILE], 0.0)

    assert set(PanelReader(panel).tags) <= TAGS
    assert not set("$`{}@") & set(panel)


def test_a_long_list_is_cut_and_says_by_how_much() -> None:
    text = "王" * (MAX_ROWS + 5)
    panel = entity_panel(
        CHINESE, text, [entity(text, i, i + 1) for i in range(len(text))], TYPES, 0.0
    )

    assert panel.count("<tr>") == MAX_ROWS + 1
    assert "还有 5 个" in panel
    assert len(marks(panel)) == len(text)
