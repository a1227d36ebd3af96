"""Attention → HTML: every head as a small picture, and one of them large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from apps.markup.numbers import percentages
from apps.markup.sections import caption, header, plain_table, section, tiles
from apps.markup.text import element, escape, plain
from apps.tabs.inside.png import shares_png
from apps.tabs.inside.strings import InsideStrings
from zh_albert.inference.introspection import Attention

MEAN = 0  # the number of a layer's mean, before its first head
_DRAWN = 0.005  # a cell with less is left blank


def overview_panel(strings: InsideStrings, attention: Attention, layer: int, head: int) -> str:
    """Return every head of every layer as a button with a small picture.

    Args:
        strings: The tab's strings.
        attention: The attention of all heads.
        layer: The layer of the pressed button, from 0.
        head: Its head, from 1, or ``MEAN``.
    """
    heads = _with_mean(attention.probabilities)
    layers, columns, height, width = heads.shape
    sheet = heads.transpose(0, 2, 1, 3).reshape(layers * height, columns * width)
    names = [strings.mean_short, *(str(number) for number in range(1, columns))]
    cells = ["<span></span>", *(element(name, "span", "za-axis") for name in names)]
    for row in range(layers):
        cells.append(element(strings.layer_short.format(layer=row + 1), "span", "za-axis"))
        for column in range(columns):
            pressed = (row, column) == (layer, head)
            place = f"{_position(column, columns)} {_position(row, layers)}"
            cells.append(
                f'<button type="button" class="za-mini" data-layer="{row}" data-head="{column}" '
                f'aria-pressed="{str(pressed).lower()}" tabindex="{0 if pressed else -1}" '
                f'aria-label="{escape(_name(strings, row, column))}" '
                f'style="background-position:{place}"></button>'
            )
    return section(
        f"{element(strings.overview, 'h3')}{caption(strings.overview_hint)}"
        f'<div class="za-heads" role="group" aria-label="{escape(strings.overview)}" '
        f'style="--columns:{columns};--rows:{layers};--picture:url({shares_png(sheet)})">'
        f"{''.join(cells)}</div>",
        "za-first",
    )


def map_panel(
    strings: InsideStrings, text: str, attention: Attention, layer: int, head: int
) -> str:
    """Return one head: a table with the text's characters on both axes.

    Args:
        strings: The tab's strings.
        text: What was read.
        attention: The attention of all heads.
        layer: From 0.
        head: From 1, or ``MEAN`` for the mean of the layer's heads.
    """
    shares = _with_mean(attention.probabilities[layer : layer + 1])[0, head]
    names, kinds = [], []
    for place, token in zip(attention.offsets, attention.tokens, strict=True):
        if place is None:
            names.append(escape(token))
            kinds.append("za-special")
        else:
            start, end = place
            names.append(plain(text[start:end]))
            kinds.append("za-long" if end - start > 1 else "za-one")
    heads = "".join(
        f'<th scope="col" class="{kind}">{name}</th>'
        for name, kind in zip(names, kinds, strict=True)
    )
    rows = "".join(
        f'<tr><th scope="row" class="{kind}">{name}</th>{_cells(strings, name, names, row)}</tr>'
        for name, kind, row in zip(names, kinds, shares.tolist(), strict=True)
    )
    title = strings.map_about.format(
        layer=strings.layer.format(layer=layer + 1), head=_head(strings, head), count=len(names)
    )
    return section(
        f"{header(strings.attention, _name(strings, layer, head), 'za-chip za-right')}"
        f"{caption(strings.attention_hint)}"
        f'<div class="za-map" role="region" tabindex="0" aria-label="{escape(title)}" '
        f'style="--count:{len(names)}">{plain_table(f"<td></td>{heads}", rows)}</div>'
        f"{_legend(strings)}{_summary(strings, shares)}"
    )


def _with_mean(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put the mean of the heads before them. Shape: (layers, heads + 1, tokens, tokens)."""
    return np.concatenate([probabilities.mean(1, keepdims=True), probabilities], 1)


def _position(number: int, count: int) -> str:
    return f"{100 * number / max(count - 1, 1):.3f}%"


def _name(strings: InsideStrings, layer: int, head: int) -> str:
    return f"{strings.layer.format(layer=layer + 1)} · {_head(strings, head)}"


def _head(strings: InsideStrings, head: int) -> str:
    return strings.mean_head if head == MEAN else strings.head.format(head=head)


def _cells(strings: InsideStrings, name: str, names: list[str], shares: list[float]) -> str:
    parts = []
    for column, share in zip(names, shares, strict=True):
        if share < _DRAWN:
            parts.append("<td></td>")
            continue
        hint = strings.weight.format(row=name, column=column)  # both are HTML already
        parts.append(f'<td style="--p:{_depth(share)}%" title="{hint} {share:.1%}"></td>')
    return "".join(parts)


def _depth(share: float) -> int:
    """Return how much of the colour a share gets, in percent; see ``shares_png``."""
    return int(100 * share**0.5 + 0.5)


def _legend(strings: InsideStrings) -> str:
    marks = "".join(
        f'<li><span class="za-swatch" style="--p:{_depth(share)}%"></span>{share:.0%}</li>'
        for share in (0.01, 0.05, 0.25, 1.0)
    )
    return f'<ul class="za-legend">{element(strings.scale, "li")}{marks}</ul>'


def _summary(strings: InsideStrings, shares: NDArray[np.float32]) -> str:
    """Return where the text's own tokens look, in four shares of 100 %."""
    own = np.arange(1, len(shares) - 1)
    rows = shares[own]
    itself = float(rows[own - 1, own].mean())
    special = float(rows[:, [0, -1]].sum(1).mean())
    before = rows[own[1:] - 1, own[1:] - 1].sum()
    after = rows[own[:-1] - 1, own[:-1] + 1].sum()
    near = float((before + after) / len(own))
    percents = percentages([itself, near, special, max(0.0, 1 - (itself + special + near))])
    names = (strings.to_itself, strings.to_neighbours, strings.to_special, strings.to_others)
    written = [f"{percent:.1f}%" for percent in percents]
    return tiles(zip(written, names, strict=True), small=True)
