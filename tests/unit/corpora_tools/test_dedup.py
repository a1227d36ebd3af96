"""Signatures, equal documents."""

from __future__ import annotations

import random

import numpy as np
import pytest
from datatrove.data import Document
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature

from corpora_tools.dedup import (
    CharacterTokenizer,
    DigestDocuments,
    DropEqual,
    FindEqual,
    SignDocuments,
)


def test_a_signature_in_chunks_is_datatroves_own(tmp_path):
    config = MinhashConfig(num_buckets=3, hashes_per_bucket=2)
    text = "".join(random.Random(0).choices("春夏秋冬风花雪月山水", k=20_000))
    ours = SignDocuments(tmp_path, config)
    theirs = MinhashDedupSignature(str(tmp_path), config, language=CharacterTokenizer())
    shingles = ours.get_shingles(text)

    assert len(shingles) > 3 * 4096
    assert ours.get_signature(shingles) == theirs.get_signature(shingles)
    assert ours.get_shingles("太短").shape == (0, 1)


def test_likeness_is_what_the_hashes_estimate(tmp_path):
    step = SignDocuments(tmp_path, MinhashConfig(num_buckets=256, hashes_per_bucket=1))
    rng = random.Random(1)
    signs = [chr(code) for code in range(0x4E00, 0x9000)]
    first = "".join(rng.choices(signs, k=400))
    second = first[:300] + "".join(rng.choices(signs, k=100))
    a, b = (step.get_shingles(text) for text in (first, second))
    similarities = len(np.intersect1d(a, b)) / len(np.union1d(a, b))

    agree = np.mean(np.array(step.get_signature(a)) == np.array(step.get_signature(b)))

    assert agree == pytest.approx(similarities, abs=0.1)


def test_the_tokenizer_counts_characters_and_keeps_sentences():
    tokenizer = CharacterTokenizer()
    assert tokenizer.word_tokenize("Go，2024 年！") == ["g", "o", "年"]
    assert tokenizer.sent_tokenize("好。走！") == ["好。", "走！"]
    assert tokenizer.span_tokenize("好。走！") == [(0, 2), (2, 4)]


def test_the_first_of_equal_documents_stays_across_tasks(tmp_path):
    tasks = [["甲乙丙", "丁"], [], ["丁！", "甲 乙丙 1", "戊"]]
    digests, marks = tmp_path / "digests", tmp_path / "marks"
    for rank, texts in enumerate(tasks):
        DigestDocuments(digests).run((Document(text, str(rank)) for text in texts), rank)
    FindEqual(digests, marks, 3).run()

    kept = []
    for rank, texts in enumerate(tasks):
        step = DropEqual(marks)
        kept.append([d.text for d in step.run((Document(t, "") for t in texts), rank)])

    assert kept == [["甲乙丙", "丁"], [], ["戊"]]
    assert step.stats["dropped_equal"].total == 2
