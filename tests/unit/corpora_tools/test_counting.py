"""Counting characters and words."""

from __future__ import annotations

import signal

import pytest

from corpora_tools import counting
from corpora_tools.counting import count_shards, count_texts
from tests.helpers.corpus_shards import TEXTS, write_shard
from zh_albert.errors import DataError


def test_counts_are_of_normalised_text():
    counts = count_texts(TEXTS)

    assert counts.texts == 3
    assert counts.characters["是"] == 30
    assert counts.characters["，"] == 90
    assert counts.words["nlp"] == 30
    assert counts.words["python"] == 30
    assert counts.words["python3"] == 30
    assert counts.words["cafe"] == 30
    assert counts.words["30℃"] == 30
    assert counts.words["😂😂"] == 30
    assert not {"ＮＬＰ", "NLP", "\u200b"} & {*counts.words, *counts.characters}


def test_shards_counted_at_once_give_the_same(tmp_path):
    paths = [write_shard(tmp_path / f"{i}.jsonl.xz", [text]) for i, text in enumerate(TEXTS)]
    reported = []

    together = count_shards(paths, processes=2, report=lambda *counts: reported.append(counts))

    assert together == count_texts(TEXTS) == count_shards(paths)
    assert reported == [(done, len(paths)) for done in range(1, len(paths) + 1)]


@pytest.mark.timeout(60)
def test_a_process_that_is_killed_is_told(monkeypatch):
    monkeypatch.setattr(counting, "count_shard", signal.raise_signal)
    with pytest.raises(DataError, match=r"a process was killed .* with fewer --processes"):
        count_shards([signal.SIGKILL] * 2, processes=2)
