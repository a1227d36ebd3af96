"""How far each layer moves its input → HTML: two figures, a legend and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.layer_figure import LayerLine, layer_figure
from apps.markup import element, escape, page, plain
from apps.texts.languages import Language
from zh_albert.inference.introspection import Movement
from zh_albert.model.sharing import LayerBlocks

_COLOURS = 9  # in the style sheet; more models than that share them


@dataclass(frozen=True, slots=True)
class Moved:
    """One model's movement.

    Attributes:
        name: As the page shows it.
        plan: Which parameters each layer runs.
        movement: Of the text that was typed.
        is_chosen: Whether it is the model looked into.
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


def movement_panel(say: Language, moved: Sequence[Moved]) -> str:
    """Show how far each layer of several models moves its input.

    Args:
        say: The page's language.
        moved: At least one.
    """
    note = say.inside.no_unshared
    if any(one.is_trained and one.is_untied for one in moved):
        note = say.inside.has_unshared
    chosen = next((one for one in moved if one.is_chosen), moved[0])
    groups = [layer.ffn for layer in chosen.plan]
    figures = "".join(
        f"<div>{element(title, 'h4')}"
        f"{layer_figure(title, say.inside.columns[1], _lines(moved, values), groups)}"
        f"{element(hint, 'p', 'za-caption')}</div>"
        for title, hint, values in (
            (say.inside.distance, say.inside.distance_hint, "distances"),
            (say.inside.angle, say.inside.angle_hint, "degrees"),
        )
    )
    legend = "".join(_key(say, number, one) for number, one in enumerate(moved))
    return page(
        f'<section class="za-section">{element(say.inside.movement, "h3")}'
        f"{element(say.inside.movement_hint, 'p', 'za-caption')}"
        f'<ul class="za-keys">{legend}</ul><div class="za-figures">{figures}</div>'
        f"{element(say.inside.bands, 'p', 'za-caption za-note')}"
        f"{element(note, 'p', 'za-caption')}{_numbers(say, moved)}</section>"
    )


def sharing_of(say: Language, plan: Sequence[LayerBlocks]) -> str:
    """Say in words which layers share parameters."""
    attention, ffn = (len({*blocks}) for blocks in zip(*plan, strict=True))
    layers = len(plan)
    if attention == ffn == layers:
        return say.inside.unshared.format(layers=layers)
    if attention == ffn == 1:
        return say.inside.shared.format(layers=layers)
    if attention == ffn:
        return say.inside.shared_groups.format(layers=layers, groups=ffn)
    return say.inside.shared_partly.format(layers=layers, attention=attention, ffn=ffn)


def _lines(moved: Sequence[Moved], values: str) -> list[LayerLine]:
    return [
        LayerLine(
            name=one.name,
            values=getattr(one.movement, values).tolist(),
            colour=number % _COLOURS,
            is_chosen=one.is_chosen,
            is_dashed=one.is_untied,
        )
        for number, one in enumerate(moved)
    ]


def _key(say: Language, number: int, one: Moved) -> str:
    about = sharing_of(say, one.plan) if one.is_trained else say.inside.untrained
    kind = f"za-key za-l{number % _COLOURS}"
    kind += " za-dashed" if one.is_untied else ""
    kind += " za-chosen" if one.is_chosen else ""
    return (
        f'<li class="{kind}"><i class="za-stroke"></i><span>{plain(one.name)}</span>'
        f"{element(about, 'span', 'za-raw')}</li>"
    )


def _numbers(say: Language, moved: Sequence[Moved]) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in say.inside.columns)
    rows = []
    for one in moved:
        parts = (one.movement.distances, one.movement.degrees, one.movement.cosines)
        for layer, (distance, degrees, cosine) in enumerate(zip(*parts, strict=True), start=1):
            cells = (plain(one.name), layer, f"{distance:.2f}", f"{degrees:.1f}°", f"{cosine:.3f}")
            rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return (
        f'<details class="za-numbers"><summary>{escape(say.inside.numbers)}</summary>'
        f'<div class="za-scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )
