"""Construction of shards from documents: parallel, restartable and deterministic.

Files are grouped into parts in order, small ones together, and every part depends only on its
files. Parts are written to a hidden folder next to the output folder, which is renamed when it is
complete. A run after a kill keeps the complete parts.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from corpora_tools.build_parts import (
    BuildConfig,
    PartTask,
    build_parts,
    record_path,
    tokenizer_of,
)
from corpora_tools.folders import files_in
from zh_albert.errors import ConfigError, DataError
from zh_albert.pretraining.shard_files import write_manifest
from zh_albert.pretraining.shards import (
    FORMAT_VERSION,
    MANIFEST,
    read_manifest,
    tokenizer_digest,
)
from zh_albert.textio import atomic_write
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import segmenter

_PART_BYTES = 4 << 20  # size of input files on disk; a larger file is a part of its own
_PLAN, _CLUSTER = "plan.json", "cluster"  # in the folder that is being built


def find_inputs(patterns: Sequence[str]) -> list[Path]:
    """Return the files that files, folders and patterns name, sorted, each once.

    Raises:
        DataError: If one of them names no file that can be read; see ``files_in``.
    """
    found: set[Path] = set()
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            matches = set(files_in(path))
        else:
            matches = {Path(name) for name in glob.glob(pattern)}  # noqa: PTH207  (absolute ones)
        if not matches:
            raise DataError(f"--corpus {pattern}: expected files to read, found none")
        found |= matches
    return sorted(found)


def build_shards(
    inputs: Sequence[Path],
    out: Path,
    config: BuildConfig,
    *,
    executor: Literal["local", "ray", "slurm"] = "local",
    workers: int | None = 1,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Build the shards of some files; return their manifest.

    Args:
        inputs: As ``find_inputs`` returns them; read by ``readers.read_documents``.
        out: The folder to make. If it already holds the shards of these inputs and settings,
            nothing is done.
        config: See ``BuildConfig``.
        executor: Where the parts are built; a job may be continued by another executor.
        workers: Parts built at once; None: the number of cores, or all parts on a cluster.
        report: Called with parts done and parts in all.

    Raises:
        DataError: If an input cannot be read, the disk is full, or a worker was killed.
        ConfigError: If ``out`` holds something else, or another job is building it.
        MissingExtraError: If the word segmenter is not installed.
    """
    if config.tokenizer:  # read in other places, too
        config = replace(config, tokenizer=config.tokenizer.absolute())
    tokenizer = tokenizer_of(config)
    plan = _plan(inputs, tokenizer, config)
    if out.is_dir() and any(out.iterdir()):
        return _finished(out, plan)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: expected a folder to make, found a file")
    staging = out.absolute().parent / f".{out.name}.building"
    with _lock(out):
        if out.is_dir() and any(out.iterdir()):
            return _finished(out, plan)  # built by the job that held the lock before
        _prepare(staging, plan)
        groups = [tuple(map(Path, part["paths"])) for part in plan["parts"]]
        tasks = [
            PartTask(staging, f"part-{i:05d}", group, config) for i, group in enumerate(groups)
        ]
        if executor != "local":
            from corpora_tools.build_stage import build_elsewhere  # noqa: PLC0415  (datatrove)

            build_elsewhere(tasks, staging / _CLUSTER, executor, workers, report)
        records = build_parts(tasks, workers or os.cpu_count() or 1, report)
        for record, part in zip(records, plan["parts"], strict=True):
            record["inputs"] = part["inputs"]
        if not sum(record["counts"]["tokens"] for record in records):
            shutil.rmtree(staging)
            raise DataError(f"{inputs[0]} and the other inputs: expected text, found none")
        about = {"build": plan["settings"], "plan": plan["digest"]}
        manifest = write_manifest(staging, records, tokenizer, about)
        with contextlib.suppress(FileNotFoundError):
            out.rmdir()  # empty
        staging.rename(out)
        # Only now, because a job killed earlier needs them to continue.
        shutil.rmtree(out / _CLUSTER, ignore_errors=True)
        for name in (_PLAN, *(record_path(task).name for task in tasks)):
            (out / name).unlink()
    return manifest


def _finished(out: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of existing shards, if they have the same plan."""
    if not (out / MANIFEST).exists():
        raise ConfigError(f"{out}: expected a new or empty folder, found other files in it")
    manifest = read_manifest(out)
    if manifest.get("plan") != plan["digest"]:
        problem = "already holds shards of other inputs or settings"
        raise ConfigError(f"{out}: {problem}; delete it or choose another --out")
    return manifest


def _plan(inputs: Sequence[Path], tokenizer: Tokenizer, config: BuildConfig) -> dict[str, Any]:
    """Return the files of each part, and everything else that determines the output."""
    if not inputs:
        raise ConfigError("there is nothing to build shards of: no input file")
    parts: list[dict[str, Any]] = []
    size = 0
    for path in inputs:
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            length = path.stat().st_size
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from None
        if not parts or size + length > _PART_BYTES:
            parts.append({"inputs": [], "paths": []})
            size = 0
        size += length
        parts[-1]["inputs"].append({"name": path.name, "bytes": length, "sha256": content})
        parts[-1]["paths"].append(str(path.absolute()))
    settings = {
        "tokenizer": tokenizer_digest(tokenizer),
        "segmenter": segmenter().name,
        "without_sources": sorted(config.without_sources),
    }
    decides = [FORMAT_VERSION, settings, [part["inputs"] for part in parts]]
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
    return {"parts": parts, "settings": settings, "digest": digest}


@contextlib.contextmanager
def _lock(out: Path) -> Iterator[None]:
    """Lock the folder against other jobs; a killed job releases its lock."""
    path = out.parent / f".{out.name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise DataError(f"{out}: cannot be made ({error.strerror})") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = os.fstat(file.fileno()).st_ino == path.stat().st_ino
        except OSError:
            same = False  # held, or deleted by the job that held it
        if not same:
            problem = "another job is building shards in this folder"
            raise ConfigError(f"{out}: {problem}; wait for it or choose another --out")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _prepare(staging: Path, plan: dict[str, Any]) -> None:
    """Create the staging folder, or keep that of a killed run with the same plan."""
    path = staging / _PLAN
    try:
        kept = json.loads(path.read_bytes())["digest"] == plan["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        kept = False
    try:
        if staging.exists() and not kept:
            shutil.rmtree(staging)
        staging.mkdir(exist_ok=True)
        for leftover in staging.glob(".part-*"):
            leftover.unlink()
        with atomic_write(path) as file:
            file.write(json.dumps(plan).encode())
    except OSError as error:
        raise DataError(f"{staging}: cannot be written ({error.strerror})") from None


def describe(manifest: dict[str, Any], out: Path) -> dict[str, Any]:
    """Return a summary of finished shards for users."""
    counts = manifest["counts"]
    return {
        "out": str(out),
        **counts,
        "parts": len(manifest["parts"]),
        "bytes": manifest["bytes"],
        "bytes_per_character": round(manifest["bytes"] / max(counts["characters"], 1), 3),
        "unknown_rate": counts["unknown"] / max(counts["tokens"], 1),
        "segmenter": manifest["build"]["segmenter"],
    }
