"""What the page answers where entities are asked for; knows no Gradio."""

from __future__ import annotations

import time
from collections.abc import Mapping

from apps.answers import LIVE_CHARACTERS, MAX_CHARACTERS, in_one_line
from apps.entity_panels import entity_panel
from apps.markup import notice
from apps.texts.languages import Language
from zh_albert.errors import ZhAlbertError
from zh_albert.tasks.ner.predictor import Tagger


def find_entities(
    say: Language, taggers: Mapping[str, Tagger], text: str | None, chosen: str | None
) -> str:
    """Return the panel with the entities of what stands in the box.

    Args:
        say: The page's language.
        taggers: By name; at least one.
        text: What stands in the box.
        chosen: A tagger's name; another one, as a link may have it: the first of them.
    """
    if not text or not text.strip():
        return notice(say.entities.empty)
    if len(text) > MAX_CHARACTERS:
        return notice(say.page.too_long.filled(count=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
    tagger = taggers.get(chosen or "") or next(iter(taggers.values()))
    start = time.perf_counter()
    try:
        (entities,) = tagger(text)
    except (ZhAlbertError, RuntimeError, MemoryError) as error:
        return notice(say.page.failed.filled(reason=in_one_line(error)))
    return entity_panel(say, text, entities, tagger.labels, time.perf_counter() - start)


def announce_entities(say: Language, text: str | None) -> str:
    """Return what is shown while a long text is read; nothing for a short one."""
    if text and LIVE_CHARACTERS < len(text) <= MAX_CHARACTERS:
        return notice(say.page.working.filled(count=f"{len(text):,}"), alarm=False)
    return ""


def find_entities_typed(
    say: Language, taggers: Mapping[str, Tagger], text: str | None, chosen: str | None
) -> str:
    """Return the panel while the user types: a long text waits for the button."""
    if not text or not text.strip():
        return notice(say.entities.waiting, alarm=False)
    if LIVE_CHARACTERS < len(text) <= MAX_CHARACTERS:
        return notice(say.entities.long.filled(count=f"{len(text):,}"), alarm=False)
    return find_entities(say, taggers, text, chosen)
