"""Nearest lines → HTML: a table, best first."""

from __future__ import annotations

from collections.abc import Sequence

from apps.markup.bars import meter
from apps.markup.numbers import duration
from apps.markup.sections import caption, header, plain_table, section
from apps.markup.text import element, panel, plain, shown
from apps.tabs.search.strings import SearchStrings
from zh_albert.tasks.embedding.search import Hit, SemanticSearch


def search_panel(
    strings: SearchStrings,
    question: str,
    hits: Sequence[Hit],
    search: SemanticSearch,
    seconds: float,
) -> str:
    """Return the panel of an answer.

    Args:
        strings: The tab's strings.
        question: What was asked.
        hits: The nearest lines, nearest first.
        search: Where they were found.
        seconds: The time it took to find them.
    """
    took = strings.page.latency.format(time=duration(seconds))
    searched = strings.searched.format(count=f"{len(search.texts) - search.unread:,}")
    if search.unread:
        searched += strings.unread.format(count=f"{search.unread:,}")
    head = "".join(element(name, "th") for name in strings.columns)
    rows = "".join(_row(hit, is_best=hit is hits[0]) for hit in hits)
    return panel(
        section(
            f'{header(strings.nearest, took)}<p class="za-asked"><q>{plain(question)}</q></p>'
            f"{plain_table(head, rows, 'za-candidates')}{caption(searched)}"
            f"{caption(strings.hint)}",
            "za-numbers",
        )
    )


def _row(hit: Hit, *, is_best: bool) -> str:
    value = f"{hit.cosine:.3f}"
    bar = meter(100 * max(hit.cosine, 0), hit.text, high="1", value=value)
    return (
        f'<tr class="{"za-winner" if is_best else ""}"><td class="za-name">{shown(hit.text)}</td>'
        f'<td>{hit.index + 1:,}</td><td class="za-share"><span class="za-percent">{value}</span>'
        f"{bar}</td></tr>"
    )
