"""Readers of raw text: JSON Lines, plain text, tables, Parquet, Markdown, MediaWiki dumps.

They stream one document at a time. The format follows from the file's name, which may end in
``.xz``, ``.gz``, ``.bz2`` or ``.zst``, except for workbooks and Parquet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree  # expat limits the expansion of entities

from corpora_tools.markup import strip_markdown, strip_wikitext
from zh_albert.errors import DataError, MissingExtraError
from zh_albert.files.plain_files import refuse_special
from zh_albert.files.textio import DAMAGED, open_bytes, read_lines
from zh_albert.tables.columns import with_fields
from zh_albert.tables.objects import read_objects

Rows = Iterator[tuple[str, dict[str, Any]]]  # (place in the file, at least a string "text")

_COMPRESSED = (".xz", ".gz", ".bz2", ".zst")
_KINDS = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "table",
    ".tsv": "table",
    ".xlsx": "table",
    ".txt": "text",
    ".parquet": "parquet",
    ".md": "markdown",
    ".markdown": "markdown",
    ".xml": "wiki",
}
_SHARD = re.compile(r"corpus-\d{5}\.jsonl\.(zst|xz)")  # one of a task that kept nothing is empty
_NEVER_COMPRESSED = (".xlsx", ".parquet")
_BATCH_ROWS = 256


def kind_of(path: Path) -> str | None:
    """Return the format of a file by its name, or None if it is unknown.

    >>> [kind_of(Path(name)) for name in ("a.jsonl.xz", "zhwiki-1.xml.bz2", "README.MD", "a.doc")]
    ['jsonl', 'wiki', 'markdown', None]
    """
    *before, last = ["", *(suffix.lower() for suffix in path.suffixes)]
    if last in _COMPRESSED:
        last = before[-1]
        if last in _NEVER_COMPRESSED:
            return None
    return _KINDS.get(last)


def read_documents(path: Path) -> Rows:
    """Yield a file's documents in order.

    A JSON line, a row of a table or of Parquet, an article of a dump and a Markdown file are one
    document each; in plain text, documents are separated by blank lines.

    Raises:
        DataError: If the file is missing, empty (but for a shard of ``WriteShard``), damaged, not
            UTF-8, or a row has no text.
    """
    kind = kind_of(path)
    if kind is None:
        known = ", ".join(sorted(_KINDS))
        packed = f"all but {' and '.join(_NEVER_COMPRESSED)} also with {', '.join(_COMPRESSED)}"
        raise DataError(f"{path}: expected a file named {known} ({packed})")
    try:
        refuse_special(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    found = False
    for row in _READERS[kind](path):
        found = True
        yield row
    if not found and not _SHARD.fullmatch(path.name):
        raise DataError(f"{path}: expected at least one document, found an empty file")


def _read_rows(path: Path) -> Rows:
    for line, row in with_fields(read_objects(path), path, by_content=False):
        if not isinstance(row.get("text"), str):
            problem = f"expected a string 'text', found {row.get('text')!r:.60}"
            raise DataError.at(path, line, problem)
        yield str(line), row


def _read_text(path: Path) -> Rows:
    lines: list[str] = []
    first = 1
    for number, line in read_lines(path):
        if line.strip():
            first = first if lines else number
            lines.append(line)
        elif lines:
            yield str(first), {"text": "\n".join(lines)}
            lines = []
    if lines:
        yield str(first), {"text": "\n".join(lines)}


def _read_markdown(path: Path) -> Rows:
    text = "\n".join(line for _, line in read_lines(path))
    yield "1", {"text": strip_markdown(text)}


def _read_parquet(path: Path) -> Rows:
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError.of("pyarrow", "corpora") from None
    try:
        with parquet.ParquetFile(path) as file:
            there = file.schema_arrow.names
            if "text" not in there:
                raise DataError(f"{path}: expected a column 'text', found {', '.join(there)}")
            columns = [name for name in ("id", "source", "domain", "text") if name in there]
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    if not isinstance(row["text"], str):
                        problem = f"expected a string 'text', found {row['text']!r:.60}"
                        raise DataError(f"{path}, row {number}: {problem}.")
                    yield str(number), row
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise DataError(f"{path}: not a whole Parquet file: {error}") from None


def _read_wiki(path: Path) -> Rows:
    try:
        with open_bytes(path) as file:
            yield from _wiki_pages(file)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not a whole XML dump: {error}") from None
    except (*DAMAGED, OSError) as error:
        raise DataError(f"{path}: the compressed file is damaged: {error}") from None


def _wiki_pages(file: IO[bytes]) -> Rows:
    """Yield the articles (namespace 0) of a dump; redirects and other pages are skipped."""
    root: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(file, events=("start", "end")):  # noqa: S314
        if root is None:
            root = element
        if event == "start" or _local_name(element) != "page":
            continue
        fields = {_local_name(child): child for child in element}
        content = next((e for e in element.iter() if _local_name(e) == "text"), None)
        namespace = fields.get("ns")
        article = namespace is None or namespace.text == "0"
        if article and "redirect" not in fields and content is not None and content.text:
            title = (fields["title"].text or "") if "title" in fields else ""
            place = (fields["id"].text if "id" in fields else None) or title
            yield place, {"text": f"{title}\n{strip_wikitext(content.text)}".strip()}
        root.clear()  # releases the elements read so far


def _local_name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


_READERS: dict[str, Callable[[Path], Rows]] = {
    "jsonl": _read_rows,
    "table": _read_rows,
    "text": _read_text,
    "parquet": _read_parquet,
    "markdown": _read_markdown,
    "wiki": _read_wiki,
}
