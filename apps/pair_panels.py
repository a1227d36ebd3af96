"""What models say of two sentences → HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.markup import element, page, plain
from apps.panels import Answer, answer_card, duration
from apps.texts.languages import Language

_SNIPPET = 60  # characters of each sentence repeated above the results


@dataclass(frozen=True, slots=True)
class Grade:
    """How much of something one model finds in two sentences.

    Attributes:
        model: The model's name.
        value: May lie outside the scale.
        seconds: How long it took.
        lowest: Where the scale begins; None: not known.
        highest: Where it ends; None: not known.
    """

    model: str
    value: float
    seconds: float
    lowest: float | None
    highest: float | None


def pair_panel(say: Language, first: str, second: str, answers: Sequence[Answer | Grade]) -> str:
    """Show the answers of one or more models, side by side where there is room.

    Args:
        say: The page's language.
        first: A sentence.
        second: The one it was compared with.
        answers: One of each model.
    """
    quotes = "".join(
        f"<li><q>{plain(text[:_SNIPPET])}{'…' if len(text) > _SNIPPET else ''}</q></li>"
        for text in (first, second)
    )
    cards = "".join(
        grade_card(say, answer)
        if isinstance(answer, Grade)
        else answer_card(say, answer, meaning=say.pairs.meanings.get(answer.result.label, ""))
        for answer in answers
    )
    return page(f'<ol class="za-pair">{quotes}</ol><div class="za-cards">{cards}</div>')


def grade_card(say: Language, grade: Grade) -> str:
    """Show a value, and where it stands on its scale if that is known."""
    low, high, value = grade.lowest, grade.highest, f"{grade.value:.1f}"
    name = say.labels.models.get(grade.model, grade.model)
    took = say.page.latency.format(time=duration(grade.seconds))
    scale = ""
    if low is not None and high is not None and low < high:
        percent = 100 * min(max((grade.value - low) / (high - low), 0), 1)
        told = say.pairs.scale.format(low=f"{low:g}", high=f"{high:g}")
        scale = (
            '<ol class="za-bars"><li class="za-bar za-winner">'
            f"{element(told, 'span', 'za-name')}"
            f'<span class="za-track" role="meter" aria-valuemin="{low:g}" '
            f'aria-valuemax="{high:g}" aria-valuenow="{value}" aria-label="{plain(name)}">'
            f'<span class="za-fill" style="width:{percent:.1f}%"></span></span></li></ol>'
        )
    return (
        f'<section class="za-card" data-model="{plain(grade.model)}"><header>'
        f"{element(name, 'h3')}{element(took, 'span', 'za-chip')}</header>"
        f'<p class="za-best"><strong>{value}</strong></p>{scale}</section>'
    )
