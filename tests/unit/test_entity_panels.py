"""The page's entities, without a browser: marks lie where the entities are, and text stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.answers import LIVE_CHARACTERS, MAX_CHARACTERS
from apps.entity_answers import announce_entities, find_entities, find_entities_typed
from apps.entity_panels import MAX_ROWS, entity_panel, nesting
from apps.texts.languages import CHINESE
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.tasks.ner.predictor import Entity, Tagger

TYPES = ["name", "company", "药品"]
TAGS = OURS | {"details", "mark", "pre", "summary", "table", "tbody", "td", "th", "thead", "tr"}


class TaggerOf(Tagger):
    """Finds what it was made with, in any text."""

    def __init__(self, entities: list[Entity] | Exception) -> None:
        self.labels, self._entities = TYPES, entities

    def __call__(self, texts: str | Sequence[str]) -> list[list[Entity]]:
        if isinstance(self._entities, Exception):
            raise self._entities
        return [self._entities]


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
    reader = Reader(panel)

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

    assert set(Reader(panel).tags) <= TAGS
    assert not set("$`{}@") & set(panel)


def test_a_long_list_is_cut_and_says_by_how_much() -> None:
    text = "王" * (MAX_ROWS + 5)
    panel = entity_panel(
        CHINESE, text, [entity(text, i, i + 1) for i in range(len(text))], TYPES, 0.0
    )

    assert panel.count("<tr>") == MAX_ROWS + 1
    assert "还有 5 个" in panel
    assert len(marks(panel)) == len(text)


@pytest.mark.parametrize("text", ["", None, "  \n", "字" * (MAX_CHARACTERS + 1)])
def test_what_cannot_be_read_is_told_with_a_remedy(text: str | None) -> None:
    panel = find_entities(CHINESE, {"ner": TaggerOf([])}, text, "ner")

    assert 'role="alert"' in panel


def test_a_model_that_fails_is_told() -> None:
    assert "out of memory" in find_entities(
        CHINESE, {"ner": TaggerOf(MemoryError("out of\nmemory"))}, "王芳", "ner"
    )


def test_a_long_text_waits_for_the_button() -> None:
    taggers, text = {"ner": TaggerOf([])}, "字" * (LIVE_CHARACTERS + 1)

    assert "标出实体" in find_entities_typed(CHINESE, taggers, text, "ner")
    assert CHINESE.entities.waiting.problem in find_entities_typed(CHINESE, taggers, " ", "ner")
    assert "正在读" in announce_entities(CHINESE, text)
    assert announce_entities(CHINESE, "王芳") == ""
    assert "没有找到实体" in find_entities_typed(CHINESE, taggers, "王芳", "ner")


@pytest.mark.parametrize(
    ("chosen", "count"), [("ner", 1), ("other", 2), ("", 1), (None, 1), ("gone", 1)]
)
def test_the_chosen_tagger_answers_else_the_first(chosen: str | None, count: int) -> None:
    text = "王芳在看王芳"
    both = [entity(text, 0, 2), entity(text, 4, 6)]
    taggers = {"ner": TaggerOf(both[:1]), "other": TaggerOf(both)}

    assert f"找到 {count} 个实体" in find_entities(CHINESE, taggers, text, chosen)
