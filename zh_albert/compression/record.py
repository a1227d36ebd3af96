"""The record of a compression in a model's folder: a section of its card, and a file of figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from zh_albert.checkpoints.store import load_config
from zh_albert.compression.recipe import Recipe
from zh_albert.configio import write_toml
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write, results_json

RESULT = "compression.json"
"""File in a compressed model's folder: recipe, source, before and after."""
LENGTH = 32
"""Tokens of the text that operations are counted for."""
Figures = Mapping[str, float]


def card_section(recipe: Recipe, source: Path, before: Figures, after: Figures) -> str:
    """Return what a card says of a compression: recipe, source, figures, settings."""
    data = load_config(source)[1].get("trained_on")
    origin = f"{source.name}{f' (trained on: {data})' if data else ''}"
    rows = "\n".join(
        f"| {name} | {written(before[name])} | {written(after[name])} |"
        for name in after
        if name in before
    )
    return (
        f"\n## Compression\n\n{recipe.title} ({recipe.source}), recipe `{recipe.name}`, from "
        f"{origin}.{' ' + recipe.shared if recipe.shared else ''}\n\n"
        f"| | before | after |\n| --- | --- | --- |\n{rows}\n\n"
        f"```toml\n{write_toml(recipe).strip()}\n```\n"
    )


def written(value: float) -> str:
    """Return a figure as people read it.

    >>> written(8509315), written(61.4375), written(0.5)
    ('8,509,315', '61.4375', '0.5000')
    """
    return f"{value:,.0f}" if value > 1 and value == int(value) else f"{value:.4f}"


def write_record(
    folder: Path, recipe: Recipe, source: Path, before: Figures, after: Figures
) -> None:
    """Write the figures; with them a compression is finished."""
    result = {"recipe": recipe.name, "of": source.name, "before": before, "after": after}
    with atomic_write(folder / RESULT) as file:
        file.write((results_json(result, indent=2) + "\n").encode())


def read_record(folder: Path) -> tuple[Figures, Figures] | None:
    """Return the figures before and after of a compression that is finished; else None.

    Raises:
        ConfigError: If the file is damaged.
    """
    path = folder / RESULT
    if not path.is_file() or not (folder / "config.json").is_file():
        return None
    try:
        content = json.loads(path.read_text("utf-8"))
        return content["before"], content["after"]
    except (ValueError, KeyError, TypeError):
        raise ConfigError(
            f"{path}: damaged; delete it, and the last stage is written again"
        ) from None
