"""Folders of documents: document files, and the other files that jobs write there."""

from __future__ import annotations

from pathlib import Path

from corpora_tools.readers import kind_of
from zh_albert.errors import DataError

STATISTICS = "statistics.json"  # written next to the shards when all of them are complete
STATE = ".job"  # a folder next to the shards, from the start of the job


def files_in(folder: Path) -> list[Path]:
    """Return the document files of a folder, sorted; files that jobs keep there are skipped.

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
