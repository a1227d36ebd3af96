"""Commands ``predict`` and ``demo``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from zh_albert.cli.options import Sheet, TextColumn


def predict(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            help="One text per line (pairs: two, with a tab), JSON Lines, CSV, TSV or .xlsx; "
            "left out or -: standard input."
        ),
    ] = None,
    form: Annotated[
        Literal["auto", "text", "jsonl", "csv"],
        typer.Option("--format", help="auto: by the file name."),
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            help="A .csv, .xlsx or .jsonl file to write: the input's rows with answers; of vectors "
            "an .npy or .jsonl file."
        ),
    ] = None,
    text_column: TextColumn = None,
    sheet: Sheet = None,
    top_k: Annotated[
        int | None,
        typer.Option(min=1, help='For readers: number of answers per question, in "answers".'),
    ] = None,
) -> None:
    """Answer every line of a file: a JSON object each, in order.

    A line is a text (for pairs: two texts separated by a tab; likewise a question and its context),
    or in JSON Lines {"text"}, {"text_a", "text_b"} or {"question", "context"}; a table has columns
    of these names, or of others that say the same (文本, 评论, 问题, review …), or --text-column.

    A classifier gives {"label", "score", "scores"}, a multi-label one {"labels", "scores"}, a
    regression model {"value"}; a multiple-choice model {"index", "text", "score", "scores"};
    sentence vectors {"vector"} (with --out vectors.npy an array for numpy.load); a tagger
    {"entities": [{"start", "end", "type", "text", "score"}]}, an empty list if there are none; a
    word segmenter {"words", "spans"}; a reader {"start", "end", "text", "score"}, with an empty
    text if the context has no answer (with --top-k also "answers", best first); an encoder fills
    every [MASK] of the line: {"spots": [{"start", "end", "candidates"}]}. A line that cannot be
    answered (an empty text, no [MASK]) has the reason under "error"; the others are still answered.

    Example: zh-albert predict sentiment reviews.txt > labels.jsonl;
    zh-albert predict sentiment reviews.xlsx --out labelled.xlsx
    """
    from zh_albert.cli.memory import keep_freed_memory, keep_loaded_objects
    from zh_albert.cli.progress import echo, track
    from zh_albert.errors import DataError
    from zh_albert.files.plain_files import refuse_same
    from zh_albert.files.textio import encode_json, numbered_lines
    from zh_albert.inference.answered_tables import answered_table
    from zh_albert.inference.files import (
        Survey,
        answered_rows,
        file_rows,
        form_for,
        rows_of_lines,
        survey,
    )
    from zh_albert.inference.loading import load
    from zh_albert.tables.workbook import refuse_sheet

    if file == Path("-"):
        file = None
    source: Path | str = file or "standard input"
    if file is None and sys.stdin is None:  # closed, by: predict MODEL <&-
        raise DataError("standard input is closed; give a file, or pipe texts in")
    if file and out:
        refuse_same(out, file)
    keep_freed_memory()
    predictor = load(model)
    keep_loaded_objects()
    chosen = {"text": text_column} if text_column else {}
    read_as = form_for(predictor, file, chosen.values()) if form == "auto" else form
    refuse_sheet(sheet, [file] if file else [])
    if text_column and read_as == "text":
        problem = f"a column {text_column!r} was named, but this file has a text in each line"
        raise DataError(f"{source}: {problem}; add --format csv or jsonl, or leave it out")
    known = Survey(None, [])
    if file and file.is_file():
        known = survey(file, read_as, chosen=chosen, sheet=sheet)
    if file:
        rows = file_rows(file, read_as, chosen=chosen, sheet=sheet)
    else:
        lines = numbered_lines(sys.stdin.buffer, source, keep_ends=read_as == "csv")
        rows = rows_of_lines(lines, source, read_as, chosen=chosen)
    failed = 0
    answers = answered_rows(predictor, rows, source, top_k=top_k)
    names, kinds = predictor.metadata.get("label_zh"), predictor.written_as
    written = answered_table(out, names, columns=known.columns, kinds=kinds) if out else None
    with written or nullcontext() as table:
        for row, answer in track(answers, total=known.rows, what="texts"):
            failed += "error" in answer
            if table:
                table.write(row, answer)
            else:
                sys.stdout.buffer.write(encode_json(answer) + b"\n")  # UTF-8 on any terminal
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
