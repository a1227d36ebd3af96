"""Folders of documents: which files hold them, and what a job leaves beside them."""

from __future__ import annotations

from pathlib import Path

from corpora_tools.readers import kind_of
from zh_albert.errors import DataError

STATISTICS = "statistics.json"  # beside the shards when all of them are there
STATE = ".job"  # a folder beside the shards, from the job's beginning


def files_in(folder: Path) -> list[Path]:
    """Return the files of a folder that hold documents, sorted; what jobs keep there is none.

    Raises:
        DataError: If a job is still writing them, or they are of several kinds.
    """
    if (folder / STATE).is_dir() and not (folder / STATISTICS).exists():
        raise DataError(f"{folder}: the job that writes it has not ended; run it again")
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and kind_of(path)
        and path != folder / STATISTICS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    kinds = sorted({str(kind_of(path)) for path in paths})
    if len(kinds) > 1:
        found = ", ".join(kinds)
        hint = f"name the files by a pattern in quotes, for example '{folder}/*.jsonl*'"
        raise DataError(f"{folder}: expected files of one kind, found {found}; {hint}")
    return paths
