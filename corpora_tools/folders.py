"""Input files of jobs, and the folders that jobs write."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from corpora_tools.readers import kind_of
from zh_albert.errors import ConfigError, DataError

STATISTICS = "statistics.json"  # written when all shards are complete
STATE = ".job"  # folder of a job's state, from its start
_TASK_BYTES = 16 << 20  # on disk; small files are read together, in one task


@dataclass(frozen=True)
class InputFile:
    """An input file, and defaults for the names of its documents."""

    path: Path
    name: str  # its documents are called NAME:LINE
    source: str


def find_inputs(patterns: Sequence[str], out: Path | None = None) -> list[InputFile]:
    """Return the files that files, folders (recursively) and patterns name, in order.

    Args:
        patterns: Their names.
        out: The folder of the job that reads them. It may be in one of those folders; what the job
            has written there is none of its inputs when it is continued.

    Raises:
        DataError: If one names no file, or a folder has files of several formats.
    """
    inputs: dict[Path, InputFile] = {}
    own = out.resolve() if out is not None and (out / STATE).is_dir() else None
    for pattern in patterns:
        folder = Path(pattern)
        if folder.is_dir():
            paths = files_in(folder, own)
            for path in paths:
                name = path.relative_to(folder).as_posix()
                inputs.setdefault(path.resolve(), InputFile(path, name, folder.resolve().name))
        else:
            found = [pattern] if folder.exists() else glob.glob(pattern, recursive=True)  # noqa: PTH207
            paths = sorted(
                path
                for path in map(Path, found)
                if not path.is_dir()  # of raw/**
                and (path == folder or path.name != STATISTICS)  # of corpus/*
                and (path == folder or own is None or not path.resolve().is_relative_to(own))
            )
            for path in paths:
                source = path.name.split(".")[0]
                inputs.setdefault(path.resolve(), InputFile(path, path.name, source))
        if not paths:
            raise DataError(f"{pattern}: expected a file, folder or pattern; found nothing")
    return _with_different_names(list(inputs.values()))


def plan_tasks(inputs: Sequence[InputFile]) -> list[list[InputFile]]:
    """Return the files of each task: one file, or several small ones. It depends on the files only.

    Paths become absolute, because tasks can run elsewhere.

    Raises:
        DataError: If a file is missing.
    """
    tasks: list[list[InputFile]] = []
    room = 0
    for one in inputs:
        try:
            size = one.path.stat().st_size
        except OSError as error:
            raise DataError(f"{one.path}: cannot be read ({error.strerror})") from None
        if not tasks or size > room:
            tasks.append([])
            room = _TASK_BYTES
        tasks[-1].append(replace(one, path=one.path.absolute()))
        room -= size
    return tasks


def files_in(folder: Path, own: Path | None = None) -> list[Path]:
    """Return the files of a folder that hold documents, sorted, without a job's own files.

    Args:
        folder: The folder.
        own: A folder whose files are left out, unless it is ``folder`` itself.

    Raises:
        DataError: If a job is still writing them, or they have several formats.
    """
    if (folder / STATE).is_dir() and not (folder / STATISTICS).exists():
        raise DataError(f"{folder}: the job that writes it has not finished; run it again")
    own = None if own == folder.resolve() else own
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and kind_of(path)
        and (own is None or not path.resolve().is_relative_to(own))
        and path != folder / STATISTICS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    kinds = sorted({str(kind_of(path)) for path in paths})
    if len(kinds) > 1:
        found = ", ".join(kinds)
        hint = f"name the files by a pattern in quotes, for example '{folder}/*.jsonl*'"
        raise DataError(f"{folder}: expected files of one kind, found {found}; {hint}")
    return paths


@contextmanager
def locked(path: Path, out: Path) -> Iterator[None]:
    """Keep other jobs from a folder; the system releases the lock of a killed job.

    Args:
        path: The lock file, deleted at the end.
        out: The folder, named in errors.

    Raises:
        ConfigError: If another job has the folder.
        DataError: If the lock file cannot be written.
    """
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise ConfigError(
            f"{out}: another job is writing there; wait for it or choose another folder"
        ) from None
    except OSError as error:
        raise DataError(f"{out}: cannot be created ({error.strerror})") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _with_different_names(inputs: list[InputFile]) -> list[InputFile]:
    if len({one.name for one in inputs}) == len(inputs):
        return inputs
    return [
        InputFile(one.path, f"{number}/{one.name}", one.source) for number, one in enumerate(inputs)
    ]
