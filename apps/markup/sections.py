"""Parts of panels: sections with a heading, tables, tiles and remarks."""

from __future__ import annotations

from collections.abc import Iterable

from apps.markup.text import element, plain


def section(body: str, kind: str = "") -> str:
    """Return a section of a panel."""
    return f'<section class="{f"za-section {kind}".strip()}">{body}</section>'


def header(title: str, chip: str = "", kind: str = "za-chip") -> str:
    """Return the head of a section: a title and, if there is one, a remark in a frame."""
    beside = f'<span class="{kind}">{plain(chip)}</span>' if chip else ""
    return f"<header>{element(title, 'h3')}{beside}</header>"


def caption(text: str, kind: str = "za-caption") -> str:
    """Return a paragraph in small letters; nothing for no text."""
    return element(text, "p", kind) if text else ""


def quote(text: str, most: int) -> str:
    """Return the beginning of a text as a quotation, up to so many characters."""
    return f"<q>{plain(text[:most])}{'…' if len(text) > most else ''}</q>"


def table(heads: Iterable[str], rows: Iterable[Iterable[object]], kind: str = "za-scroll") -> str:
    """Return a table, which scrolls sideways where the screen is narrow.

    Args:
        heads: The heads of the columns, as HTML.
        rows: The cells of each row, as HTML.
        kind: Classes of the style sheet.
    """
    head = "".join(f"<th>{one}</th>" for one in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="{kind}">{plain_table(head, lines)}</div>'


def plain_table(head: str, lines: str, kind: str = "") -> str:
    """Return a table of a head and of lines that are HTML already."""
    style = f' class="{kind}"' if kind else ""
    return f"<table{style}><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def folded(summary: str, body: str, kind: str = "za-numbers", *, is_open: bool = False) -> str:
    """Return HTML that a click on its summary, also HTML, folds and unfolds."""
    return (
        f'<details class="{kind}"{" open" if is_open else ""}><summary>{summary}</summary>{body}'
        "</details>"
    )


def tiles(counts: Iterable[tuple[str, str]], *, small: bool = False) -> str:
    """Return numbers with their names below.

    Args:
        counts: Each number, written, and its name.
        small: Whether they are drawn small.
    """
    tag, kind = ("span", "za-counts za-small") if small else ("div", "za-counts")
    items = "".join(
        f'<li><strong class="za-count">{number}</strong>{element(name, tag)}</li>'
        for number, name in counts
    )
    return f'<ul class="{kind}">{items}</ul>'
