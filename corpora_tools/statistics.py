"""Statistics of a finished job, from the counts that datatrove keeps for each task."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError

_PARAGRAPH = "paragraph_"
_DROPPED = "dropped_"
_NEAR = "near_duplicate"
_MINHASH_FILTER = "MinHash stage 4"


def collect_statistics(stats: Path) -> dict[str, Any]:
    """Return the summed counts of a stage's tasks; they do not depend on the number of workers.

    Args:
        stats: datatrove's folder, with one JSON file per task.

    Returns:
        ``read`` and ``written`` (documents and characters), ``dropped_documents`` and
        ``dropped_paragraphs`` by reason, ``sources`` and ``domains`` with the documents and
        characters written of each.
    """
    read: Counter[str] = Counter()
    written: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    paragraphs: Counter[str] = Counter()
    groups: dict[str, dict[str, Counter[str]]] = {"source": {}, "domain": {}}
    for step, name, count in _counts(stats):
        if _MINHASH_FILTER in step:
            documents[_NEAR] += count if name == "dropped" else 0
        elif step == "read: documents":
            read[name] += count
        elif step == "write: shard":
            what, _, group = name.partition(" ")
            if not group:
                written[what] += count
            else:
                field, _, value = group.partition("=")
                groups[field].setdefault(value, Counter())[what] += count
        elif name.startswith(_PARAGRAPH):
            paragraphs[name.removeprefix(_PARAGRAPH)] += count
        elif name.startswith(_DROPPED):
            documents[name.removeprefix(_DROPPED)] += count
    return {
        "read": _ordered(read),
        "written": _ordered(written),
        "dropped_documents": _by_count(documents),
        "dropped_paragraphs": _by_count(paragraphs),
        "sources": _by_size(groups["source"]),
        "domains": _by_size(groups["domain"]),
    }


def collect_answers(stats: Path) -> dict[str, Any]:
    """Return the summed counts of a prediction: ``files``, ``rows``, and ``errors`` among them."""
    counted: Counter[str] = Counter({"files": 0, "rows": 0, "errors": 0})
    for _, name, count in _counts(stats):
        if name in counted:
            counted[name] += count
    return dict(counted)


def answers_as_text(statistics: Mapping[str, Any]) -> str:
    """Format the counts of ``collect_answers``.

    >>> answers_as_text({"files": 3, "rows": 1200, "errors": 1})
    '1,200 answers in 3 files, 1 of them errors'
    """
    return "{rows:,} answers in {files:,} files, {errors:,} of them errors".format(**statistics)


def as_text(statistics: Mapping[str, Any]) -> str:
    """Format the statistics of a job.

    >>> empty = {"documents": 0, "characters": 0}
    >>> print(as_text({"read": {"documents": 2, "characters": 30}, "written": empty}))
    read     2 documents, 30 characters
    written  0 documents, 0 characters
    """
    lines = []
    for name in ("read", "written"):
        counts = statistics[name]
        lines.append(
            f"{name:9}{counts['documents']:,} documents, {counts['characters']:,} characters"
        )
    for name in ("dropped_documents", "dropped_paragraphs"):
        for reason, count in statistics.get(name, {}).items():
            lines.append(f"{name.replace('_', ' ')}  {reason:16} {count:>12,}")
    for name in ("domains", "sources"):
        for value, counts in list(statistics.get(name, {}).items())[:20]:
            lines.append(
                f"{name[:-1]:8}{counts['documents']:>10,}{counts['characters']:>14,}  {value}"
            )
    return "\n".join(lines)


def _counts(stats: Path) -> Iterator[tuple[str, str, int]]:
    """Yield (step, name, count); a count is a number or, if values differ, a summary of them."""
    for path in sorted(stats.glob("*.json")):
        try:
            steps = json.loads(path.read_text("utf-8"))
        except ValueError:  # datatrove does not wait until it is on the disk
            raise DataError(f"{path}: damaged; delete {stats.parents[2]} to start over") from None
        for step in steps:
            for name, count in step["stats"].items():
                total = count["total"] if isinstance(count, dict) else count
                yield step["name"], name, int(total)


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in ("documents", "characters")}


def _by_count(counts: Counter[str]) -> dict[str, int]:
    kept = {name: count for name, count in counts.items() if count}
    return dict(sorted(kept.items(), key=lambda item: (-item[1], item[0])))


def _by_size(groups: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    ordered = sorted(groups.items(), key=lambda item: (-item[1]["characters"], item[0]))
    return {name: _ordered(counts) for name, counts in ordered}
