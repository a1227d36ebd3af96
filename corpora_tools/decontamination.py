"""Keep evaluation texts out of a corpus: a paragraph that shares 20 consecutive Chinese characters
with one, or all of its Chinese characters, is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter

from corpora_tools.readers import kind_of
from corpora_tools.shingles import Codes, Hashes, chinese_only, code_points, window_hashes
from zh_albert.errors import DataError
from zh_albert.textio import atomic_write, read_lines, read_objects

WIDTH = 20  # Chinese characters; what stands between them does not count
_SHORTEST = 4  # Chinese characters of a whole evaluation text; 很好 is in every corpus
_NO_TEXT = frozenset({"id", "label", "labels", "type", "start", "end", "source", "domain"})


def evaluation_texts(path: Path) -> Iterator[str]:
    """Yield every string of a task file, whatever its schema (text, text_a, context, answers, …).

    Ids, labels and the like are passed over. In a file that is not JSON Lines each line is a text.

    Raises:
        DataError: If the file is missing, empty, damaged or not UTF-8.
    """
    found = False
    if kind_of(path) == "jsonl":
        for _, row in read_objects(path):
            for text in _strings(row):
                found = True
                yield text
    else:
        for _, line in read_lines(path):
            found = True
            yield line
    if not found:
        raise DataError(f"{path}: expected evaluation texts, found none")


def contamination_index(texts: Iterable[str]) -> Hashes:
    """Return the sorted hashes of all stretches of 20, and of whole texts shorter than that.

    Raises:
        DataError: If no text has four Chinese characters.
    """
    found = [hashes for text in texts for hashes in _hashes(code_points(text))]
    if not found:
        raise DataError(f"evaluation texts: expected one with {_SHORTEST} Chinese characters")
    return np.unique(np.concatenate(found))


def save_index(index: Hashes, path: Path) -> None:
    """Write an index for the steps to read."""
    with atomic_write(path) as file:
        np.save(file, index)


def contaminated(paragraphs: list[str], index: Hashes) -> list[bool]:
    """Say of each paragraph whether it holds a stretch of the index, or is one as a whole.

    >>> evaluation = "这家酒店的房间很干净，服务也很好，下次来北京还住。"
    >>> index = contamination_index([evaluation, "房间很好"])
    >>> text = "他说：这家酒店的房间很干净、服务也很好，下次来北京再看。"
    >>> contaminated([text, "“房间很好！”", "很好"], index)
    [True, True, False]
    """
    # All paragraphs in one go, a line end between them: no stretch of Chinese characters has one.
    codes = code_points("\n".join(paragraphs))
    kept = chinese_only(codes) | (codes == ord("\n"))
    codes = codes[kept]
    edges = np.flatnonzero(codes == ord("\n"))
    starts = np.concatenate([[0], edges + 1])
    ends = np.concatenate([edges, [len(codes)]])
    hits = np.flatnonzero(_is_in(window_hashes(codes, WIDTH), index))
    found = np.zeros(len(paragraphs), np.bool_)
    found[np.searchsorted(starts, hits, side="right") - 1] = True
    for short in np.flatnonzero((ends - starts >= _SHORTEST) & (ends - starts < WIDTH)):
        whole = codes[starts[short] : ends[short]]
        found[short] = _is_in(window_hashes(whole, len(whole)), index)[0]
    return [bool(one) for one in found]


class Decontaminate(BaseFilter):
    """Drops paragraphs of evaluation texts, and documents of nothing else."""

    name = "decontaminate"

    def __init__(self, index_file: Path) -> None:
        super().__init__()
        self.index_file = index_file

    @cached_property
    def index(self) -> Hashes:
        """The index, read where the step runs and shared between the processes of a machine."""
        hashes: Hashes = np.load(self.index_file, mmap_mode="r")
        return hashes

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Drop the document's contaminated paragraphs; say whether one is left."""
        paragraphs = doc.text.split("\n")
        drop = contaminated(paragraphs, self.index)
        if any(drop):
            self.stat_update("paragraph_evaluation", value=sum(drop))
            doc.text = "\n".join(p for p, bad in zip(paragraphs, drop, strict=True) if not bad)
        return True if doc.text else (False, "evaluation")


def _hashes(codes: Codes) -> Iterator[Hashes]:
    chinese = codes[chinese_only(codes)]
    if len(chinese) >= WIDTH:
        yield window_hashes(chinese, WIDTH)
    elif len(chinese) >= _SHORTEST:
        yield window_hashes(chinese, len(chinese))


def _is_in(hashes: Hashes, index: Hashes) -> Any:
    """Mark the hashes that a sorted index holds. Shape: that of ``hashes``."""
    places = np.searchsorted(index, hashes)
    return index[np.minimum(places, len(index) - 1)] == hashes


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NO_TEXT:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
