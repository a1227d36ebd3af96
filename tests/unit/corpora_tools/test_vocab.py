"""Choosing the rows of a vocabulary, and its coverage."""

from __future__ import annotations

import pytest

from corpora_tools.counting import CorpusCounts, count_texts, read_rows
from corpora_tools.vocab import Coverage, build_rows, gb2312_characters, measure_coverage
from tests.helpers.corpus_shards import TEXTS
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary


def test_rows_are_ordered_unique_and_of_the_right_kind():
    rows = build_rows(count_texts(TEXTS), min_count=20, latin_pieces=80)
    tokens = [row for chosen in rows.values() for row in chosen]

    assert Vocabulary(tokens).tokens[:5] == SPECIAL_TOKENS
    assert tokens[5:21] == [f"[unused{i}]" for i in range(16)]
    assert len(tokens) % 64 == 0
    assert {"℃", "##℃", "①", "##①", "😂", "##😂", "python", "##3", "“", "龘"} - set(tokens) == {
        "龘"
    }
    assert {"臺", "灣"} <= set(rows["chinese"])  # traditional, but frequent here
    assert gb2312_characters() <= set(rows["chinese"])
    assert {*rows["chinese"][:30]} >= {"自", "然", "语"}  # the frequent ones come first
    assert not [t for t in tokens if t.startswith("##") and "\u4e00" <= t[2:] <= "\u9fff"]


def test_the_same_counts_give_the_same_rows():
    counts = count_texts(TEXTS)
    shuffled = CorpusCounts(
        type(counts.characters)(dict(reversed(counts.characters.items()))),
        type(counts.words)(dict(reversed(counts.words.items()))),
        counts.texts,
    )

    assert build_rows(counts, latin_pieces=90) == build_rows(shuffled, latin_pieces=90)


def test_gb2312_has_its_6763_characters():
    characters = gb2312_characters()

    assert len(characters) == 6_763
    assert {"啊", "齄"} <= characters


def test_coverage_counts_characters_not_tokens():
    measured = measure_coverage(default_tokenizer(), ["好 𠮷𠮷\u200b", "𒀀abc", ""])

    assert measured == Coverage(characters=8, unknown=3, dropped=1)
    assert measured.share == 0.625
    assert Coverage().share == 1.0


@pytest.mark.slow
@pytest.mark.data
def test_the_packaged_vocabulary_knows_the_heldout_text(data):
    rows = read_rows(data / "corpus" / "heldout.jsonl.xz")

    measured = measure_coverage(default_tokenizer(), (row["text"] for row in rows))

    assert measured.share >= 0.999
