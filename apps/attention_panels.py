"""Attention → HTML: every head as a small picture, and one of them large; pure functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from apps.markup import element, escape, plain
from apps.panels import percentages
from apps.pixels import shares_picture
from apps.texts.languages import Language
from zh_albert.inference.introspection import Attention

MEAN = 0  # the number of a layer's mean, before its first head
_DRAWN = 0.005  # a cell with less is left blank


def overview_panel(say: Language, attention: Attention, layer: int, head: int) -> str:
    """Show every head of every layer as a button with a small picture.

    Args:
        say: The page's language.
        attention: What is shown.
        layer: The one that is pressed, from 0.
        head: Its head, from 1, or ``MEAN``.
    """
    heads = _with_mean(attention.probabilities)
    layers, columns, height, width = heads.shape
    sheet = heads.transpose(0, 2, 1, 3).reshape(layers * height, columns * width)
    names = [say.inside.mean_short, *(str(number) for number in range(1, columns))]
    cells = ["<span></span>", *(element(name, "span", "za-axis") for name in names)]
    for row in range(layers):
        cells.append(element(say.inside.layer_short.format(layer=row + 1), "span", "za-axis"))
        for column in range(columns):
            pressed = (row, column) == (layer, head)
            at = f"{_place(column, columns)} {_place(row, layers)}"
            cells.append(
                f'<button type="button" class="za-mini" data-layer="{row}" data-head="{column}" '
                f'aria-pressed="{str(pressed).lower()}" tabindex="{0 if pressed else -1}" '
                f'aria-label="{escape(_name(say, row, column))}" '
                f'style="background-position:{at}"></button>'
            )
    return (
        f'<section class="za-section za-first">{element(say.inside.overview, "h3")}'
        f"{element(say.inside.overview_hint, 'p', 'za-caption')}"
        f'<div class="za-heads" role="group" aria-label="{escape(say.inside.overview)}" '
        f'style="--columns:{columns};--rows:{layers};--picture:url({shares_picture(sheet)})">'
        f"{''.join(cells)}</div></section>"
    )


def map_panel(say: Language, text: str, attention: Attention, layer: int, head: int) -> str:
    """Show one head: a table with the text's characters on both axes.

    Args:
        say: The page's language.
        text: What was read.
        attention: Of all heads.
        layer: From 0.
        head: From 1, or ``MEAN`` for the mean of the layer's heads.
    """
    shares = _with_mean(attention.probabilities[layer : layer + 1])[0, head]
    names = [
        plain(text[place[0] : place[1]]) if place else escape(token)
        for place, token in zip(attention.offsets, attention.tokens, strict=True)
    ]
    special = [place is None for place in attention.offsets]
    heads = [
        f'<th scope="col" class="{_axis(name, lone=is_special)}">{name}</th>'
        for name, is_special in zip(names, special, strict=True)
    ]
    rows = [
        f'<tr><th scope="row" class="{_axis(name, lone=is_special)}">{name}</th>'
        f"{_cells(say, name, names, row)}</tr>"
        for name, is_special, row in zip(names, special, shares.tolist(), strict=True)
    ]
    title = say.inside.map_about.format(
        layer=say.inside.layer.format(layer=layer + 1), head=_head(say, head), count=len(names)
    )
    return (
        f'<section class="za-section"><header>{element(say.inside.attention, "h3")}'
        f"{element(_name(say, layer, head), 'span', 'za-chip za-right')}</header>"
        f"{element(say.inside.attention_hint, 'p', 'za-caption')}"
        f'<div class="za-map" role="region" tabindex="0" aria-label="{escape(title)}" '
        f'style="--count:{len(names)}"><table><thead><tr><td></td>{"".join(heads)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{_legend(say)}{_summary(say, shares)}"
        "</section>"
    )


def _with_mean(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put the mean of the heads before them. Shape: (layers, heads + 1, tokens, tokens)."""
    mean = probabilities.mean(1, keepdims=True)
    return np.concatenate([mean, probabilities], 1)


def _place(number: int, count: int) -> str:
    return f"{100 * number / max(count - 1, 1):.3f}%"


def _name(say: Language, layer: int, head: int) -> str:
    return f"{say.inside.layer.format(layer=layer + 1)} · {_head(say, head)}"


def _head(say: Language, head: int) -> str:
    return say.inside.mean_head if head == MEAN else say.inside.head.format(head=head)


def _axis(name: str, *, lone: bool) -> str:
    return "za-special" if lone else "za-long" if len(name) > 1 else "za-one"


def _cells(say: Language, name: str, names: list[str], shares: list[float]) -> str:
    parts = []
    for column, share in zip(names, shares, strict=True):
        if share < _DRAWN:
            parts.append("<td></td>")
            continue
        hint = say.inside.weight.format(row=name, column=column)  # both are HTML already
        parts.append(f'<td style="--p:{_depth(share)}%" title="{hint} {share:.1%}"></td>')
    return "".join(parts)


def _depth(share: float) -> int:
    """Return how much of the colour a share gets, in percent; see ``shares_picture``."""
    return int(100 * share**0.5 + 0.5)


def _legend(say: Language) -> str:
    marks = "".join(
        f'<li><span class="za-swatch" style="--p:{_depth(share)}%"></span>{share:.0%}</li>'
        for share in (0.01, 0.05, 0.25, 1.0)
    )
    return f'<ul class="za-legend"><li>{escape(say.inside.scale)}</li>{marks}</ul>'


def _summary(say: Language, shares: NDArray[np.float32]) -> str:
    """Say where the text's own tokens look, in four shares of 100 %."""
    own = np.arange(1, len(shares) - 1)
    rows = shares[own]
    itself = rows[own - 1, own].mean()
    special = rows[:, [0, -1]].sum(1).mean()
    before = rows[own[1:] - 1, own[1:] - 1].sum()
    after = rows[own[:-1] - 1, own[:-1] + 1].sum()
    near = (before + after) / len(own)
    rest = max(0.0, 1 - float(itself + special + near))
    names = (
        say.inside.to_itself,
        say.inside.to_neighbours,
        say.inside.to_special,
        say.inside.to_others,
    )
    percents = percentages([float(itself), float(near), float(special), rest])
    tiles = "".join(
        f'<li><strong class="za-count">{percent:.1f}%</strong>{element(name, "span")}</li>'
        for name, percent in zip(names, percents, strict=True)
    )
    return f'<ul class="za-counts za-small">{tiles}</ul>'
