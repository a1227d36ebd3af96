"""A classifier's answer → HTML: the label, and a bar for each class."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n.page import PageStrings
from apps.markup.bars import MAX_BARS, bar, bars
from apps.markup.numbers import duration, percentages
from apps.markup.sections import caption, header
from apps.markup.text import escape, plain
from zh_albert.tasks.classification.predictor import Classification, EnsembleMembers


@dataclass(frozen=True, slots=True)
class ClassAnswer:
    """The answer of one classifier to a text or a pair.

    Attributes:
        model: The model's name.
        result: Its answer.
        seconds: The time it took.
        members: The scores of its parts; None where they are not shown.
    """

    model: str
    result: Classification
    seconds: float
    members: EnsembleMembers | None = None


def class_card(
    strings: PageStrings, answer: ClassAnswer, *, meaning: str = "", below: str = ""
) -> str:
    """Return the card of one model's answer.

    Args:
        strings: The page's strings.
        answer: The model's answer.
        meaning: What the label means, where its name does not say it.
        below: HTML below the bars.
    """
    names, result = strings.names, answer.result
    percents = dict(zip(result.scores, percentages([*result.scores.values()]), strict=True))
    rows = [
        bar(names.of_class(label, answer.model), label, percent, winner=label == result.label)
        for label, percent in [*percents.items()][:MAX_BARS]
    ]
    if (rest := len(percents) - MAX_BARS) > 0:
        share = round(100 - sum([*percents.values()][:MAX_BARS]), 1)
        rows.append(bar(strings.other_classes.format(count=rest), "", share))
    best = (
        f'<p class="za-best"><strong>{escape(names.of_class(result.label, answer.model))}</strong>'
        f'<span class="za-percent">{percents[result.label]:.1f}%</span></p>'
    )
    body = (
        f"{best}{caption(meaning, 'za-meaning')}{caption(strings.probabilities)}{bars(rows)}{below}"
    )
    return card(strings, answer.model, answer.seconds, body)


def card(strings: PageStrings, model: str, seconds: float, body: str) -> str:
    """Return the card of a model: its name, the time it took, and its answer.

    Args:
        strings: The page's strings.
        model: The model's name.
        seconds: The time it took.
        body: The answer, as HTML.
    """
    took = strings.latency.format(time=duration(seconds))
    return (
        f'<section class="za-card" data-model="{plain(model)}">'
        f"{header(strings.names.of_model(model), took)}{body}</section>"
    )
