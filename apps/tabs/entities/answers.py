"""The answers of the entities tab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.i18n.notice import Notice
from apps.tabs.entities.panels import entity_panel
from apps.tabs.entities.strings import EntityStrings
from apps.text_answers import TextAnswers, timed
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.texts import has_content


class EntityAnswers(TextAnswers[EntityStrings]):
    """The panels with the entities of a text.

    Args:
        strings: The tab's strings.
        taggers: By name; at least one. Without a choice the first one answers.
    """

    def __init__(self, strings: EntityStrings, taggers: Mapping[str, Tagger]) -> None:
        super().__init__(strings)
        self._taggers = taggers

    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return a notice where there is no text, or nothing that can be read."""
        if not texts[0].strip():
            return self.strings.empty
        return None if has_content(texts[0]) else self.unreadable

    def panel(self, texts: Sequence[str], chosen: str) -> str:
        """Return the text with its entities marked, and a list of them."""
        tagger = self._taggers.get(chosen) or next(iter(self._taggers.values()))
        [entities], seconds = timed(tagger, texts[0])
        return entity_panel(self.strings, texts[0], entities, tagger.labels, seconds)
