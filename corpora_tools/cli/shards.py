"""Commands ``build`` and ``audit`` of ``zh-corpora``."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from corpora_tools.cli.text import Where, Workers


def build(
    corpus: Annotated[
        list[str],
        typer.Option(help="Documents: a file, a folder, or a pattern in quotes; can be repeated."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of shards to write.")],
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="A model folder with a vocabulary; by default the library's own."),
    ] = None,
    without_source: Annotated[
        list[str] | None,
        typer.Option(
            help='Leave out documents with this "source", or with those in @FILE, one per line; '
            "can be repeated."
        ),
    ] = None,
    executor: Where = "local",
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tokenize documents into shards for pretraining.

    Starts of words and sentences are stored with the tokens. The same inputs give the same bytes
    for any number of workers. A killed build continues when it is started again.

    Example: zh-corpora build --corpus 'corpus/corpus-*.jsonl.xz' --out shards
    """
    from corpora_tools.build import build_shards, describe, find_files
    from corpora_tools.build_parts import BuildConfig
    from zh_albert.cli.progress import Display

    began = time.monotonic()
    inputs = find_files(corpus)
    left_out = _sources(without_source or [])
    config = BuildConfig(tokenizer=tokenizer, without_sources=left_out)
    with Display() as display:
        manifest = build_shards(
            inputs,
            out,
            config,
            executor=executor,
            workers=workers,
            report=partial(display.show, "parts"),
        )
    result = {**describe(manifest, out), "seconds": round(time.monotonic() - began, 1)}
    known = [part["left_out"] for part in manifest["parts"] if "left_out" in part]
    for source in left_out if known else ():
        if not any(source in sources for sources in known):
            typer.echo(f"no document has the source {source!r} (--without-source)", err=True)
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
    length: Annotated[int, typer.Option(min=16, help="Tokens of a full instance.")] = 128,
    rate: Annotated[float, typer.Option(help="Fraction of masked tokens.")] = 0.15,
    seed: Annotated[int, typer.Option(min=0, help="Of the training run.")] = 1,
    epoch: Annotated[int, typer.Option(min=0, help="Of the training run.")] = 0,
    instances: Annotated[int, typer.Option(min=1, help="How many to draw.")] = 20_000,
    examples: Annotated[int, typer.Option(min=0, help="How many to show.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with plots.")] = None,
) -> None:
    """Verify the training instances of shards.

    Draws instances as training does, and measures them. Exit code 1 if a check fails.

    Example: zh-corpora audit shards --html audit.html
    """
    from corpora_tools.audit import audit_shards
    from corpora_tools.audit_page import audit_page, audit_text
    from zh_albert.files.textio import atomic_write
    from zh_albert.pretraining.instances import PAIR_SPECIALS, InstanceConfig
    from zh_albert.pretraining.masking import MaskingConfig

    shortest = min(InstanceConfig.min_tokens, length - PAIR_SPECIALS)
    config = InstanceConfig(
        length=length, min_tokens=shortest, masking=MaskingConfig(rate=rate), seed=seed
    )
    result = audit_shards(shards, config, instances=instances, epoch=epoch, examples=examples)
    if html is not None:
        with atomic_write(html) as file:
            file.write(audit_page(result).encode())
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else audit_text(result))
    if not result["passed"]:
        raise typer.Exit(1)


def _sources(given: list[str]) -> tuple[str, ...]:
    """Replace each @FILE by its lines."""
    from zh_albert.files.textio import read_lines

    names = []
    for name in given:
        if name.startswith("@"):
            names += [line for _, line in read_lines(Path(name[1:])) if line]
        else:
            names.append(name)
    return tuple(names)
