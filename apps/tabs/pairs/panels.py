"""Classes and values of two sentences → HTML: a card a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.markup.bars import meter
from apps.markup.class_card import ClassAnswer, card, class_card
from apps.markup.sections import caption, quote
from apps.markup.text import element, panel
from apps.tabs.pairs.strings import PairStrings

_SNIPPET = 60  # characters of each sentence repeated above the results


@dataclass(frozen=True, slots=True)
class ValueAnswer:
    """The answer of a model that gives two sentences a value.

    Attributes:
        model: The model's name.
        value: May lie outside the scale.
        seconds: The time it took.
        lowest: The beginning of the scale; None: not known.
        highest: Its end; None: not known.
        differences: What the sentences, which look alike, say differently: its kind, and how either
            puts it.
    """

    model: str
    value: float
    seconds: float
    lowest: float | None
    highest: float | None
    differences: Sequence[tuple[str, str, str]] = ()


def pair_panel(
    strings: PairStrings, sentences: Sequence[str], answers: Sequence[ClassAnswer | ValueAnswer]
) -> str:
    """Return the answers of one or more models, side by side where there is room.

    Args:
        strings: The tab's strings.
        sentences: The two sentences.
        answers: One of each model.
    """
    quotes = "".join(f"<li>{quote(sentence, _SNIPPET)}</li>" for sentence in sentences)
    cards = "".join(
        value_card(strings, answer)
        if isinstance(answer, ValueAnswer)
        else class_card(strings.page, answer, meaning=strings.meanings.get(answer.result.label, ""))
        for answer in answers
    )
    return panel(f'<ol class="za-pair">{quotes}</ol><div class="za-cards">{cards}</div>')


def value_card(strings: PairStrings, answer: ValueAnswer) -> str:
    """Return the card of a value, with its place on the scale if that is known, and why it is low
    for sentences that look alike.
    """
    low, high, value = answer.lowest, answer.highest, f"{answer.value:.1f}"
    scale = ""
    if low is not None and high is not None and low < high:
        percent = 100 * min(max((answer.value - low) / (high - low), 0), 1)
        ends = {"low": f"{low:g}", "high": f"{high:g}"}
        name = strings.page.names.of_model(answer.model)
        scale = (
            '<ol class="za-bars"><li class="za-bar za-winner">'
            f"{element(strings.scale.format(**ends), 'span', 'za-name')}"
            f"{meter(percent, name, value=value, **ends)}</li></ol>"
        )
    best = f'<p class="za-best"><strong>{value}</strong></p>'
    differences = "".join(
        caption(f"{strings.differences[kind]}{strings.colon}{first or '∅'} ↔ {second or '∅'}")
        for kind, first, second in answer.differences
    )
    why = caption(strings.looks_alike) + differences if differences else ""
    return card(strings.page, answer.model, answer.seconds, best + scale + why)
