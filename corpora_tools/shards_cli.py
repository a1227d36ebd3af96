"""``zh-corpora build`` and ``zh-corpora audit``."""
# ruff: noqa: PLC0415  (commands load numpy and the tokenizer only when they run)

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from corpora_tools.commands import Where, Workers


def build(
    corpus: Annotated[
        list[str],
        typer.Option(help="Documents: a file, a folder, or a pattern in quotes; can be repeated."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of shards to make.")],
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="A model folder with its vocabulary; the library's own if not given."),
    ] = None,
    without_source: Annotated[
        list[str] | None,
        typer.Option(
            help='Leave out documents with this "source", or with one of those that stand, one a '
            "line, in @FILE; can be repeated."
        ),
    ] = None,
    executor: Where = "local",
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tokenize documents into shards for pretraining.

    Starts of words and sentences are stored with the tokens. The same inputs give the same bytes
    for any number of workers. Run again after a kill, it goes on where it was.

    Example: zh-corpora build --corpus 'corpus/corpus-*.jsonl.xz' --out shards
    """
    from rich.console import Console
    from rich.progress import Progress

    from corpora_tools.build import build_shards, describe, find_inputs
    from corpora_tools.build_parts import BuildConfig

    began = time.monotonic()
    inputs = find_inputs(corpus)
    left_out = _sources(without_source or [])
    config = BuildConfig(tokenizer=tokenizer, without_sources=left_out)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("building", total=None)
        manifest = build_shards(
            inputs,
            out,
            config,
            executor=executor,
            workers=workers,
            report=lambda done, total: progress.update(bar, completed=done, total=total),
        )
    result = {**describe(manifest, out), "seconds": round(time.monotonic() - began, 1)}
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False))
        return
    typer.echo(
        f"{out}: {result['documents']:,} documents, {result['characters']:,} characters, "
        f"{result['tokens']:,} tokens in {result['parts']} parts; "
        f"{result['bytes_per_character']} bytes a character, unknown {result['unknown_rate']:.4%}, "
        f"words by {result['segmenter']}; {result['seconds']} s"
    )


def audit(
    shards: Annotated[Path, typer.Argument(help="A folder made by `zh-corpora build`.")],
    length: Annotated[int, typer.Option(min=8, help="Tokens of a full instance.")] = 128,
    rate: Annotated[float, typer.Option(help="Share of tokens masked.")] = 0.15,
    seed: Annotated[int, typer.Option(min=0, help="Of the training run.")] = 1,
    epoch: Annotated[int, typer.Option(min=0, help="Of the training run.")] = 0,
    instances: Annotated[int, typer.Option(min=1, help="How many to draw.")] = 20_000,
    examples: Annotated[int, typer.Option(min=0, help="How many to show.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with plots.")] = None,
) -> None:
    """Prove what shards give a model.

    Draws instances as training does, and measures them. Ends with exit code 1 if a check fails.

    Example: zh-corpora audit shards --html audit.html
    """
    from corpora_tools.audit import audit_shards
    from corpora_tools.audit_page import audit_page, audit_text
    from zh_albert.pretraining.instances import InstanceConfig
    from zh_albert.pretraining.masking import MaskingConfig
    from zh_albert.textio import atomic_write

    config = InstanceConfig(length=length, masking=MaskingConfig(rate=rate), seed=seed)
    result = audit_shards(shards, config, instances=instances, epoch=epoch, examples=examples)
    if html is not None:
        with atomic_write(html) as file:
            file.write(audit_page(result).encode())
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else audit_text(result))
    if not result["passed"]:
        raise typer.Exit(1)


def _sources(given: list[str]) -> tuple[str, ...]:
    """Replace each @FILE by its lines."""
    from zh_albert.textio import read_lines

    names = []
    for name in given:
        if name.startswith("@"):
            names += [line for _, line in read_lines(Path(name[1:])) if line]
        else:
            names.append(name)
    return tuple(names)
