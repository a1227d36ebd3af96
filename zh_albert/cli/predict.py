"""``predict`` and ``demo``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def predict(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="One text a line (of a pair: two, with a tab), JSON Lines or CSV."),
    ] = None,
    form: Annotated[
        Literal["auto", "text", "jsonl", "csv"],
        typer.Option("--format", help="auto: JSON Lines or CSV if the file is named so."),
    ] = "auto",
) -> None:
    """Answer every line of a file; one JSON object a line, in order.

    A line is a text (of a pair: two, with a tab between; so, too, a question and its context), or
    in JSON Lines {"text"}, {"text_a", "text_b"} or {"question", "context"}; CSV has columns of
    these names.

    A classifier gives {"label", "score", "scores"}, a multi-label one {"labels", "scores"}, a
    regression model {"value"}; a multiple-choice model {"index", "text", "score", "scores"};
    sentence vectors {"vector"}; a tagger {"entities": [{"start", "end", "type", "text",
    "score"}]}, the list empty where there are none; a reader {"start", "end", "text", "score"}, the
    text empty where the context gives no answer; an encoder fills every [MASK] of the line:
    {"spots": [{"start", "end", "candidates"}]}. A line that cannot be answered (no text to
    classify, no [MASK]) says so under "error" and does not stop the rest.

    Example: zh-albert predict sentiment reviews.txt > labels.jsonl
    """
    from zh_albert.cli.memory import keep_freed_memory, keep_loaded_objects
    from zh_albert.cli.progress import say, track
    from zh_albert.errors import DataError
    from zh_albert.inference.choosing import Chooser
    from zh_albert.inference.loading import load
    from zh_albert.inference.rows import blank_row, row_of
    from zh_albert.textio import decode_line, encode_json, read_lines

    if file == Path("-"):
        file = None
    source: Path | str = file or "standard input"
    if file is None and sys.stdin is None:  # closed: predict MODEL <&-
        raise DataError("standard input is closed; name a file, or pipe texts in")
    keep_freed_memory()
    predictor: Any = load(model)
    keep_loaded_objects()
    if form == "auto":
        form = _form_of(file)
    if form == "text" and isinstance(predictor, Chooser):
        form = "jsonl"  # there is no other way to write a question
    lines = (
        read_lines(file)
        if file
        else ((n, decode_line(raw, n, source)) for n, raw in enumerate(sys.stdin.buffer, start=1))
    )
    total = _count(file, form) if file and file.is_file() else None
    failed = 0
    texts = _contents(lines, source, predictor, form)
    for number, result in enumerate(
        track(predictor.stream(texts), total=total, what="texts"), start=1
    ):
        if isinstance(result, DataError):
            failed += 1
            place = f"{source}, {'row' if form == 'csv' else 'line'} {number}"
            row = {**blank_row(predictor), "error": f"{place}: {result}"}
        else:
            row = row_of(predictor, result)
        sys.stdout.write(encode_json(row).decode() + "\n")
    sys.stdout.flush()
    if failed:
        say(f'{failed} lines could not be answered; their result says why under "error"')


def demo(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="More models to show: folders or hub ids, beside the bundled ones."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7860,
) -> None:
    """Open the demo page on 127.0.0.1.

    Example: zh-albert demo runs/mine --port 7861
    """
    import importlib

    # The page stands above the library; the command line only knows its name.
    importlib.import_module("apps.gradio_demo").serve(port=port, more=models or [])


def _form_of(file: Path | None) -> Literal["text", "jsonl", "csv"]:
    from zh_albert.textio import is_csv

    if file is None:
        return "text"
    if is_csv(file):
        return "csv"
    return "jsonl" if re.search(r"\.jsonl?(\.(xz|gz|zst))?$", file.name) else "text"


def _count(file: Path, form: str) -> int:
    from zh_albert.textio import csv_rows, read_lines

    lines = read_lines(file)
    return sum(1 for _ in (csv_rows(lines, file) if form == "csv" else lines))


def _contents(
    lines: Iterator[tuple[int, str]], source: Path | str, predictor: Any, form: str
) -> Iterator[Any]:
    """Yield what the predictor reads of each line, or of each row of CSV."""
    from zh_albert.tasks.classification.examples import text_of
    from zh_albert.textio import csv_rows, parse_object

    # Taggers and encoders say neither: they read texts.
    content_of, blank = getattr(predictor, "content_of", text_of), getattr(predictor, "blank", "")
    if form == "csv":
        for number, row in csv_rows(lines, source):
            yield content_of(row, source, number)
        return
    for number, line in lines:
        if not line.strip():  # a blank line gets its row too, in its place
            yield blank
        elif form == "jsonl":
            yield content_of(parse_object(line, number, source), source, number)
        else:
            yield _halves(line, number, source) if blank == ("", "") else line


def _halves(line: str, number: int, source: Path | str) -> tuple[str, str]:
    from zh_albert.errors import DataError

    first, tab, second = line.partition("\t")
    if not tab or "\t" in second:
        problem = f"expected two texts with a tab between, found {line.count(chr(9))} tabs"
        hint = "Or take JSON Lines in a file named .jsonl, or with --format jsonl"
        raise DataError.at(source, number, problem, hint=hint)
    return first, second
