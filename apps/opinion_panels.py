"""What the parts of a classifier say, and whether several classifiers agree → HTML."""

from __future__ import annotations

from collections.abc import Sequence

from apps.markup import element, escape, plain
from apps.texts.languages import Language
from zh_albert.tasks.classification.predictor import Classification, EnsembleMembers

_MAX_ROWS = 4


def opinions_table(say: Language, members: EnsembleMembers) -> str:
    """Show what the network, the n-grams and both say of the likeliest classes.

    Empty where there is only a network.
    """
    if members.ngrams is None:
        return ""
    together = members.together
    parts = [members.network, members.ngrams, together]
    names = [say.opinions.network, say.opinions.ngrams, say.opinions.together]
    likely = sorted(together.scores, key=lambda label: -max(part.scores[label] for part in parts))
    labels = sorted(likely[:_MAX_ROWS], key=lambda label: -together.scores[label])
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in [say.opinions.label, *names])
    rows = "".join(
        f'<tr><th scope="row">{plain(say.labels.classes.get(label, label))}</th>'
        f"{''.join(_cell(part, label) for part in parts)}</tr>"
        for label in labels
    )
    return (
        f'<div class="za-apart">{element(say.opinions.title, "h4")}'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def agreement(say: Language, results: Sequence[tuple[str, Classification]]) -> str:
    """Say whether models of the same classes agree; nothing where there are no two of them.

    Args:
        say: The page's language.
        results: The name of each model, and what it says.
    """
    lines = []
    alike: dict[frozenset[str], list[tuple[str, str]]] = {}
    for name, result in results:
        called = say.labels.models.get(name, name)
        label = say.labels.classes.get(result.label, result.label)
        alike.setdefault(frozenset(result.scores), []).append((called, label))
    for answers in alike.values():
        found = {label for _, label in answers}
        if len(answers) > 1 and len(found) == 1:
            agree = say.opinions.agree.format(label=found.pop())
            lines.append(element(agree, "p", "za-agreement za-right"))
        elif len(answers) > 1:
            listed = " · ".join(f"{called} {label}" for called, label in answers)
            differ = say.opinions.differ.format(answers=listed)
            lines.append(element(differ, "p", "za-agreement"))
    return "".join(lines)


def _cell(part: Classification, label: str) -> str:
    percent = 100 * part.scores[label]
    kind = ' class="za-top"' if label == part.label else ""
    return (
        f'<td{kind}><span class="za-percent">{percent:.1f}%</span><span class="za-track">'
        f'<span class="za-fill" style="width:{percent:.1f}%"></span></span></td>'
    )
