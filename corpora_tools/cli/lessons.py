"""Command ``lessons`` of ``zh-corpora``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Literal

import typer


def lessons(
    task: Annotated[
        Literal["similarity", "nli"],
        typer.Argument(help="Labels: scores from 0 to 5, or entailment/neutral/contradiction."),
    ],
    corpus: Annotated[
        list[str], typer.Argument(help="Files, folders or patterns in quotes, as for clean.")
    ],
    out: Annotated[Path, typer.Option(help="JSON Lines file to write.")],
    count: Annotated[int, typer.Option("--lessons", min=1, help="Lessons to write.")] = 40_000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same lessons.")] = 1,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Task files (pattern in quotes) whose texts are left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make lessons about pairs of sentences by rule.

    In half of them order, negation, quantity or an opposite changes the meaning; the others are
    changed as much, but say the same. Sentences come from the corpus and from a
    grammar of our own.

    Example: zh-corpora lessons nli 'corpus/*.jsonl.xz' --out lessons.jsonl --exclude
    'tasks/*/dev.jsonl*'
    """
    from corpora_tools.folders import find_inputs
    from corpora_tools.lessons.build import write_lessons

    began = time.monotonic()
    result = write_lessons(
        task,
        [one.path for one in find_inputs(corpus)],
        out,
        lessons=count,
        seed=seed,
        exclude=[one.path for pattern in exclude or () for one in find_inputs([pattern])],
    )
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        typer.echo(json.dumps({"out": str(out), **result, "seconds": seconds}, ensure_ascii=False))
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    typer.echo(f"{out}: {result['lessons']} lessons, {seconds} s\n{kinds}")
