"""The answers of the tab that looks into the encoders; no Gradio."""

from __future__ import annotations

from typing import NamedTuple

from apps.encoder_cache import EncoderCache
from apps.i18n.notice import Notice
from apps.markup.text import notice, panel
from apps.tabs.inside.attention_panels import map_panel, overview_panel
from apps.tabs.inside.movement_panels import ModelMovement, movement_panel
from apps.tabs.inside.strings import InsideStrings
from apps.text_answers import FAILURES, MAX_CHARACTERS, failure
from zh_albert.errors import DataError
from zh_albert.inference.introspection import Attention

MAX_TOKENS = 64  # with the special ones: as many as a picture can show


class Head(NamedTuple):
    """The head that is enlarged.

    Attributes:
        layer: Its layer, from 0.
        number: Its number in the layer, from 1; 0 is the mean of all heads.
    """

    layer: int
    number: int


class InsideState(NamedTuple):
    """The three panels of the tab."""

    overview: str
    enlarged: str
    movement: str


class InsideAnswers:
    """The panels of attention and movement.

    Args:
        strings: The tab's strings.
        encoders: The encoders to look into; at least one.
    """

    def __init__(self, strings: InsideStrings, encoders: EncoderCache) -> None:
        self._strings, self._encoders = strings, encoders

    def typed(self, text: str | None, model: str | None, head: Head) -> InsideState:
        """Return all panels while somebody types.

        Args:
            text: The text.
            model: The name of one of the encoders; another one, from a link: the first.
            head: The head to enlarge.
        """
        return self._state(text or "", model, head, asked=False)

    def asked(self, text: str | None, model: str | None, head: Head) -> InsideState:
        """Return all panels when Enter was pressed: now having no text is an error."""
        return self._state(text or "", model, head, asked=True)

    def enlarged(self, text: str | None, model: str | None, head: Head) -> str:
        """Return the panel of one head; empty where there is nothing to show."""
        try:
            found = self._attention(text or "", model)
        except FAILURES as error:
            return notice(failure(self._strings.page, error))
        if not isinstance(found, Attention):
            return ""
        return panel(map_panel(self._strings, text or "", found, *_nearest(found, head)))

    def _state(self, text: str, model: str | None, head: Head, *, asked: bool) -> InsideState:
        if not text.strip():
            return InsideState(notice(self._strings.waiting, alarm=asked), "", "")
        try:
            found = self._attention(text, model)
            if not isinstance(found, Attention):
                return InsideState(notice(found), "", "")
            shown = _nearest(found, head)
            return InsideState(
                panel(overview_panel(self._strings, found, *shown)),
                panel(map_panel(self._strings, text, found, *shown)),
                movement_panel(self._strings, self._movements(text, model)),
            )
        except FAILURES as error:
            return InsideState(notice(failure(self._strings.page, error)), "", "")

    def _attention(self, text: str, model: str | None) -> Attention | Notice:
        """Return a text's attention, or why it cannot be shown."""
        encoder = self._encoders[self._known(model)]
        # Whatever the tokenizer, a text much longer than this has too many tokens.
        count = len(text) if len(text) > MAX_CHARACTERS else encoder.count(text)
        if count > MAX_TOKENS:
            return self._strings.too_long.filled(count=f"{count:,}", limit=MAX_TOKENS)
        try:
            return encoder.attention(text)
        except DataError:
            return self._strings.page.unreadable

    def _movements(self, text: str, model: str | None) -> list[ModelMovement]:
        """Follow a text through every encoder; without an untied one, through random weights."""
        chosen = self._known(model)
        moved = []
        for name in self._encoders.names:
            encoder, title = self._encoders[name], self._strings.page.names.of_model(name)
            movement = encoder.movement(text)
            moved.append(ModelMovement(title, encoder.plan, movement, is_chosen=name == chosen))
        if not any(one.is_untied for one in moved):
            encoder, title = self._encoders.untrained(), self._strings.untrained_short
            movement = encoder.movement(text)
            moved.append(ModelMovement(title, encoder.plan, movement, is_trained=False))
        return moved

    def _known(self, model: str | None) -> str:
        return model if model in self._encoders.names else self._encoders.names[0]


def _nearest(attention: Attention, head: Head) -> Head:
    """Return a head, or the nearest one that this model has."""
    layers, heads = attention.probabilities.shape[:2]
    return Head(min(max(head.layer, 0), layers - 1), min(max(head.number, 0), heads))
