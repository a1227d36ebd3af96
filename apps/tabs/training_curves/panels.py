"""An encoder's training → HTML: the last values, three figures and the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from apps.markup.line_figure import LineFigure, figures
from apps.markup.sections import caption, folded, table, tiles
from apps.markup.svg import spread
from apps.markup.text import element, notice, panel
from apps.tabs.training_curves.curve import CurvePoint, read_curve
from apps.tabs.training_curves.strings import TrainingCurveStrings
from apps.text_answers import failure_reason
from zh_albert.errors import DataError
from zh_albert.inference.fill_mask import FillMask

_MAX_ROWS = 12


def curves_panel(strings: TrainingCurveStrings, encoder: FillMask | None) -> str:
    """Return an encoder's training curves; without them, a notice that says why."""
    if encoder is None:
        return notice(strings.page.no_encoder, alarm=False)
    try:
        points = read_curve(encoder.folder)
    except DataError as error:
        return notice(strings.broken_curve.filled(reason=failure_reason(error)))
    if not points:
        return notice(strings.no_curve, alarm=False)
    source = encoder.metadata.get("trained_on")
    about = strings.trained_on.format(source=str(source)) if source else ""
    return panel(
        element(strings.title, "h3")
        + caption(strings.hint)
        + _tiles(strings, points[-1])
        + figures(_figures(strings, points, encoder.tokenizer.vocab_size))
        + caption(about, "za-caption za-note")
        + _table(strings, points)
    )


def _figures(
    strings: TrainingCurveStrings, points: Sequence[CurvePoint], rows: int
) -> list[LineFigure]:
    accuracy = [point.masked_accuracy for point in points]
    loss = [point.masked_loss for point in points]
    order = [point.order_accuracy for point in points]
    choices = f"{math.exp(min(loss[-1], 99)):,.0f}"
    over_tokens = partial(
        LineFigure,
        strings=strings.page,
        across=strings.tokens_read,
        counts=[point.tokens for point in points],
    )
    return [
        over_tokens(
            title=strings.masked_accuracy,
            hint=strings.masked_accuracy_hint.format(rows=f"{rows:,}"),
            values=accuracy,
            high=min(1, max(0.1, math.ceil(11 * max(accuracy)) / 10)),
        ),
        over_tokens(
            title=strings.masked_loss,
            hint=strings.masked_loss_hint.format(choices=choices),
            values=loss,
            low=math.floor(min(loss)),
            high=math.floor(max(loss)) + 1,
            is_share=False,
        ),
        over_tokens(
            title=strings.order_accuracy,
            hint=strings.order_accuracy_hint,
            values=order,
            low=min(0.4, math.floor(10 * min(order)) / 10),
            chance=0.5,
        ),
    ]


def _tiles(strings: TrainingCurveStrings, last: CurvePoint) -> str:
    return tiles(
        [
            (strings.page.count(last.tokens), strings.tokens_read),
            (f"{last.update:,.0f}", strings.updates),
            (f"{100 * last.masked_accuracy:.1f}%", strings.masked_accuracy),
            (f"{100 * last.order_accuracy:.1f}%", strings.order_accuracy),
        ]
    )


def _table(strings: TrainingCurveStrings, points: Sequence[CurvePoint]) -> str:
    names = (
        strings.updates,
        strings.tokens_read,
        strings.masked_loss,
        strings.masked_accuracy,
        strings.order_accuracy,
    )
    rows = (
        (
            f"{point.update:,.0f}",
            strings.page.count(point.tokens),
            f"{point.masked_loss:.3f}",
            f"{100 * point.masked_accuracy:.1f}%",
            f"{100 * point.order_accuracy:.1f}%",
        )
        for point in (points[index] for index in spread(len(points), _MAX_ROWS))
    )
    heads = (element(name, "span") for name in names)
    return folded(element(strings.page.numbers, "span"), table(heads, rows))
