"""Counting characters and words."""

from __future__ import annotations

import json
import lzma

from corpora_tools.counting import count_shards, count_texts

TEXTS = [
    "ＮＬＰ是自然语言处理，用Python和python3。" * 30,
    "气温30℃，①好②坏，😂😂！Café\u200b里有臺灣人。" * 30,
    "罕見字龘一次。",
]


def write_shard(path, texts):
    rows = [json.dumps({"text": text, "domain": "d"}, ensure_ascii=False) for text in texts]
    content = "\n".join(rows).encode() + b"\n"
    path.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)
    return path


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
