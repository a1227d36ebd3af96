"""What the page answers to a text that is followed through the encoders; knows no Gradio."""

from __future__ import annotations

from typing import NamedTuple

from apps.answers import MAX_CHARACTERS, in_one_line
from apps.attention_panels import map_panel, overview_panel
from apps.markup import notice, page
from apps.movement_panels import Moved, movement_panel
from apps.texts.languages import Language
from apps.views import Views
from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.inference.introspection import Attention

MAX_TOKENS = 64  # special ones counted: as many as a picture can show


class Picked(NamedTuple):
    """What is shown large: a layer, from 0, and its head, from 1; 0 is the mean of all heads."""

    layer: int
    head: int


class InsideState(NamedTuple):
    """The three panels of the tab."""

    overview: str
    large: str
    movement: str


def look(
    say: Language,
    encoders: Views,
    text: str | None,
    model: str | None,
    picked: Picked,
    *,
    asked: bool,
) -> InsideState:
    """Return all panels.

    Args:
        say: The page's language.
        encoders: To be looked into; at least one.
        text: What stands in the box.
        model: The name of one of the encoders.
        picked: What is shown large.
        asked: Whether having no text is an error.
    """
    if not text or not text.strip():
        return InsideState(notice(say.inside.waiting, alarm=asked), "", "")
    try:
        found = _attention(say, encoders, text, model)
        if isinstance(found, str):
            return InsideState(found, "", "")
        place = _within(found, picked)
        return InsideState(
            page(overview_panel(say, found, *place)),
            page(map_panel(say, text, found, *place)),
            movement_panel(say, _moved(say, encoders, text, model)),
        )
    except (ZhAlbertError, RuntimeError, MemoryError) as error:
        return InsideState(notice(say.page.failed.filled(reason=in_one_line(error))), "", "")


def enlarge(
    say: Language, encoders: Views, text: str | None, model: str | None, picked: Picked
) -> str:
    """Return the panel of one head; empty where there is nothing to show."""
    try:
        found = _attention(say, encoders, text or "", model)
    except (ZhAlbertError, RuntimeError, MemoryError) as error:
        return notice(say.page.failed.filled(reason=in_one_line(error)))
    if isinstance(found, str):
        return ""
    return page(map_panel(say, text or "", found, *_within(found, picked)))


def _attention(say: Language, encoders: Views, text: str, model: str | None) -> Attention | str:
    """Return where a text's tokens attend to, or a notice why that cannot be shown."""
    view = encoders[_known(encoders, model)]
    # Whatever the tokenizer, a text much longer than this has too many tokens.
    count = len(text) if len(text) > MAX_CHARACTERS else view.count(text)
    if count > MAX_TOKENS:
        return notice(say.inside.too_long.filled(count=f"{count:,}", limit=MAX_TOKENS))
    try:
        return view.attention(text)
    except DataError:
        return notice(say.inside.unreadable)


def _moved(say: Language, encoders: Views, text: str, model: str | None) -> list[Moved]:
    """Follow a text through every encoder; without an untied one, through random weights."""
    chosen = _known(encoders, model)
    moved = []
    for name in encoders.names:
        view, title = encoders[name], say.labels.models.get(name, name)
        moved.append(Moved(title, view.plan, view.movement(text), is_chosen=name == chosen))
    if not any(one.is_untied for one in moved):
        view, title = encoders.untrained(), say.inside.untrained_short
        moved.append(Moved(title, view.plan, view.movement(text), is_trained=False))
    return moved


def _known(encoders: Views, model: str | None) -> str:
    return model if model in encoders.names else encoders.names[0]


def _within(attention: Attention, picked: Picked) -> Picked:
    """Return what was picked, or what is nearest to it in this model."""
    layers, heads = attention.probabilities.shape[:2]
    return Picked(min(max(picked.layer, 0), layers - 1), min(max(picked.head, 0), heads))
