"""Entities → HTML: marks in the text, a list, and the JSON a program would get."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from apps.markup import element, escape, page, shown
from apps.panels import duration
from apps.texts.languages import Language
from zh_albert.tasks.ner.predictor import Entity

COLOURS = 10  # tints in the style sheet; more types than that share them
MAX_ROWS = 200  # of the list and the JSON; the marks in the text are all there


def entity_panel(
    say: Language, text: str, entities: Sequence[Entity], types: Sequence[str], seconds: float
) -> str:
    """Show what a tagger found.

    Args:
        say: The page's language.
        text: What was read.
        entities: In order; those that cross another one stand in the list only.
        types: All types of the model: the order decides the colours.
        seconds: How long it took.
    """
    colours = {name: index % COLOURS for index, name in enumerate(types)}
    counts = Counter(entity.type for entity in entities)
    legend = "".join(
        f'<li><span class="za-entity za-e{colours[name]}">{escape(type_name(say, name))}</span>'
        f'<span class="za-raw">{count}</span></li>'
        for name, count in counts.most_common()
    )
    took = say.page.latency.format(time=duration(seconds))
    found = say.entities.found.format(count=len(entities))
    none = "" if entities else element(say.entities.none, "p", "za-caption")
    return page(
        f'<section class="za-section"><header>{element(found, "h3")}'
        f"{element(took, 'span', 'za-chip')}</header>"
        f'<p class="za-flow za-marked">{_marked(say, text, entities, colours)}</p>'
        f'<ul class="za-legend">{legend}</ul>{none}</section>{_lists(say, entities)}'
    )


def type_name(say: Language, name: str) -> str:
    """Return a type's name in a language; one that has none is its own.

    >>> from apps.texts.languages import CHINESE
    >>> type_name(CHINESE, "company"), type_name(CHINESE, "药品")
    ('公司', '药品')
    """
    return say.labels.entities.get(name, name)


def nesting(entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities that can be drawn as nested marks, outer ones first.

    One that crosses an earlier one (of those that begin together, a longer one) is left out.
    """
    kept: list[Entity] = []
    open_ends: list[int] = []
    for entity in sorted(entities, key=lambda entity: (entity.start, -entity.end)):
        while open_ends and open_ends[-1] <= entity.start:
            open_ends.pop()
        if not open_ends or entity.end <= open_ends[-1]:
            kept.append(entity)
            open_ends.append(entity.end)
    return kept


def _marked(say: Language, text: str, entities: Iterable[Entity], colours: dict[str, int]) -> str:
    """Return the text as HTML with a mark around each entity."""
    parts: list[str] = []
    position, open_ends = 0, list[int]()

    def close_until(limit: int) -> None:
        nonlocal position
        while open_ends and open_ends[-1] <= limit:
            parts.append(shown(text[position : open_ends[-1]]) + "</mark>")
            position = open_ends.pop()

    for entity in nesting(entities):
        close_until(entity.start)
        name = escape(type_name(say, entity.type))
        hint = f"{name} · {entity.start}–{entity.end} · {entity.score:.1%}"
        parts.append(shown(text[position : entity.start]))
        parts.append(
            f'<mark class="za-entity za-e{colours[entity.type]}" data-type="{name}" title="{hint}">'
        )
        position = entity.start
        open_ends.append(entity.end)
    close_until(len(text))
    parts.append(shown(text[position:]))
    return "".join(parts)


def _lists(say: Language, entities: Sequence[Entity]) -> str:
    if not entities:
        return ""
    heads = "".join(f"<th>{element(head)}</th>" for head in say.entities.columns)
    rows = "".join(
        f"<tr><td>{shown(entity.text)}</td><td>{escape(type_name(say, entity.type))}</td>"
        f"<td>{entity.start}–{entity.end}</td><td>{entity.score:.1%}</td></tr>"
        for entity in entities[:MAX_ROWS]
    )
    lines = ",\n ".join(
        json.dumps(asdict(entity), ensure_ascii=False) for entity in entities[:MAX_ROWS]
    )
    rest = len(entities) - MAX_ROWS
    more = ""
    if rest > 0:
        left_out = say.entities.left_out.format(shown=MAX_ROWS, rest=rest)
        more = element(left_out, "p", "za-caption")
    return (
        f'<details class="za-section za-numbers" open><summary>{element(say.entities.listed)}'
        f'</summary><div class="za-scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}</details>"
        f'<details class="za-section za-numbers"><summary>{element(say.entities.as_json)}</summary>'
        f'<pre class="za-json">{escape(f"[{lines}]")}</pre></details>'
    )
