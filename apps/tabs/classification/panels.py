"""Classes of a text → HTML: a card a model, its ensemble members, and whether models agree."""

from __future__ import annotations

from collections.abc import Sequence

from apps.markup.bars import fill
from apps.markup.class_card import ClassAnswer, class_card
from apps.markup.numbers import percentages
from apps.markup.sections import caption, plain_table, quote
from apps.markup.text import element, escape, panel, plain
from apps.tabs.classification.strings import ClassificationStrings
from zh_albert.tasks.classification.predictor import EnsembleMembers

_SNIPPET = 40  # characters of the text repeated above its results
_MAX_CLASSES = 4  # of the table of members


def classification_panel(
    strings: ClassificationStrings, text: str, answers: Sequence[ClassAnswer]
) -> str:
    """Return the answers of one or more models, side by side where there is room.

    Args:
        strings: The tab's strings.
        text: The classified text; its beginning is repeated above the bars.
        answers: One of each model.
    """
    read = strings.characters_read.format(count=f"{len(text):,}")
    cards = "".join(
        class_card(strings.page, answer, below=members_table(strings, answer.members))
        for answer in answers
    )
    has_members = any(answer.members and answer.members.ngrams for answer in answers)
    hint = caption(strings.members_hint, "za-caption za-note") if has_members else ""
    return panel(
        f'<p class="za-quote">{quote(text, _SNIPPET)}{element(read, "span", "za-read")}</p>'
        f'{agreement(strings, answers)}<div class="za-cards">{cards}</div>{hint}'
    )


def members_table(strings: ClassificationStrings, members: EnsembleMembers | None) -> str:
    """Return a table with the scores of the network, the n-grams and both; the likeliest classes.

    Empty for a model without n-grams.
    """
    if members is None or members.ngrams is None:
        return ""
    together = members.together
    parts = [members.network, members.ngrams, together]
    likely = sorted(together.scores, key=lambda label: -max(part.scores[label] for part in parts))
    labels = sorted(likely[:_MAX_CLASSES], key=lambda label: -together.scores[label])
    heads = (strings.label, strings.network, strings.ngrams, strings.ensemble)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    # As in the bars above: what was rounded has a sum of 100 %.
    rounded = [
        (part, dict(zip(part.scores, percentages([*part.scores.values()]), strict=True)))
        for part in parts
    ]
    rows = "".join(
        f'<tr><th scope="row">{plain(strings.page.names.of_class(label))}</th>'
        + "".join(_cell(label == part.label, found[label]) for part, found in rounded)
        + "</tr>"
        for label in labels
    )
    title = element(strings.scores_by_member, "h4")
    return f'<div class="za-apart">{title}{plain_table(head, rows)}</div>'


def agreement(strings: ClassificationStrings, answers: Sequence[ClassAnswer]) -> str:
    """Return whether models with the same classes agree; empty without two of them."""
    names, lines = strings.page.names, []
    comparable: dict[frozenset[str], list[tuple[str, str]]] = {}
    for answer in answers:
        said = (names.of_model(answer.model), names.of_class(answer.result.label))
        comparable.setdefault(frozenset(answer.result.scores), []).append(said)
    for group in comparable.values():
        labels = {label for _, label in group}
        if len(group) > 1 and len(labels) == 1:
            agree = strings.agree.format(label=labels.pop())
            lines.append(caption(agree, "za-agreement za-right"))
        elif len(group) > 1:
            listed = " · ".join(f"{model} {label}" for model, label in group)
            lines.append(caption(strings.differ.format(answers=listed), "za-agreement"))
    return "".join(lines)


def _cell(is_top: bool, percent: float) -> str:
    kind = ' class="za-top"' if is_top else ""
    return (
        f'<td{kind}><span class="za-percent">{percent:.1f}%</span>'
        f'<span class="za-track">{fill(percent)}</span></td>'
    )
