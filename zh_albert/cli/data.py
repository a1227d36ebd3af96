"""Command ``convert-data``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def convert_data(
    source: Annotated[
        Path,
        typer.Argument(help="A task file, table, or export of doccano, Label Studio, brat, CoNLL."),
    ],
    out: Annotated[Path, typer.Argument(help="File to write.")],
    to: Annotated[
        Literal["zh_albert", "doccano", "label-studio"],
        typer.Option(help="zh_albert: a task file, JSON Lines; else what the tool imports."),
    ] = "zh_albert",
) -> None:
    """Convert labelled data between task files and annotation tools.

    A note says what is left out. finetune and evaluate read all these forms as they are; this
    command writes them in one form. With --to, answers of predict become pre-annotations to
    correct.

    Example: zh-albert convert-data project.json train.jsonl;
    zh-albert predict ner texts.txt --out found.jsonl
    && zh-albert convert-data found.jsonl tasks.json --to label-studio
    """
    from zh_albert.cli.progress import echo
    from zh_albert.errors import DataError
    from zh_albert.files.plain_files import refuse_same
    from zh_albert.files.textio import atomic_write, encode_json
    from zh_albert.tables.preannotations import for_tool, refuse_no_offsets
    from zh_albert.tables.task_rows import read_task_rows

    refuse_same(out, source)
    count = 0
    with atomic_write(out) as file:
        file.write(b"[\n" * (to == "label-studio"))
        for number, row in read_task_rows(source):
            refuse_no_offsets(row, source, number)
            written: dict[str, Any] = row
            if to != "zh_albert":
                if not isinstance(row.get("text"), str):
                    raise DataError.at(source, number, f"expected a text, found {row!r:.60}")
                written = for_tool(row, to)
            file.write(b",\n" * (to == "label-studio" and count > 0) + encode_json(written))
            file.write(b"\n" * (to != "label-studio"))
            count += 1
        file.write(b"\n]\n" * (to == "label-studio"))
    echo(f"{out}: {count:,} rows")
