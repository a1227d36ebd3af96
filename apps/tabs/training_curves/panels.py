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
    accuracies = [(point.tokens, point.masked_accuracy) for point in points]
    losses = [(point.tokens, point.masked_loss) for point in points]
    orders = [(point.tokens, point.order_accuracy) for point in points]
    best = max(accuracy for _, accuracy in accuracies)
    lowest, highest = (end(loss for _, loss in losses) for end in (min, max))
    choices = f"{math.exp(min(points[-1].masked_loss, 99)):,.0f}"
    over_tokens = partial(LineFigure, strings=strings.page, across=strings.tokens_read)
    return [
        over_tokens(
            title=strings.masked_accuracy,
            hint=strings.masked_accuracy_hint.format(rows=f"{rows:,}"),
            points=accuracies,
            high=min(1, max(0.1, math.ceil(11 * best) / 10)),
        ),
        over_tokens(
            title=strings.masked_loss,
            hint=strings.masked_loss_hint.format(choices=choices),
            points=losses,
            low=math.floor(lowest),
            high=math.floor(highest) + 1,
            is_share=False,
        ),
        over_tokens(
            title=strings.order_accuracy,
            hint=strings.order_accuracy_hint,
            points=orders,
            low=min(0.4, math.floor(10 * min(order for _, order in orders)) / 10),
            chance=0.5,
        ),
    ]


def _tiles(strings: TrainingCurveStrings, last: CurvePoint) -> str:
    updates, tokens, _, masked, order = _written(strings, last)
    return tiles(
        [
            (tokens, strings.tokens_read),
            (updates, strings.updates),
            (masked, strings.masked_accuracy),
            (order, strings.order_accuracy),
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
    heads = (element(name, "span") for name in names)
    rows = (_written(strings, points[index]) for index in spread(len(points), _MAX_ROWS))
    return folded(element(strings.page.numbers, "span"), table(heads, rows))


def _written(strings: TrainingCurveStrings, point: CurvePoint) -> tuple[str, str, str, str, str]:
    return (
        f"{point.update:,.0f}",
        strings.page.count(point.tokens),
        f"{point.masked_loss:.3f}",
        f"{100 * point.masked_accuracy:.1f}%",
        f"{100 * point.order_accuracy:.1f}%",
    )
