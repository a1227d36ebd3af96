"""Bars: probabilities, counts of labels, and how far something is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from apps.i18n.page import PageStrings
from apps.markup.numbers import percent_text
from apps.markup.text import escape, plain

MAX_BARS = 20  # of one list; the other labels share a bar


def meter(
    percent: float, label: str = "", *, low: str = "0", high: str = "100", value: str = ""
) -> str:
    """Return a bar without a name.

    Args:
        percent: How much of it is filled.
        label: The name that screen readers say.
        low: The value at its beginning.
        high: The value at its end.
        value: The value it shows; by default the percentage.
    """
    named = f' aria-label="{plain(label)}"' if label else ""
    return (
        f'<span class="za-track" role="meter" aria-valuemin="{low}" aria-valuemax="{high}" '
        f'aria-valuenow="{value or f"{percent:.1f}"}"{named}>{fill(percent)}</span>'
    )


def fill(percent: float) -> str:
    """Return the filled part of a bar."""
    return f'<span class="za-fill" style="width:{percent:.1f}%"></span>'


def bar(name: str, beside: str, percent: float, *, winner: bool = False) -> str:
    """Return one row of a list of bars.

    Args:
        name: The name of what is shown.
        beside: A remark in small letters; left out where it repeats the name.
        percent: From 0 to 100.
        winner: Whether the row stands out.
    """
    kind = "za-bar za-winner" if winner else "za-bar"
    remark = f'<span class="za-raw">{escape(beside)}</span>' if beside not in (name, "") else ""
    return (
        f'<li class="{kind}"><span class="za-name">{escape(name)}{remark}</span>'
        f'{meter(percent, name)}<span class="za-percent">{percent_text(percent)}</span></li>'
    )


def bars(rows: Sequence[str]) -> str:
    """Return a list of bars."""
    return f'<ol class="za-bars">{"".join(rows)}</ol>'


def count_bars(
    strings: PageStrings, ranked: Sequence[tuple[str, int]], name_of: Callable[[str], str]
) -> str:
    """Return bars of how often each label occurs.

    Args:
        strings: The page's strings.
        ranked: Labels and their counts, in order; at least one.
        name_of: From a label to its name.
    """
    total = sum(count for _, count in ranked)
    shown = [(name_of(label), count) for label, count in ranked[:MAX_BARS]]
    if rest := ranked[MAX_BARS:]:
        others = strings.other_classes.format(count=len(rest))
        shown.append((others, sum(count for _, count in rest)))
    return bars([bar(name, f"{count:,}", 100 * count / total) for name, count in shown])


def progress_bar(share: float, label: str) -> str:
    """Return a bar that shows how far some work is.

    Args:
        share: From 0 to 1.
        label: The name that screen readers say.
    """
    percent = 100 * min(max(share, 0), 1)
    return (
        f'<div class="za-track za-progress" role="progressbar" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent:.1f}" aria-label="{escape(label)}">'
        f"{fill(percent)}</div>"
    )
