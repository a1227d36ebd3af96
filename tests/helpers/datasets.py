"""Labelled tables, made up."""

from __future__ import annotations

from pathlib import Path

from apps.tables import Table, open_table
from apps.tabs.finetuning.dataset import Dataset, read_dataset
from apps.tabs.finetuning.strings import CHINESE


def table(folder: Path, content: str) -> Table:
    """Write and open a CSV table."""
    path = folder / "t.csv"
    path.write_text(content, encoding="utf-8")
    return open_table(CHINESE.page.tables, path)


def rows(*labels: str, texts: int = 5) -> str:
    """Return lines of texts with these labels."""
    return "".join(
        f"{label}的第{number}句,{label}\n" for label in labels for number in range(texts)
    )


def dataset(folder: Path, content: str) -> Dataset:
    """Read a table's examples."""
    return read_dataset(CHINESE, table(folder, content), "text", "label")
