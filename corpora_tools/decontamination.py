"""Decontamination: evaluation texts are kept out of a corpus.

A paragraph is dropped if it shares 20 consecutive Chinese characters with an evaluation text, or
all of its Chinese characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from numpy.typing import NDArray

from corpora_tools.readers import kind_of
from corpora_tools.shingles import Codes, Hashes, chinese_only, window_hashes
from zh_albert.errors import DataError
from zh_albert.files.textio import atomic_write, read_lines
from zh_albert.pretraining.bulk_tokenizer import code_points
from zh_albert.tables.delimited import is_csv
from zh_albert.tables.nameless import is_nameless
from zh_albert.tables.objects import read_objects
from zh_albert.tables.tagged_text import is_tagged
from zh_albert.tables.task_rows import LOOKED_AT, read_task_rows
from zh_albert.tables.workbook import is_workbook

Places = NDArray[np.int64]

WIDTH = 20  # consecutive Chinese characters; other characters between them are ignored
_BATCH = 1 << 20  # characters hashed at once
_TABLE_BITS = 26
_TABLE_SHIFT = np.uint64(64 - _TABLE_BITS)
_BREAK = ord("\n")
_SHORTEST = 4  # Chinese characters of a complete evaluation text; 很好 is in every corpus
_NO_TEXT = frozenset({"id", "label", "labels", "type", "start", "end", "source", "domain"})


class ContaminationIndex:
    """Hashes of evaluation texts. A table answers most queries without a search."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes  # sorted, at least one
        self.table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self.table[hashes >> _TABLE_SHIFT] = True

    def holds(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return which hashes are in the index. Shape: that of ``hashes``."""
        found: NDArray[np.bool_] = self.table[hashes >> _TABLE_SHIFT]
        maybe = np.flatnonzero(found)
        places = np.minimum(np.searchsorted(self.hashes, hashes[maybe]), len(self.hashes) - 1)
        found[maybe] = self.hashes[places] == hashes[maybe]
        return found


def evaluation_texts(path: Path) -> Iterator[str]:
    """Yield every string of a task file, whatever its schema (text, text_a, context, answers, …).

    Ids, labels and the like are skipped. In a file that has no fields, each line is a text.

    Raises:
        DataError: If the file is missing, empty, damaged or not UTF-8.
    """
    found = False
    has_fields = kind_of(path) == "jsonl" or is_workbook(path) or is_csv(path)
    if has_fields or _is_labelled(path):
        for _, row in read_objects(path) if has_fields else read_task_rows(path):
            for text in _strings(row):
                found = True
                yield text
    else:
        for _, line in read_lines(path):
            found = True
            yield line
    if not found:
        raise DataError(f"{path}: expected evaluation texts, found none")


def _is_labelled(path: Path) -> bool:
    """Return whether the lines are tokens with tags, or texts with a label behind tabs."""
    first = [line for _, line in islice(read_lines(path), LOOKED_AT)]
    return is_tagged(first) or is_nameless(first)


def contamination_index(texts: Iterable[str]) -> ContaminationIndex:
    """Index all runs of 20 Chinese characters, and complete texts that are shorter.

    Raises:
        DataError: If no text has four Chinese characters.
    """
    found: list[Hashes] = []
    for batch in _batches(texts):
        codes, starts, ends = _chinese_lines("\n".join(batch))
        breaks = np.concatenate([[0], np.cumsum(codes == _BREAK)])
        hashes = window_hashes(codes, WIDTH)
        found.append(hashes[breaks[WIDTH:] == breaks[: len(hashes)]])  # within one text
        found += [hashes for _, hashes in _short_wholes(codes, starts, ends)]
    index = np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)
    if not len(index):
        raise DataError(f"evaluation texts: expected one with {_SHORTEST} Chinese characters")
    return ContaminationIndex(index)


def save_index(index: ContaminationIndex, path: Path) -> None:
    """Write an index for the steps to load."""
    with atomic_write(path) as file:
        np.save(file, index.hashes)


def contaminated(paragraphs: list[str], index: ContaminationIndex) -> list[bool]:
    """Return for each paragraph whether it contains a run of the index, or is in it as a whole.

    >>> evaluation = "这家酒店的房间很干净，服务也很好，下次来北京还住。"
    >>> index = contamination_index([evaluation, "房间很好"])
    >>> text = "他说：这家酒店的房间很干净、服务也很好，下次来北京再看。"
    >>> contaminated([text, "“房间很好！”", "很好"], index)
    [True, True, False]
    """
    codes, starts, ends = _chinese_lines("\n".join(paragraphs))
    hits = np.flatnonzero(index.holds(window_hashes(codes, WIDTH)))
    found = np.zeros(len(paragraphs), np.bool_)
    found[np.searchsorted(starts, hits, side="right") - 1] = True
    for which, hashes in _short_wholes(codes, starts, ends):
        found[which] = index.holds(hashes)
    return [bool(one) for one in found]


class Decontaminate(BaseFilter):
    """Drop paragraphs of evaluation texts, and documents that have no others."""

    name = "decontaminate"

    def __init__(self, index_file: Path) -> None:
        super().__init__()
        self.index_file = index_file

    @cached_property
    def index(self) -> ContaminationIndex:
        """The index, loaded where the step runs; processes on one machine share its memory."""
        return ContaminationIndex(np.load(self.index_file, mmap_mode="r"))

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Drop the document's contaminated paragraphs; return whether any is left."""
        paragraphs = doc.text.split("\n")
        drop = contaminated(paragraphs, self.index)
        if any(drop):
            self.stat_update("paragraph_evaluation", value=sum(drop))
            doc.text = "\n".join(p for p, bad in zip(paragraphs, drop, strict=True) if not bad)
        return True if doc.text else (False, "evaluation")


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text.replace("\n", " "))
        size += len(text)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _chinese_lines(text: str) -> tuple[Codes, Places, Places]:
    """Return the Chinese characters and line ends of a text, and the start and end of each line.

    All lines are hashed at once: the line ends between them separate their runs.
    """
    codes = code_points(text)
    codes = codes[chinese_only(codes) | (codes == _BREAK)]
    edges = np.flatnonzero(codes == _BREAK)
    return codes, np.concatenate([[0], edges + 1]), np.concatenate([edges, [len(codes)]])


def _short_wholes(codes: Codes, starts: Places, ends: Places) -> Iterator[tuple[Places, Hashes]]:
    """Yield lines shorter than a run, and the hash of each as a whole, by length."""
    lengths = ends - starts
    for length in np.unique(lengths[(lengths >= _SHORTEST) & (lengths < WIDTH)]):
        which = np.flatnonzero(lengths == length)
        yield which, window_hashes(codes, int(length))[starts[which]]


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
