"""Counts of characters and words in JSON Lines files, streaming."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import normalizers, pre_tokenizers

from zh_albert.errors import DataError
from zh_albert.tables.objects import read_objects
from zh_albert.tokenization.characters import fold_width, replace_surrogates

# Fast path: Chinese characters are single words, so counting them needs no normalizer.
_PLAIN = "\u3400-\u4dbf\u4e00-\u9fff，。"
_RUN = re.compile(rf"[^\s{_PLAIN}]+")
_PLAIN_STRETCH = re.compile(f"[{_PLAIN}]+")


@dataclass
class CorpusCounts:
    """Counts of a corpus after BERT's normalization.

    ``characters`` are single words (Chinese characters, punctuation, words of one character);
    ``words`` are runs of two or more other characters.
    """

    characters: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    texts: int = 0

    def add(self, other: CorpusCounts) -> None:
        """Add another corpus's counts."""
        self.characters.update(other.characters)
        self.words.update(other.words)
        self.texts += other.texts


def count_texts(texts: Iterable[str]) -> CorpusCounts:
    """Count texts as our own tokenizer processes them: width folded, lower case."""
    counts = CorpusCounts()
    runs: Counter[str] = Counter()
    for text in texts:
        counts.texts += 1
        for stretch in _PLAIN_STRETCH.findall(text):
            counts.characters.update(stretch)
        runs.update(_RUN.findall(text))
    normalize = normalizers.BertNormalizer(lowercase=True).normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    for run, times in runs.items():
        for word, _ in split(normalize(replace_surrogates(fold_width(run)))):
            (counts.characters if len(word) == 1 else counts.words)[word] += times
    return counts


def count_shard(path: Path) -> CorpusCounts:
    """Count the texts of one file; see ``read_rows``."""
    return count_texts(row["text"] for row in read_rows(path))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file, each with a string ``text``.

    Raises:
        DataError: If a line is not a JSON object with a string ``text`` (file and line are named).
    """
    for line, row in read_objects(path):
        if not isinstance(row.get("text"), str):
            problem = f"expected a string 'text', found {row.get('text')!r:.60}"
            raise DataError.at(path, line, problem)
        yield row


def count_shards(
    paths: Sequence[Path], *, processes: int = 1, report: Callable[[int, int], None] | None = None
) -> CorpusCounts:
    """Count shards, several at a time; the result does not depend on ``processes``.

    Args:
        paths: JSON Lines files, plain or compressed.
        processes: Shards counted at once.
        report: Called with the number of finished shards and of all.

    Raises:
        DataError: If a shard cannot be read, or a process was killed.
    """
    total = CorpusCounts()
    try:
        with ExitStack() as stack:
            counted: Iterable[CorpusCounts] = map(count_shard, paths)
            if processes > 1:
                context = multiprocessing.get_context("spawn")
                pool = stack.enter_context(ProcessPoolExecutor(processes, mp_context=context))
                counted = pool.map(count_shard, paths)
            for done, counts in enumerate(counted, start=1):
                total.add(counts)
                if report:
                    report(done, len(paths))
    except BrokenProcessPool:
        raise DataError(
            "a process was killed (out of memory?); run the command again with fewer --processes"
        ) from None
    return total
