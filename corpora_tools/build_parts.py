"""Building of the parts of shards, several at once; complete parts are not built again."""

from __future__ import annotations

import concurrent.futures
import functools
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_tools.readers import read_documents
from corpora_tools.sentences import sentence_spans
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import DataError
from zh_albert.files.textio import atomic_write
from zh_albert.pretraining.bulk_tokenizer import BlockEncoder
from zh_albert.pretraining.shard_files import PartWriter
from zh_albert.pretraining.shards import check_part
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer, load_tokenizer
from zh_albert.tokenization.words import segmenter


@dataclass(frozen=True, kw_only=True)
class BuildConfig:
    """Settings that, with the input files, determine the shards' content."""

    tokenizer: Path | None = None  # a model folder; None: the library's own tokenizer
    without_sources: tuple[str, ...] = ()  # values of "source" of the rows to leave out


@dataclass(frozen=True)
class PartTask:
    """A part to build: its name, its folder, and its input files."""

    folder: Path
    name: str
    inputs: tuple[Path, ...]
    config: BuildConfig


def build_parts(
    tasks: Sequence[PartTask], workers: int, report: Callable[[int, int], None] | None
) -> list[dict[str, Any]]:
    """Build the parts that are not complete; return the records of all, in order.

    Args:
        tasks: At least one.
        workers: Parts built at once.
        report: Called with the number of finished parts and of all.

    Raises:
        DataError: If an input cannot be read, the disk is full, or a worker was killed.
    """
    records: dict[str, dict[str, Any]] = {}
    waiting = []
    for task in tasks:
        record = read_record(task)
        if record is None:
            waiting.append(task)
        else:
            records[task.name] = record

    def done(record: dict[str, Any]) -> None:
        records[record["name"]] = record
        if report:
            report(len(records), len(tasks))

    if report:
        report(len(records), len(tasks))
    if workers == 1 or len(waiting) <= 1:
        for task in waiting:
            done(build_part(task))
    else:
        _build_together(waiting, min(workers, len(waiting)), done)
    return [records[task.name] for task in tasks]


def _build_together(
    tasks: Sequence[PartTask], workers: int, done: Callable[[dict[str, Any]], None]
) -> None:
    pool = concurrent.futures.ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(os.getpid(),),
    )
    try:
        # The largest parts first, so that all workers finish at about the same time.
        largest = sorted(tasks, key=lambda t: -sum(path.stat().st_size for path in t.inputs))
        for future in concurrent.futures.as_completed(
            [pool.submit(build_part, t) for t in largest]
        ):
            done(future.result())
    except BrokenProcessPool:
        raise DataError(
            "a worker process was killed (out of memory?); run the same command again, with "
            "fewer --workers: finished parts are kept"
        ) from None
    finally:
        # Running parts are stopped; the records of finished ones are on disk.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _start_worker(parent: int) -> None:
    """Ignore Ctrl-C, which the parent handles, and end when the parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def build_part(task: PartTask) -> dict[str, Any]:
    """Build one part and write its record beside it; return the record."""
    unknown_id = tokenizer_of(task.config).special.unk
    left_out = dict.fromkeys(task.config.without_sources, 0)

    def is_wanted(row: Mapping[str, Any]) -> bool:
        source = "" if row.get("source") is None else str(row["source"])  # some number theirs
        if source in left_out:
            left_out[source] += 1
        return source not in left_out

    texts = (
        row["text"] for path in task.inputs for _, row in read_documents(path) if is_wanted(row)
    )
    with PartWriter(task.folder, task.name, unknown_id=unknown_id) as writer:
        for block in _encoder(task.config).blocks(texts):
            writer.write(block)
        record = writer.finish()
    if left_out:
        record["left_out"] = {source: count for source, count in left_out.items() if count}
    with atomic_write(record_path(task)) as file:
        file.write(json.dumps(record).encode())
    return record


def read_record(task: PartTask) -> dict[str, Any] | None:
    """Return the record of a part that an earlier run finished, if it is complete."""
    try:
        record: dict[str, Any] = json.loads(record_path(task).read_bytes())
    except (OSError, ValueError):
        return None
    return record if check_part(task.folder, record) else None


def record_path(task: PartTask) -> Path:
    """Return the path of a finished part's record, until the manifest is written."""
    return task.folder / f"{task.name}.json"


@functools.lru_cache(maxsize=1)
def _encoder(config: BuildConfig) -> BlockEncoder:
    """Return the encoder, whose cache of characters is kept from part to part."""
    return BlockEncoder(tokenizer_of(config), segmenter().cut, sentence_spans)


def tokenizer_of(config: BuildConfig) -> Tokenizer:
    """Return the tokenizer of a config."""
    if config.tokenizer is None:
        return default_tokenizer()
    with verified(config.tokenizer):
        return load_tokenizer(config.tokenizer)
