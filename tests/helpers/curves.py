"""Records of an encoder's training, made up."""

from __future__ import annotations

import json
from pathlib import Path


def write_curve(folder: Path, *rows: object) -> Path:
    """Write a record of these lines, objects or text, and return its folder."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "curve.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def curve_row(update: int, **changes: object) -> dict[str, object]:
    """Return one evaluation."""
    scores = {"masked_loss": 4.0, "masked_accuracy": 0.3, "order_accuracy": 0.7}
    return {"update": update, "tokens": 2048 * update, **scores, "seconds": 3.1, **changes}
