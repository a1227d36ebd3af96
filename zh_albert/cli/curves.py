"""Command ``curves``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zh_albert.cli.options import Json
from zh_albert.files.textio import results_json


def curves(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Folders of runs, or LABEL=FOLDER; one colour per label."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Picture to write, .svg or .png.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Draw only this, e.g. masked_accuracy; repeatable.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a run's loss and scores over the tokens it read.

    Several runs are drawn together. Needs the extra "plots".

    Example: zh-albert curves random=runs/r1 random=runs/r2 statistics=runs/s1 --out starts.svg
    """
    from zh_albert.training.curves import common_unit, last_means, read_run
    from zh_albert.training.curves_picture import draw_curves, write_picture

    read = []
    for run in runs:
        label, equals, folder = run.partition("=")
        named = bool(equals) and not Path(run).exists()
        read.append(read_run(Path(folder), label) if named else read_run(Path(run)))
    write_picture(draw_curves(read, metric or ()), out)
    last = last_means(read)
    if as_json:
        result = {"picture": str(out), "unit": common_unit(read), "last": last}
        typer.echo(results_json(result))
        return
    for label, values in last.items():
        scores = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        typer.echo(f"{label}: {scores}")
    typer.echo(str(out))
