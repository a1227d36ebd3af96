"""Entities between characters and tokens."""

from __future__ import annotations

from zh_albert.tasks.ner.alignment import (
    ScoredSpan,
    SkippedEntities,
    TokenSpan,
    flat,
    to_characters,
    to_tokens,
)
from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tokenization.tokenizer import default_tokenizer

IDS = {"LOC": 0, "PER": 1}


def tokens_of(
    text: str, entities: list[tuple[int, int, str]]
) -> tuple[list[TokenSpan], SkippedEntities]:
    skipped = SkippedEntities()
    offsets = default_tokenizer().encode(text).offsets
    return to_tokens([EntitySpan(*entity) for entity in entities], offsets, IDS, skipped), skipped


def test_an_edge_inside_a_word_is_moved_to_its_tokens_and_counted() -> None:
    text = "他说Johnson来了"
    offsets = default_tokenizer().encode(text).offsets
    spans, skipped = tokens_of(text, [(0, 1, "PER"), (2, 5, "PER")])
    first, last = spans[1].first, spans[1].last
    assert offsets[first][0] == 2
    assert offsets[last][0] < 5 < offsets[last][1]
    assert (skipped.entities, skipped.moved, skipped.unread) == (2, 1, 0)
    assert str(skipped).startswith("of 2 training entities 1 taught with the edges of tokens")


def test_an_entity_without_a_token_is_dropped_and_counted() -> None:
    spans, skipped = tokens_of("好\u200b\ufffd的", [(1, 3, "LOC"), (3, 4, "LOC")])
    assert len(spans) == 1
    assert skipped.unread == 1


def test_the_tokens_of_entities_give_the_entities_back() -> None:
    text = "在 Ｓan Francisco，𠮷野家😀和杭州"
    entities = [(2, 15, "LOC"), (16, 19, "PER"), (21, 23, "LOC")]
    spans, skipped = tokens_of(text, entities)
    scored = [ScoredSpan(*span, 0.5) for span in spans]
    found = to_characters(scored, default_tokenizer().encode(text).offsets, list(IDS))
    assert [tuple(entity) for entity, _ in found] == entities
    assert str(skipped) == ""


def test_entities_that_share_a_character_are_one_or_the_likelier() -> None:
    offsets = [(0, 1), (1, 2), (1, 2), (2, 2), (2, 3)]  # one character became two tokens
    same = [ScoredSpan(1, 1, 0, 0.3), ScoredSpan(2, 2, 0, 0.6), ScoredSpan(3, 3, 0, 0.9)]
    assert to_characters(same, offsets, list(IDS)) == [(EntitySpan(1, 2, "LOC"), 0.6)]
    beside = [ScoredSpan(0, 1, 0, 0.3), ScoredSpan(2, 4, 1, 0.6)]
    assert flat(to_characters(beside, offsets, list(IDS))) == [(EntitySpan(1, 3, "PER"), 0.6)]


def test_the_white_space_before_an_entity_is_not_the_entitys() -> None:
    offsets = [(0, 0), (0, 1), (1, 1), (2, 3)]  # "中\n文" in SentencePiece: each ▁ has no character
    spans = [ScoredSpan(0, 1, 0, 0.3), ScoredSpan(2, 3, 1, 0.6), ScoredSpan(2, 2, 0, 0.9)]
    expected = [(EntitySpan(0, 1, "LOC"), 0.3), (EntitySpan(2, 3, "PER"), 0.6)]
    assert to_characters(spans, offsets, list(IDS)) == expected
