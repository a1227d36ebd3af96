"""Commands ``predict`` and ``demo``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer


def predict(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="One text per line (pairs: two, with a tab), JSON Lines or CSV."),
    ] = None,
    form: Annotated[
        Literal["auto", "text", "jsonl", "csv"],
        typer.Option("--format", help="auto: JSON Lines or CSV according to the file name."),
    ] = "auto",
    top_k: Annotated[
        int | None,
        typer.Option(min=1, help='For readers: number of answers per question, in "answers".'),
    ] = None,
) -> None:
    """Answer every line of a file; one JSON object per line, in order.

    A line is a text (for pairs: two texts separated by a tab; likewise a question and its context),
    or in JSON Lines {"text"}, {"text_a", "text_b"} or {"question", "context"}; CSV has columns of
    these names.

    A classifier gives {"label", "score", "scores"}, a multi-label one {"labels", "scores"}, a
    regression model {"value"}; a multiple-choice model {"index", "text", "score", "scores"};
    sentence vectors {"vector"}; a tagger {"entities": [{"start", "end", "type", "text", "score"}]},
    an empty list if there are none; a reader {"start", "end", "text", "score"}, with an empty text
    if the context has no answer (with --top-k also "answers", best first); an encoder fills every
    [MASK] of the line: {"spots": [{"start", "end", "candidates"}]}. A line that cannot be answered
    (an empty text, no [MASK]) has the reason under "error"; the others are still answered.

    Example: zh-albert predict sentiment reviews.txt > labels.jsonl
    """
    from zh_albert.cli.memory import keep_freed_memory, keep_loaded_objects
    from zh_albert.cli.progress import echo, track
    from zh_albert.errors import DataError
    from zh_albert.inference.files import answered_rows, form_of
    from zh_albert.inference.loading import load
    from zh_albert.textio import bounded_lines, csv_rows, decode_line, encode_json, read_lines

    if file == Path("-"):
        file = None
    source: Path | str = file or "standard input"
    if file is None and sys.stdin is None:  # closed, by: predict MODEL <&-
        raise DataError("standard input is closed; give a file, or pipe texts in")
    keep_freed_memory()
    predictor = load(model)
    keep_loaded_objects()
    if form == "auto":
        form = form_of(file) if file else "text"
    is_csv = form == "csv"
    total = None
    if file and file.is_file():
        there = csv_rows(read_lines(file, keep_ends=True), file) if is_csv else read_lines(file)
        total = sum(1 for _ in there)
    lines = (
        read_lines(file, keep_ends=is_csv, pipes=True)
        if file
        else (
            (number, decode_line(raw, number, source, keep_end=is_csv))
            for number, raw in enumerate(bounded_lines(sys.stdin.buffer), start=1)
        )
    )
    failed = 0
    rows = answered_rows(predictor, lines, source, form, top_k=top_k)
    for row in track(rows, total=total, what="texts"):
        failed += "error" in row
        sys.stdout.buffer.write(encode_json(row) + b"\n")  # UTF-8 on any terminal
    sys.stdout.flush()
    if failed:
        echo(f'lines not answered: {failed}; the reason is under "error" in their results')


def demo(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Further models to show: folders or hub ids."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7860,
) -> None:
    """Open the demo page on 127.0.0.1.

    Example: zh-albert demo runs/mine --port 7861
    """
    import importlib

    # The page is a layer above the library, which must not import it directly.
    importlib.import_module("apps.gradio_demo").serve(port=port, more=models or [])
