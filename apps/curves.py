"""How an encoder's training went: ``curve.jsonl`` → a panel with three figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from apps.line_figure import LineFigure, spread
from apps.markup import element, notice, page
from apps.texts.languages import Language
from zh_albert.errors import DataError
from zh_albert.inference.fill_mask import FillMask
from zh_albert.textio import read_objects

FILE_NAME = "curve.jsonl"
_MAX_ROWS = 12


class CurvePoint(NamedTuple):
    """One evaluation on held-out text.

    Accuracies are from 0 to 1, the loss is in nats a masked token.
    """

    update: float
    tokens: float
    masked_loss: float
    masked_accuracy: float
    order_accuracy: float


def read_curve(folder: Path) -> list[CurvePoint]:
    """Read an encoder's evaluations, in the order of training; none if there is no file.

    Raises:
        DataError: If a line is not what the pretraining job writes (file and line named).
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return []
    points = []
    for number, row in read_objects(path):
        values = [row.get(name) for name in CurvePoint._fields]
        if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
            wanted = ", ".join(CurvePoint._fields)
            raise DataError.at(path, number, f"expected numbers {wanted}, found {row!r:.80}")
        points.append(CurvePoint._make(values))
    return sorted(points, key=lambda point: point.tokens)


def curves_panel(say: Language, encoder: FillMask | None) -> str:
    """Show how an encoder's training went; in one line why that cannot be shown."""
    if encoder is None:
        return notice(say.fill_mask.no_encoder, alarm=False)
    try:
        points = read_curve(encoder.folder)
    except DataError as error:
        return notice(say.training.broken_curve.filled(reason=" ".join(str(error).split())[:200]))
    if not points:
        return notice(say.training.no_curve, alarm=False)
    figures = "".join(map(_section, _figures(say, points, encoder.tokenizer.vocab_size)))
    source = encoder.metadata.get("trained_on")
    about = say.training.trained_on.format(source=str(source)) if source else None
    return page(
        element(say.training.title, "h3")
        + element(say.training.hint, "p", "za-caption")
        + _tiles(say, points[-1])
        + f'<div class="za-figures">{figures}</div>'
        + (element(about, "p", "za-caption za-note") if about else "")
        + _table(say, points)
    )


def _figures(say: Language, points: Sequence[CurvePoint], rows: int) -> list[LineFigure]:
    tokens = [point.tokens for point in points]
    accuracy = [point.masked_accuracy for point in points]
    loss = [point.masked_loss for point in points]
    order = [point.order_accuracy for point in points]
    choices = f"{math.exp(min(loss[-1], 99)):,.0f}"
    return [
        LineFigure(
            say=say,
            title=say.training.masked_accuracy,
            hint=say.training.masked_accuracy_hint.format(rows=f"{rows:,}"),
            across=say.training.tokens_read,
            places=tokens,
            values=accuracy,
            low=0,
            high=min(1, max(0.1, math.ceil(11 * max(accuracy)) / 10)),
            is_share=True,
        ),
        LineFigure(
            say=say,
            title=say.training.masked_loss,
            hint=say.training.masked_loss_hint.format(choices=choices),
            across=say.training.tokens_read,
            places=tokens,
            values=loss,
            low=math.floor(min(loss)),
            high=math.floor(max(loss)) + 1,
            is_share=False,
        ),
        LineFigure(
            say=say,
            title=say.training.order_accuracy,
            hint=say.training.order_accuracy_hint,
            across=say.training.tokens_read,
            places=tokens,
            values=order,
            low=min(0.4, math.floor(10 * min(order)) / 10),
            high=1,
            is_share=True,
            chance=0.5,
        ),
    ]


def _section(figure: LineFigure) -> str:
    return (
        f'<section class="za-section">{element(figure.title, "h3")}{figure.draw()}'
        f"{element(figure.hint, 'p', 'za-caption')}</section>"
    )


def _tiles(say: Language, last: CurvePoint) -> str:
    tiles = [
        (say.count(last.tokens), say.training.tokens_read),
        (f"{last.update:,.0f}", say.training.updates),
        (f"{100 * last.masked_accuracy:.1f}%", say.training.masked_accuracy),
        (f"{100 * last.order_accuracy:.1f}%", say.training.order_accuracy),
    ]
    items = "".join(
        f'<li><strong class="za-count">{value}</strong>{element(name)}</li>'
        for value, name in tiles
    )
    return f'<ul class="za-counts">{items}</ul>'


def _table(say: Language, points: Sequence[CurvePoint]) -> str:
    names = (
        say.training.updates,
        say.training.tokens_read,
        say.training.masked_loss,
        say.training.masked_accuracy,
        say.training.order_accuracy,
    )
    heads = "".join(f"<th>{element(name, 'span')}</th>" for name in names)
    rows = "".join(_row(say, points[index]) for index in spread(len(points), _MAX_ROWS))
    return (
        f'<details class="za-numbers"><summary>{element(say.training.numbers, "span")}</summary>'
        f'<div class="za-scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _row(say: Language, point: CurvePoint) -> str:
    cells = (
        f"{point.update:,.0f}",
        say.count(point.tokens),
        f"{point.masked_loss:.3f}",
        f"{100 * point.masked_accuracy:.1f}%",
        f"{100 * point.order_accuracy:.1f}%",
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
