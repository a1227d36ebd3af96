"""The movement of a text in each layer → HTML: two figures, a legend and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.markup.sections import caption, folded, section, table
from apps.markup.text import element, escape, panel, plain
from apps.tabs.inside.layer_figure import LayerLine, layer_figure
from apps.tabs.inside.strings import InsideStrings
from zh_albert.inference.introspection import Movement
from zh_albert.model.sharing import LayerBlocks

_COLOURS = 9  # in the style sheet; more models than that share them


@dataclass(frozen=True, slots=True)
class ModelMovement:
    """The movement of one model.

    Attributes:
        name: The model's name on the page.
        plan: The parameters that each layer runs.
        movement: How far each layer moves the text.
        is_chosen: Whether it is the model that the tab looks into.
        is_trained: Whether its weights were trained.
    """

    name: str
    plan: Sequence[LayerBlocks]
    movement: Movement
    is_chosen: bool = False
    is_trained: bool = True

    @property
    def is_untied(self) -> bool:
        """Whether every layer has parameters of its own."""
        return all(len({*blocks}) == len(self.plan) for blocks in zip(*self.plan, strict=True))


def movement_panel(strings: InsideStrings, moved: Sequence[ModelMovement]) -> str:
    """Return how far each layer of several models moves its input.

    Args:
        strings: The tab's strings.
        moved: At least one.
    """
    note = strings.no_unshared
    if any(one.is_trained and one.is_untied for one in moved):
        note = strings.has_unshared
    chosen = next((one for one in moved if one.is_chosen), moved[0])
    groups = [layer.ffn for layer in chosen.plan]
    drawn = (
        (strings.distance, strings.distance_hint, [one.movement.distances for one in moved]),
        (strings.angle, strings.angle_hint, [one.movement.degrees for one in moved]),
    )
    figures = ""
    for title, hint, values in drawn:
        lines = [
            LayerLine(one.name, heights.tolist(), number % _COLOURS, one.is_chosen, one.is_untied)
            for number, (one, heights) in enumerate(zip(moved, values, strict=True))
        ]
        figure = layer_figure(title, strings.columns[1], lines, groups)
        figures += f"<div>{element(title, 'h4')}{figure}{caption(hint)}</div>"
    legend = "".join(_key(strings, number, one) for number, one in enumerate(moved))
    return panel(
        section(
            f"{element(strings.movement, 'h3')}{caption(strings.movement_hint)}"
            f'<ul class="za-keys">{legend}</ul><div class="za-figures">{figures}</div>'
            f"{caption(strings.bands, 'za-caption za-note')}{caption(note)}"
            f"{_numbers(strings, moved)}"
        )
    )


def sharing_of(strings: InsideStrings, plan: Sequence[LayerBlocks]) -> str:
    """Return in words which layers share parameters."""
    attention, ffn = (len({*blocks}) for blocks in zip(*plan, strict=True))
    layers = len(plan)
    if attention == ffn == layers:
        return strings.unshared.format(layers=layers)
    if attention == ffn == 1:
        return strings.shared.format(layers=layers)
    if attention == ffn:
        return strings.shared_groups.format(layers=layers, groups=ffn)
    return strings.shared_partly.format(layers=layers, attention=attention, ffn=ffn)


def _key(strings: InsideStrings, number: int, one: ModelMovement) -> str:
    about = sharing_of(strings, one.plan) if one.is_trained else strings.untrained
    kind = f"za-key za-l{number % _COLOURS}"
    kind += " za-dashed" if one.is_untied else ""
    kind += " za-chosen" if one.is_chosen else ""
    return (
        f'<li class="{kind}"><i class="za-stroke"></i><span>{plain(one.name)}</span>'
        f"{element(about, 'span', 'za-raw')}</li>"
    )


def _numbers(strings: InsideStrings, moved: Sequence[ModelMovement]) -> str:
    rows = []
    for one in moved:
        parts = (one.movement.distances, one.movement.degrees, one.movement.cosines)
        for layer, (distance, degrees, cosine) in enumerate(zip(*parts, strict=True), start=1):
            numbers = (f"{distance:.2f}", f"{degrees:.1f}°", f"{cosine:.3f}")
            rows.append((plain(one.name), layer, *numbers))
    return folded(escape(strings.page.numbers), table(map(escape, strings.columns), rows))
