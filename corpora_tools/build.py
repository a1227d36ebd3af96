"""Building of shards from documents: several files at once, resumable, reproducible to the byte.

Files are grouped into parts in their order, small ones together, and every part depends on its
files only. The shards are built in a hidden folder beside ``out``, which is renamed when all are
complete. A second run, after a kill or with changed files, keeps the parts that are complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from corpora_tools.build_parts import BuildConfig, PartTask, build_parts, tokenizer_of
from corpora_tools.folders import find_inputs, locked
from zh_albert.errors import ConfigError, DataError
from zh_albert.files.plain_files import parse_json, read_plain, refuse_special
from zh_albert.files.textio import atomic_write
from zh_albert.pretraining.shard_files import write_manifest
from zh_albert.pretraining.shards import FORMAT_VERSION, MANIFEST, read_manifest, tokenizer_digest
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import segmenter

_PART_BYTES = 4 << 20  # of input files on disk; a larger file is a part of its own
_PLAN, _CLUSTER = "plan.json", "cluster"  # in the folder that is being built


def find_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files that files, folders and patterns name, sorted, each once.

    Raises:
        DataError: See ``folders.find_inputs``.
    """
    return sorted(one.path for one in find_inputs(patterns))


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
        inputs: From ``find_files``; read by ``readers.read_documents``.
        out: The folder to write. If it already holds shards of these inputs and settings, only the
            parts whose inputs were changed or added since are built.
        config: Settings of the shards.
        executor: Where parts are built; a job can be continued by another executor.
        workers: Parts built at once; None: as many as cores, or all of them on a cluster.
        report: Called with the number of finished parts and of all.

    Raises:
        DataError: If an input cannot be read, the disk is full, or a worker was killed.
        ConfigError: If ``out`` holds something else, or another job is building it.
        MissingExtraError: If the word segmenter is not installed.
    """
    out = out.resolve()  # a link stays one; the folder is built beside the one it leads to
    if config.tokenizer:  # other machines may have another working directory
        config = replace(config, tokenizer=config.tokenizer.absolute())
    tokenizer = tokenizer_of(config)
    plan = _plan(inputs, tokenizer, config)
    if (manifest := _finished(out, plan)) and not _left_over(out):
        return manifest
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: expected a folder to write, found a file")
    staging = out.parent / f".{out.name}.building"
    with locked(out.parent / f".{out.name}.lock", out):
        if manifest := _finished(out, plan):  # by a job that had the lock before or was killed
            _remove_left_over(out)
            return manifest
        _prepare(staging, plan, out)
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
        replaced = _replaced(out)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(replaced)  # of a job that was killed in the lines below
        with contextlib.suppress(FileNotFoundError):
            out.rename(replaced)
        staging.rename(out)
        _remove_left_over(out)  # last: a killed job needs the plan and the records to continue
    return manifest


def _replaced(out: Path) -> Path:
    return out.parent / f".{out.name}.replaced"


def _left_over(out: Path) -> list[Path]:
    """Return what finished shards do not need: those they replaced, and what a build goes on by."""
    known = (_replaced(out), out / _CLUSTER, out / _PLAN, *out.glob("part-*.json"))
    return [path for path in known if path.exists()]


def _remove_left_over(out: Path) -> None:
    for path in _left_over(out):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _finished(out: Path, plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return the manifest of existing shards, if no input was changed or added since.

    Raises:
        ConfigError: If the folder holds anything else.
    """
    if not out.is_dir() or not any(out.iterdir()):
        return None
    if not (out / MANIFEST).exists():
        raise ConfigError(f"{out}: expected a new or empty folder, found other files in it")
    manifest = read_manifest(out)
    if manifest.get("plan") == plan["digest"]:
        return manifest
    gone = _names(manifest["parts"]) - _names(plan["parts"])
    if manifest.get("build") != plan["settings"] or gone:
        what = f"inputs ({min(gone)} is not among these)" if gone else "settings"
        problem = f"already holds shards of other {what}"
        raise ConfigError(f"{out}: {problem}; delete it or choose another --out")
    return None


def _names(parts: Sequence[dict[str, Any]]) -> set[str]:
    return {one["name"] for part in parts for one in part["inputs"]}


def _plan(inputs: Sequence[Path], tokenizer: Tokenizer, config: BuildConfig) -> dict[str, Any]:
    """Return the files of each part, and the settings that determine the shards' bytes."""
    if not inputs:
        raise ConfigError("expected input files to build shards from, found none")
    parts: list[dict[str, Any]] = []
    size = 0
    for path in inputs:
        try:
            refuse_special(path)
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


def _prepare(staging: Path, plan: dict[str, Any], out: Path) -> None:
    """Create the working folder, with the parts of earlier runs whose inputs are the same."""
    path = staging / _PLAN
    try:
        before = parse_json(read_plain(path))
        kept = before["parts"] if before["settings"] == plan["settings"] else []
    except (OSError, ValueError, KeyError, TypeError):
        kept = []
    try:
        if staging.exists() and not kept:
            shutil.rmtree(staging)
        staging.mkdir(exist_ok=True)
        _delete_changed(staging, kept, plan["parts"])
        if (out / MANIFEST).exists():
            _take_unchanged(out, staging, plan["parts"])
        with atomic_write(path) as file:
            file.write(json.dumps(plan).encode())
    except OSError as error:
        raise DataError(f"{staging}: cannot be written ({error.strerror})") from None


def _delete_changed(
    staging: Path, before: Sequence[dict[str, Any]], parts: Sequence[dict[str, Any]]
) -> None:
    """Delete what a killed run left half written, and its parts of other inputs."""
    same = {
        f"part-{number:05d}"
        for number, (old, new) in enumerate(zip(before, parts, strict=False))
        if old["inputs"] == new["inputs"]
    }
    for path in [*staging.glob(".part-*"), *staging.glob("part-*")]:
        if path.name.split(".")[0] not in same:
            path.unlink()


def _take_unchanged(out: Path, staging: Path, parts: Sequence[dict[str, Any]]) -> None:
    """Link the parts of finished shards whose inputs are the same."""
    for record, part in zip(read_manifest(out)["parts"], parts, strict=False):
        if record["inputs"] == part["inputs"]:
            for path in out.glob(f"{record['name']}.*"):
                (staging / path.name).unlink(missing_ok=True)  # of a killed build
                try:
                    (staging / path.name).hardlink_to(path)
                except OSError:  # no links on this disk
                    shutil.copyfile(path, staging / path.name)
            about = {name: value for name, value in record.items() if name != "inputs"}
            with atomic_write(staging / f"{record['name']}.json") as file:
                file.write(json.dumps(about).encode())


def describe(manifest: dict[str, Any], out: Path) -> dict[str, Any]:
    """Return a summary of finished shards."""
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
