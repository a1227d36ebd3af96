"""Command ``vocab`` of ``zh-corpora``."""

from __future__ import annotations

import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from zh_albert.errors import ConfigError, DataError


def vocab(
    corpus: Annotated[
        list[str], typer.Option(help="JSON Lines files: a file, a folder, or a pattern in quotes.")
    ],
    out: Annotated[
        Path, typer.Option(help="The vocab.txt to write; tokenizer_config.json goes beside it.")
    ],
    heldout: Annotated[
        Path | None, typer.Option(help="JSON Lines file to measure coverage on.")
    ] = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="Minimum count of a character outside GB 2312.")
    ] = 20,
    latin_pieces: Annotated[int, typer.Option(min=52, help="Pieces of Latin words.")] = 1_200,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Files read at once; by default one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a WordPiece vocabulary from a corpus.

    Its coverage is measured on --heldout. Each line of a file is an object with a "text"; .xz, .gz,
    .bz2 and .zst are supported.

    Example: zh-corpora vocab --corpus 'corpus/corpus-*.jsonl.xz' --heldout corpus/heldout.jsonl.xz
    --out vocab.txt
    """
    from corpora_tools.build import find_files
    from corpora_tools.counting import count_shards
    from corpora_tools.vocab import build_rows
    from zh_albert.cli.progress import Display
    from zh_albert.files.textio import atomic_write
    from zh_albert.tokenization.settings import CONFIG_NAME
    from zh_albert.tokenization.vocab import Vocabulary
    from zh_albert.tokenization.wordpiece import WordPieceTokenizer

    if (model := out.with_name("config.json")).exists():
        raise ConfigError(
            f"{out}: a model is there ({model.name}), which reads another vocabulary; choose a "
            "folder without one"
        )
    began = time.monotonic()
    left_out = heldout.resolve() if heldout else None
    shards = [path for path in find_files(corpus) if path.resolve() != left_out]
    with Display() as display:
        processes = min(processes or os.cpu_count() or 1, len(shards))
        counts = count_shards(shards, processes=processes, report=partial(display.show, "files"))
    if not counts.texts:
        raise DataError(f"--corpus {' '.join(corpus)}: expected texts, found none in the files")
    rows = build_rows(counts, min_count=min_count, latin_pieces=latin_pieces)
    vocabulary = Vocabulary(row for chosen in rows.values() for row in chosen)
    # As the counts were made: without its settings, a full-width letter would be unknown.
    tokenizer = WordPieceTokenizer(vocabulary, fold_width=True)
    files = {**tokenizer.save_files(), out.name: vocabulary.to_bytes()}
    for name in (CONFIG_NAME, out.name):
        with atomic_write(out.with_name(name)) as file:
            file.write(files[name])
    result: dict[str, Any] = {
        "out": str(out),
        "tokens": len(vocabulary),
        "rows": {name: len(chosen) for name, chosen in rows.items()},
        "texts": counts.texts,
    }
    if heldout is not None:
        result["heldout"] = _coverage_report(tokenizer, heldout)
    result["seconds"] = round(time.monotonic() - began, 1)
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else _as_text(result))


def _coverage_report(tokenizer: Any, path: Path) -> dict[str, Any]:
    """Measure coverage of a held-out file, in total and by its ``domain`` field."""
    from corpora_tools.counting import read_rows
    from corpora_tools.vocab import Coverage, measure_coverage

    domains: dict[str, Coverage] = {}
    for row in read_rows(path):
        domain = str(row.get("domain", "all"))
        measured = measure_coverage(tokenizer, [row["text"]])
        domains[domain] = domains.get(domain, Coverage()) + measured
    total = sum(domains.values(), Coverage())
    return {
        "characters": total.characters,
        "coverage": round(total.share, 6),
        "dropped": total.dropped,
        "unknown_rate_by_domain": {
            name: round(1 - one.share, 6) for name, one in sorted(domains.items())
        },
    }


def _as_text(result: dict[str, Any]) -> str:
    rows = ", ".join(f"{count} {name}" for name, count in result["rows"].items())
    lines = [f"{result['out']}: {result['tokens']} tokens ({rows}) from {result['texts']} texts"]
    if "heldout" in result:
        heldout = result["heldout"]
        lines.append(f"coverage {heldout['coverage']:.4%} of {heldout['characters']} characters")
        for name, rate in heldout["unknown_rate_by_domain"].items():
            lines.append(f"  unknown in {name}: {rate:.4%}")
    return "\n".join(lines)
