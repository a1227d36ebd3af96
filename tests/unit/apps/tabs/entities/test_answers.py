"""The entities tab's answers: the chosen tagger, long texts, and what fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from apps.tabs.entities.answers import EntityAnswers
from apps.tabs.entities.strings import CHINESE
from apps.text_answers import LIVE_CHARACTERS, MAX_CHARACTERS
from zh_albert.tasks.ner.predictor import Entity, Tagger


class TaggerOf(Tagger):
    """Finds what it was made with, in any text."""

    def __init__(self, entities: list[Entity] | Exception) -> None:
        self.labels, self._entities = ["name"], entities

    def __call__(self, texts: str | Sequence[str]) -> list[list[Entity]]:
        if isinstance(self._entities, Exception):
            raise self._entities
        return [self._entities]


def answers(**taggers: list[Entity] | Exception) -> EntityAnswers:
    return EntityAnswers(CHINESE, {name: TaggerOf(found) for name, found in taggers.items()})


@pytest.mark.parametrize("text", ["", None, "  \n", "\u200b", "字" * (MAX_CHARACTERS + 1)])
def test_what_cannot_be_read_is_told_with_a_remedy(text: str | None) -> None:
    panel = answers(ner=[]).asked(text, "ner")

    assert 'role="alert"' in panel


def test_a_model_that_fails_is_told() -> None:
    assert "out of memory" in answers(ner=MemoryError("out of\nmemory")).asked("王芳", "ner")


def test_a_long_text_waits_for_the_button() -> None:
    tab, text = answers(ner=[]), "字" * (LIVE_CHARACTERS + 1)

    assert "标出实体" in tab.typed(text, "ner")
    assert CHINESE.waiting.problem in tab.typed(" ", "ner")
    assert "正在读" in tab.announced(text, "ner")
    assert tab.announced("王芳", "ner") == ""
    assert "没有找到实体" in tab.typed("王芳", "ner")


@pytest.mark.parametrize(
    ("chosen", "count"), [("ner", 1), ("other", 2), ("", 1), (None, 1), ("gone", 1)]
)
def test_the_chosen_tagger_answers_else_the_first(chosen: str | None, count: int) -> None:
    both = [Entity(start, start + 2, "name", "王芳", 0.875) for start in (0, 4)]

    panel = answers(ner=both[:1], other=both).asked("王芳在看王芳", chosen)
    assert f"找到 {count} 个实体" in panel
