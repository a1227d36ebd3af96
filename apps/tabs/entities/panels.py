"""Entities → HTML: marks in the text, a list, and the JSON for programs."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from apps.markup.numbers import duration
from apps.markup.sections import caption, folded, header, section, table
from apps.markup.text import element, escape, panel, shown
from apps.tabs.entities.strings import EntityStrings
from zh_albert.tasks.ner.predictor import Entity

COLOURS = 10  # tints in the style sheet; more types than that share them
MAX_ROWS = 200  # of the list and the JSON; the text shows all marks


def entity_panel(
    strings: EntityStrings,
    text: str,
    entities: Sequence[Entity],
    types: Sequence[str],
    seconds: float,
) -> str:
    """Return the panel of a tagger's entities.

    Args:
        strings: The tab's strings.
        text: What was read.
        entities: In order; one that crosses an earlier one stands in the list only.
        types: All types of the model: their order decides the colours.
        seconds: The time it took.
    """
    colours = {name: index % COLOURS for index, name in enumerate(types)}
    counts = Counter(entity.type for entity in entities)
    legend = "".join(
        f'<li><span class="za-entity za-e{colours[name]}">'
        f"{escape(strings.page.names.of_entity(name))}</span>"
        f'<span class="za-raw">{count}</span></li>'
        for name, count in counts.most_common()
    )
    found = strings.found.format(count=len(entities))
    took = strings.page.latency.format(time=duration(seconds))
    body = (
        f'{header(found, took)}<p class="za-flow za-marked">'
        f'{_marked(strings, text, entities, colours)}</p><ul class="za-legend">{legend}</ul>'
    )
    if not entities:
        return panel(section(body + caption(strings.none)))
    return panel(section(body) + _lists(strings, entities))


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


def _marked(
    strings: EntityStrings, text: str, entities: Iterable[Entity], colours: dict[str, int]
) -> str:
    """Return the text as HTML with a mark around each entity."""
    begin, end = defaultdict[int, str](str), defaultdict[int, str](str)
    for entity in nesting(entities):
        name = escape(strings.page.names.of_entity(entity.type))
        hint = f"{name} · {entity.start}–{entity.end} · {entity.score:.1%}"
        kind = f"za-entity za-e{colours[entity.type]}"
        begin[entity.start] += f'<mark class="{kind}" data-type="{name}" title="{hint}">'
        end[entity.end] += "</mark>"
    borders = sorted({0, *begin, *end, len(text)})
    parts = (
        begin[here] + shown(text[here:there]) + end[there]
        for here, there in itertools.pairwise(borders)
    )
    return "".join(parts)


def _lists(strings: EntityStrings, entities: Sequence[Entity]) -> str:
    """Return the entities one by one: in a table, and as JSON."""
    rows = (
        (
            shown(entity.text),
            escape(strings.page.names.of_entity(entity.type)),
            f"{entity.start}–{entity.end}",
            f"{entity.score:.1%}",
        )
        for entity in entities[:MAX_ROWS]
    )
    lines = ",\n ".join(
        json.dumps(asdict(entity), ensure_ascii=False) for entity in entities[:MAX_ROWS]
    )
    rest = len(entities) - MAX_ROWS
    more = caption(strings.left_out.format(shown=MAX_ROWS, rest=rest)) if rest > 0 else ""
    listed = table(map(element, strings.columns), rows, "za-scroll za-listed") + more
    as_json = f'<pre class="za-json">{escape(f"[{lines}]")}</pre>'
    kind = "za-section za-numbers"
    return folded(element(strings.listed), listed, kind, is_open=True) + folded(
        element(strings.as_json), as_json, kind
    )
