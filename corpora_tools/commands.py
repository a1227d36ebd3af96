"""``zh-corpora clean``, ``dedup`` and ``predict``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders or patterns in quotes: .jsonl, .txt, .parquet, .md, MediaWiki .xml; "
        "compressed too."
    ),
]
Out = Annotated[Path, typer.Argument(help="Folder for the shards; the same job goes on in it.")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Tasks at once; if not given all cores, or all tasks on a cluster."),
]
Where = Annotated[
    Literal["local", "ray", "slurm"],
    typer.Option("--executor", help="What runs the tasks; ray and slurm need a shared disk."),
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
        typer.Option(help="Evaluation files (pattern in quotes) whose texts must stay out."),
    ] = None,
    simplify: Annotated[
        Literal["never", "auto", "always"],
        typer.Option(help="Traditional → simplified; auto: by document."),
    ] = "never",
    min_paragraph: Annotated[
        int, typer.Option(min=0, help="Chinese characters a paragraph needs.")
    ] = 10,
    min_document: Annotated[
        int, typer.Option(min=0, help="Chinese characters a document needs.")
    ] = 40,
    min_chinese: Annotated[
        float, typer.Option(min=0, max=1, help="Share of Chinese characters a paragraph needs.")
    ] = 0.6,
    keep_personal: Annotated[
        bool, typer.Option(help="Keep paragraphs with personal data.")
    ] = False,
    phrases: Annotated[
        Path | None, typer.Option(help="More boilerplate phrases, one a line.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Source of all documents.")] = None,
    domain: Annotated[str, typer.Option(help="Domain of documents that name none.")] = "other",
    shard_format: Format = "zst",
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Keep what is Chinese prose of raw text.

    Text is normalised; paragraphs and documents are kept, or dropped with a reason that is
    counted. Writes JSON Lines shards with id, source, domain and text, and statistics.json.
    Stopped and started again, it goes on; the output is the same for any number of workers.

    Example: zh-corpora clean 'raw/*.jsonl.xz' corpus --exclude 'tasks/*/dev.jsonl*'
    """
    from corpora_tools import pipeline
    from corpora_tools.cleaning import CleaningConfig, read_phrases
    from corpora_tools.documents import find_inputs
    from corpora_tools.normalization import check_simplify
    from corpora_tools.statistics import as_text
    from zh_albert.textio import read_lines

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
            find_inputs(inputs),
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
    near: Annotated[bool, typer.Option(help="Drop near duplicates too, by MinHash.")] = True,
    ngram: Annotated[int, typer.Option(min=1, help="Characters a stretch, for MinHash.")] = 5,
    buckets: Annotated[int, typer.Option(min=1, help="More: less alike is enough.")] = 14,
    hashes: Annotated[int, typer.Option(min=1, help="Hashes a bucket. More: more alike.")] = 8,
    shard_format: Format = "zst",
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Keep one of equal documents, and of nearly equal ones.

    Equal is what has the same letters: marks, spaces, case and digits do not count.

    Example: zh-corpora dedup corpus corpus-once --workers 2
    """
    from corpora_tools import pipeline
    from corpora_tools.documents import find_inputs
    from corpora_tools.statistics import as_text

    minhash = pipeline.MinHashSettings(ngram=ngram, buckets=buckets, hashes=hashes)
    _run(
        lambda report: pipeline.dedup(
            find_inputs(inputs),
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
    out: Annotated[Path, typer.Argument(help="Folder for the answers; the job goes on in it.")],
    executor: Where = "local",
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Answer every line of many files, on this machine or on many.

    For each input NAME it writes NAME.answers.jsonl, as zh-albert predict prints it. A file is a
    task: split a large one first, for example with split -l. Stopped and started again, it goes
    on with the files that are not done.

    Example: zh-corpora predict sentiment 'reviews/*.jsonl.xz' answers --workers 2
    """
    from corpora_tools import prediction
    from corpora_tools.documents import find_inputs
    from corpora_tools.statistics import answers_as_text

    _run(
        lambda report: prediction.predict(
            model, find_inputs(inputs), out, executor=executor, workers=workers, report=report
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
    began = time.monotonic()
    try:
        with _progress() as report:
            statistics = job(report)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on from here", err=True)
        sys.exit(130)  # not typer.Exit: what is said is said
    seconds = round(time.monotonic() - began, 1)
    result = {"out": str(out), **statistics, "seconds": seconds}
    text = json.dumps(result, ensure_ascii=False) if as_json else shown(statistics)
    typer.echo(text if as_json else f"{text}\n{out}, {seconds} s")


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bars: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(stage, total=total)
            progress.update(bars[stage], completed=done)

        yield report
