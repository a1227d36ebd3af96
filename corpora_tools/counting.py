"""Streaming counts of characters and words in JSON Lines shards."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import normalizers, pre_tokenizers

from zh_albert.errors import DataError
from zh_albert.textio import read_objects
from zh_albert.tokenization.characters import fold_width, replace_surrogates

# Chinese characters are single tokens, so counting them needs no normaliser: the fast path.
_PLAIN = "\u3400-\u4dbf\u4e00-\u9fff，。"
_RUN = re.compile(rf"[^\s{_PLAIN}]+")
_PLAIN_STRETCH = re.compile(f"[{_PLAIN}]+")


@dataclass
class Counts:
    """Character and word counts of a corpus, after BERT's normalisation.

    ``characters`` stand alone in a text (Chinese characters, punctuation, words of one
    character); ``words`` are runs of two or more other characters.
    """

    characters: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    texts: int = 0

    def add(self, other: Counts) -> None:
        """Add another corpus' counts."""
        self.characters.update(other.characters)
        self.words.update(other.words)
        self.texts += other.texts


def count_texts(texts: Iterable[str]) -> Counts:
    """Count texts as normalised by this project's tokenizer: width folded, lower case."""
    counts = Counts()
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


def count_shard(path: Path) -> Counts:
    """Count the texts of one shard; see ``read_rows``."""
    return count_texts(row["text"] for row in read_rows(path))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a JSON Lines file that has a string ``text`` in each.

    Raises:
        DataError: If a line is not a JSON object with a string ``text`` (file and line named).
    """
    for line, row in read_objects(path):
        if not isinstance(row.get("text"), str):
            problem = f"expected a string 'text', found {row.get('text')!r}"
            raise DataError.at(path, line, problem)
        yield row


def count_shards(
    paths: Sequence[Path], *, processes: int = 1, report: Callable[[Path], None] | None = None
) -> Counts:
    """Count shards, several at a time; the result does not depend on ``processes``.

    Args:
        paths: JSON Lines files, plain or compressed.
        processes: Shards counted at once.
        report: Called after each shard.
    """
    if processes == 1:
        return _sum(paths, map(count_shard, paths), report)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return _sum(paths, pool.imap(count_shard, paths), report)


def _sum(
    paths: Sequence[Path], done: Iterable[Counts], report: Callable[[Path], None] | None
) -> Counts:
    total = Counts()
    for path, counts in zip(paths, done, strict=True):
        total.add(counts)
        if report:
            report(path)
    return total
