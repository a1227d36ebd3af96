"""Results → the HTML of the page's panels: pure functions, tested without a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.markup import element, escape, page, plain
from apps.opinion_panels import agreement, opinions_table
from apps.texts.languages import Language
from zh_albert.tasks.classification.predictor import Classification, EnsembleMembers

MAX_BARS = 20  # of one model; the other classes share a bar
_SNIPPET = 40  # characters of the text repeated above its results


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model said of the text.

    Attributes:
        model: The model's name.
        result: Its answer.
        seconds: How long it took.
        members: What its parts say; None: they were not asked.
    """

    model: str
    result: Classification
    seconds: float
    members: EnsembleMembers | None = None


def class_name(say: Language, label: str) -> str:
    """Return a label's name in a language; a label that has none is its own.

    >>> from apps.texts.languages import CHINESE
    >>> class_name(CHINESE, "news_finance"), class_name(CHINESE, "退款")
    ('财经', '退款')
    """
    return say.labels.classes.get(label, label)


def percentages(scores: Sequence[float]) -> list[float]:
    """Round probabilities to tenths of a percent that sum to exactly 100.

    Each is rounded down, and the tenths still missing go to the largest remainders.

    Args:
        scores: At least one, summing to about 1.

    >>> percentages([0.3333, 0.3333, 0.3334])
    [33.3, 33.3, 33.4]
    """
    exact = [1000 * score / sum(scores) for score in scores]
    tenths = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: tenths[i] - exact[i])
    for index in by_remainder[: 1000 - sum(tenths)]:
        tenths[index] += 1
    return [value / 10 for value in tenths]


def duration(seconds: float) -> str:
    """Return a time for people.

    >>> duration(0.00312), duration(0.0731), duration(12.34)
    ('3.1 ms', '73 ms', '12.3 s')
    """
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.1f} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"


def classification_panel(say: Language, text: str, answers: Sequence[Answer]) -> str:
    """Show the answers of one or more models, side by side where there is room.

    Args:
        say: The page's language.
        text: What was classified; its beginning is repeated, so that it is clear what the bars
            are of.
        answers: One of each model.
    """
    snippet = plain(text[:_SNIPPET]) + ("…" if len(text) > _SNIPPET else "")
    read = say.classification.characters_read.format(count=f"{len(text):,}")
    cards = "".join(answer_card(say, answer) for answer in answers)
    hint = ""
    if any(answer.members and answer.members.ngrams for answer in answers):
        hint = element(say.opinions.hint, "p", "za-caption za-note")
    return page(
        f'<p class="za-quote"><q>{snippet}</q>{element(read, "span", "za-read")}</p>'
        f"{agreement(say, [(answer.model, answer.result) for answer in answers])}"
        f'<div class="za-cards">{cards}</div>{hint}'
    )


def answer_card(say: Language, answer: Answer, *, meaning: str = "") -> str:
    """Show one model's answer.

    Args:
        say: The page's language.
        answer: What it said.
        meaning: What the label means, if that needs to be said.
    """
    name = say.labels.models.get(answer.model, answer.model)
    took = say.page.latency.format(time=duration(answer.seconds))
    labels = list(answer.result.scores)
    percents = percentages(list(answer.result.scores.values()))
    rows = [
        bar(class_name(say, label), label, percent, winner=label == answer.result.label)
        for label, percent in zip(labels[:MAX_BARS], percents, strict=False)
    ]
    rest = len(labels) - MAX_BARS
    if rest > 0:
        others = say.classification.others.format(count=rest)
        share = round(100 - sum(percents[:MAX_BARS]), 1)
        rows.append(bar(others, "", share, winner=False))
    best = answer.result.label
    apart = opinions_table(say, answer.members) if answer.members else ""
    return (
        f'<section class="za-card" data-model="{plain(answer.model)}"><header>'
        f"{element(name, 'h3')}"
        f"{element(took, 'span', 'za-chip')}</header>"
        f'<p class="za-best"><strong>{escape(class_name(say, best))}</strong>'
        f'<span class="za-percent">{percents[labels.index(best)]:.1f}%</span></p>'
        f"{element(meaning, 'p', 'za-meaning') if meaning else ''}"
        f"{element(say.classification.probabilities, 'p', 'za-caption')}"
        f'<ol class="za-bars">{"".join(rows)}</ol>{apart}</section>'
    )


def bar(name: str, beside: str, percent: float, *, winner: bool) -> str:
    """Draw one row of a list of probabilities.

    Args:
        name: What has the probability.
        beside: A remark in small letters; none where it is the name again.
        percent: From 0 to 100.
        winner: Whether it stands out.
    """
    kind = "za-bar za-winner" if winner else "za-bar"
    remark = f'<span class="za-raw">{escape(beside)}</span>' if beside not in (name, "") else ""
    return (
        f'<li class="{kind}"><span class="za-name">{escape(name)}{remark}</span>'
        f'<span class="za-track" role="meter" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{percent:.1f}" aria-label="{plain(name)}">'
        f'<span class="za-fill" style="width:{percent:.1f}%"></span></span>'
        f'<span class="za-percent">{percent_text(percent)}</span></li>'
    )


def percent_text(percent: float) -> str:
    """Write a percentage as HTML; one too small for a tenth is said to be so.

    >>> percent_text(12.34), percent_text(0.01)
    ('12.3%', '&lt;0.1%')
    """
    return "&lt;0.1%" if 0 < percent < 0.05 else f"{percent:.1f}%"


def choices(say: Language, models: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return what the choice of a model offers, as label and value; ``""`` means all models.

    >>> from apps.texts.languages import CHINESE
    >>> [value for _, value in choices(CHINESE, {"sentiment": ..., "mine": ...})]
    ['', 'sentiment', 'mine']
    """
    single = named(say, models)
    if len(single) < 2:
        return single
    both = len(single) == 2
    together = say.classification.both_models if both else say.classification.all_models
    return [(together, ""), *single]


def named(say: Language, models: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return each model's label in a language, and its name."""
    return [(say.labels.models.get(name, name), name) for name in models]
