"""First and last step of a pipeline: reading of documents, and atomic writing of shards."""

from __future__ import annotations

import io
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import zstandard
from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep

from corpora_tools.folders import InputFile
from corpora_tools.readers import read_documents
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write
from zh_albert.tokenization.characters import replace_surrogates

SHARD_FORMATS = ("zst", "xz")


class ReadDocuments(PipelineStep):
    """First step: a task's files as documents with ``source`` and ``domain``.

    datatrove's own readers skip lines that they cannot read; these raise an error with file and
    line.
    """

    type = "read"
    name = "documents"

    def __init__(
        self, tasks: list[list[InputFile]], *, source: str | None = None, domain: str = "other"
    ) -> None:
        super().__init__()
        self.tasks = tasks
        self.source = source
        self.domain = domain

    def run(
        self, data: Iterator[Document] | None = None, rank: int = 0, world_size: int = 1
    ) -> Iterator[Document]:
        """Yield the documents of this task's files.

        Raises:
            DataError: If a file cannot be read; see ``read_documents``.
        """
        yield from data or ()
        for one in self.tasks[rank]:
            for place, row in read_documents(one.path):
                text = replace_surrogates(row["text"])
                self.stat_update("documents")
                self.stat_update("characters", value=len(text))
                source = self.source or _name(row.get("source")) or one.source
                domain = _name(row.get("domain")) or self.domain
                document_id = _name(row.get("id")) or f"{one.name}:{place}"
                yield Document(text, document_id, metadata={"source": source, "domain": domain})


class WriteShard(PipelineStep):
    """Last step: a task's documents as one compressed JSON Lines shard, written atomically.

    datatrove's own writer leaves a truncated file when it is stopped. A task without documents
    writes an empty shard, so that the number of shards depends on the input only.
    """

    type = "write"
    name = "shard"

    def __init__(self, folder: Path, shard_format: str = "zst") -> None:
        super().__init__()
        if shard_format not in SHARD_FORMATS:
            known = ", ".join(SHARD_FORMATS)
            raise ConfigError(
                f"the format of shards must be one of {known}, found {shard_format!r}"
            )
        self.folder = folder
        self.format = shard_format

    def run(self, data: Iterator[Document], rank: int = 0, world_size: int = 1) -> None:
        """Write the documents and count them by source and domain."""
        path = self.folder / f"corpus-{rank:05d}.jsonl.{self.format}"
        with atomic_write(path) as file, _compressed(file, self.format) as lines:
            for document in data:
                about = document.metadata
                row = {"id": document.id, **about, "text": document.text}
                lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                size = len(document.text)
                for group in ("", f" source={about['source']}", f" domain={about['domain']}"):
                    self.stat_update(f"documents{group}")
                    self.stat_update(f"characters{group}", value=size)


def _compressed(file: IO[bytes], shard_format: str) -> Any:
    if shard_format == "xz":
        return lzma.open(file, "wb", preset=6)
    compressor = zstandard.ZstdCompressor(level=10, write_checksum=True)
    return io.BufferedWriter(compressor.stream_writer(file, closefd=False), 1 << 17)


def _name(value: Any) -> str:
    """Return a row's id, source or domain as a string; empty if it has none."""
    known = isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
    return replace_surrogates(str(value)) if known else ""
