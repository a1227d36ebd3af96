"""Commands ``clean``, ``dedup`` and ``predict`` of ``zh-corpora``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders or patterns in quotes: .jsonl, .txt, .csv, .tsv, .xlsx, .parquet, "
        ".md, MediaWiki .xml; compressed too."
    ),
]
Out = Annotated[Path, typer.Argument(help="Folder for the shards; a stopped job continues.")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks at once; by default one per core, or all on a cluster."),
]
Where = Annotated[
    Literal["local", "ray", "slurm"],
    typer.Option("--executor", help="Where tasks run; ray and slurm need a shared disk."),
]
Format = Annotated[
    Literal["zst", "xz"], typer.Option("--format", help="Compression of the shards.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def clean(
    inputs: Inputs,
    out: Out,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Evaluation files (pattern in quotes) whose texts are excluded."),
    ] = None,
    simplify: Annotated[
        Literal["never", "auto", "always"],
        typer.Option(help="Convert traditional to simplified; auto: decided per document."),
    ] = "never",
    min_paragraph: Annotated[
        int, typer.Option(min=0, help="Minimum of Chinese characters in a paragraph.")
    ] = 10,
    min_document: Annotated[
        int, typer.Option(min=0, help="Minimum of Chinese characters in a document.")
    ] = 40,
    min_chinese: Annotated[
        float, typer.Option(min=0, max=1, help="Minimum fraction of them in a paragraph.")
    ] = 0.6,
    keep_personal: Annotated[
        bool, typer.Option(help="Keep paragraphs with personal data.")
    ] = False,
    phrases: Annotated[
        Path | None, typer.Option(help="Further boilerplate phrases, one per line.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Source of all documents.")] = None,
    domain: Annotated[str, typer.Option(help="Domain of documents without one.")] = "other",
    shard_format: Format = "zst",
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Extract Chinese prose from raw text.

    Text is normalized; paragraphs and documents are kept, or dropped for a reason that is counted.
    Writes JSON Lines shards with id, source, domain and text, and statistics.json. A stopped job
    continues when it is started again; the output is the same for any number of workers.

    Example: zh-corpora clean 'raw/*.jsonl.xz' corpus --exclude 'tasks/*/dev.jsonl*'
    """
    from corpora_tools import pipeline
    from corpora_tools.cleaning import CleaningConfig, read_phrases
    from corpora_tools.folders import find_inputs
    from corpora_tools.normalization import check_simplify
    from corpora_tools.statistics import as_text
    from zh_albert.files.textio import read_lines

    more = [line for _, line in read_lines(phrases)] if phrases else []
    config = CleaningConfig(
        min_paragraph=min_paragraph,
        min_document=min_document,
        min_chinese=min_chinese,
        personal=not keep_personal,
        boilerplate=read_phrases(more),
        simplify=check_simplify(simplify),
    )
    evaluation = [one.path for pattern in exclude or () for one in find_inputs([pattern])]
    _run(
        lambda report: pipeline.clean(
            find_inputs(inputs, out),
            out,
            config,
            exclude=evaluation,
            shard_format=shard_format,
            source=source,
            domain=domain,
            executor=executor,
            workers=workers,
            report=report,
        ),
        out,
        as_json,
        as_text,
    )


def dedup(
    inputs: Inputs,
    out: Out,
    near: Annotated[bool, typer.Option(help="Also drop near duplicates, by MinHash.")] = True,
    ngram: Annotated[int, typer.Option(min=1, help="Characters per n-gram, for MinHash.")] = 5,
    buckets: Annotated[int, typer.Option(min=1, help="More: lower similarity threshold.")] = 14,
    hashes: Annotated[int, typer.Option(min=1, help="Per bucket; more: higher threshold.")] = 8,
    shard_format: Format = "zst",
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Keep one of several equal documents, and of nearly equal ones.

    Documents are equal if they have the same letters and characters: punctuation, spaces, case and
    digits are ignored.

    Example: zh-corpora dedup corpus corpus-once --workers 2
    """
    from corpora_tools import pipeline
    from corpora_tools.folders import find_inputs
    from corpora_tools.statistics import as_text

    minhash = pipeline.MinHashSettings(ngram=ngram, buckets=buckets, hashes=hashes)
    _run(
        lambda report: pipeline.dedup(
            find_inputs(inputs, out),
            out,
            minhash if near else None,
            shard_format=shard_format,
            executor=executor,
            workers=workers,
            report=report,
        ),
        out,
        as_json,
        as_text,
    )


def predict(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    inputs: Annotated[
        list[str],
        typer.Argument(help="Files, folders or patterns in quotes: .jsonl, .csv, .txt."),
    ],
    out: Annotated[Path, typer.Argument(help="Folder for the answers; a stopped job continues.")],
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Answer every line of many files, on one machine or on many.

    For each input NAME it writes NAME.answers.jsonl, as zh-albert predict prints it. A file is a
    task: split a large one first, for example with split -l. A stopped job continues with the
    remaining files when it is started again.

    Example: zh-corpora predict sentiment 'reviews/*.jsonl.xz' answers --workers 2
    """
    from corpora_tools import prediction
    from corpora_tools.folders import find_inputs
    from corpora_tools.statistics import answers_as_text

    _run(
        lambda report: prediction.predict(
            model, find_inputs(inputs, out), out, executor=executor, workers=workers, report=report
        ),
        out,
        as_json,
        answers_as_text,
    )


def _run(
    job: Callable[[Callable[[str, int, int], None]], dict[str, Any]],
    out: Path,
    as_json: bool,
    shown: Callable[[Mapping[str, Any]], str],
) -> None:
    from zh_albert.cli.progress import Display

    began = time.monotonic()
    try:
        with Display() as display:
            statistics = job(display.show)
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command to continue", err=True)
        sys.exit(130)  # not typer.Exit, which would print a second message
    seconds = round(time.monotonic() - began, 1)
    result = {"out": str(out), **statistics, "seconds": seconds}
    text = json.dumps(result, ensure_ascii=False) if as_json else shown(statistics)
    typer.echo(text if as_json else f"{text}\n{out}, {seconds} s")
