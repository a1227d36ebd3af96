"""``predict`` and ``demo``."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def predict(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    file: Annotated[
        Path | None, typer.Argument(help="One text a line, or JSON Lines; default: stdin.")
    ] = None,
    form: Annotated[
        Literal["auto", "text", "jsonl"],
        typer.Option("--format", help="auto: JSON Lines if the file is named so, else text."),
    ] = "auto",
) -> None:
    """Answer every line of a file; one JSON object a line, in order.

    A line is a text, or in JSON Lines {"text"}; for a reader, which wants JSON Lines, {"question",
    "context"}.

    A classifier gives {"label", "score", "scores"}; a tagger {"entities": [{"start", "end", "type",
    "text", "score"}]}, the list empty where there are none; a reader {"start", "end", "text",
    "score"}, the text empty where the context gives no answer; an encoder fills every [MASK] of the
    line: {"spots": [{"start", "end", "candidates"}]}. A line that cannot be answered (no text to
    classify, no [MASK]) says so under "error" and does not stop the rest.

    Example: zh-albert predict sentiment reviews.txt > labels.jsonl
    """
    from zh_albert.cli.progress import say, track
    from zh_albert.errors import DataError
    from zh_albert.inference.fill_mask import FillMask
    from zh_albert.inference.loading import load
    from zh_albert.inference.reading import Reader
    from zh_albert.inference.tagging import Tagger
    from zh_albert.textio import decode_line, read_lines

    if file == Path("-"):
        file = None
    source: Path | str = file or "standard input"
    if file is None and sys.stdin is None:  # closed: predict MODEL <&-
        raise DataError("standard input is closed; name a file, or pipe texts in")
    predictor: Any = load(model)
    fields = {Reader: ("question", "context")}.get(type(predictor), ("text",))
    as_objects = form == "jsonl" or (form == "auto" and file is not None and _is_jsonl(file))
    as_objects = as_objects or len(fields) > 1
    total = sum(1 for _ in read_lines(file)) if file and file.is_file() else None
    lines = (
        read_lines(file)
        if file
        else ((n, decode_line(raw, n, source)) for n, raw in enumerate(sys.stdin.buffer, start=1))
    )
    several = {FillMask: "spots", Tagger: "entities"}.get(type(predictor), "")
    unanswered: dict[str, Any] = {"label": None, "score": None, "scores": {}}
    if several:
        unanswered = {several: []}
    elif isinstance(predictor, Reader):
        unanswered = {"start": None, "end": None, "text": None, "score": None}
    failed = 0
    texts = _texts(lines, source, fields, as_objects=as_objects)
    for number, result in enumerate(
        track(predictor.stream(texts), total=total, what="texts"), start=1
    ):
        if isinstance(result, DataError):
            failed += 1
            row = {**unanswered, "error": f"{source}, line {number}: {result}"}
        elif isinstance(result, list):
            row = {several: [dataclasses.asdict(one) for one in result]}
        else:
            row = dataclasses.asdict(result)
        sys.stdout.write(_json_line(row))
    sys.stdout.flush()
    if failed:
        say(f'{failed} lines could not be answered; their result says why under "error"')


def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7860,
) -> None:
    """Open the demo page on 127.0.0.1.

    Example: zh-albert demo --port 7861
    """
    import importlib

    # The page stands above the library; the command line only knows its name.
    importlib.import_module("apps.gradio_demo").serve(port=port)


def _json_line(row: dict[str, Any]) -> str:
    """Return JSON in UTF-8; half a surrogate pair, which that cannot hold, stays an escape."""
    line = json.dumps(row, ensure_ascii=False) + "\n"
    return line.encode("utf-8", "backslashreplace").decode()


def _is_jsonl(path: Path) -> bool:
    return re.search(r"\.jsonl?(\.(xz|gz|zst))?$", path.name) is not None


def _texts(
    lines: Iterator[tuple[int, str]],
    source: Path | str,
    fields: tuple[str, ...],
    *,
    as_objects: bool,
) -> Iterator[Any]:
    """Yield what each line asks: a string, or of several ``fields`` a tuple of strings."""
    from zh_albert.errors import DataError
    from zh_albert.textio import parse_object

    for number, line in lines:
        if not as_objects:
            yield line
            continue
        # A blank line gets its row too, in its place.
        row = parse_object(line, number, source) if line.strip() else dict.fromkeys(fields, line)
        for name in fields:
            if not isinstance(row.get(name), str):
                problem = f'expected a string in field "{name}", found {row.get(name)!r:.50}'
                form = ", ".join(f'"{field}": …' for field in fields)
                raise DataError.at(source, number, problem, hint=f"Each line is {{{form}}}")
        yield row[fields[0]] if len(fields) == 1 else tuple(row[name] for name in fields)
