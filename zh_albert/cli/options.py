"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Init = Annotated[
    str, typer.Option(help="Encoder to start from: name, folder, hub id; random: random weights.")
]
TextColumn = Annotated[str | None, typer.Option(help="Column of a table that holds the texts.")]
LabelColumn = Annotated[str | None, typer.Option(help="Column of a table that holds the labels.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, e.g. train.peak_lr=3e-4.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where the run stopped.")]
Exclude = Annotated[
    list[Path] | None,
    typer.Option(help="Drop training texts that also occur in this file; repeatable."),
]
