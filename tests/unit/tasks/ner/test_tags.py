"""Sets of tags: which follow each other, and entities from tags and back."""

from __future__ import annotations

import itertools

import pytest

from tests.helpers.entity_heads import SPANS
from zh_albert.errors import CheckpointError
from zh_albert.tasks.ner.alignment import TokenSpan
from zh_albert.tasks.ner.tags import TagSet

BIOES, BIO = TagSet.of("ab"), TagSet.of("ab", "bio")
READ = {
    "bioes": BIOES,
    "bio": BIO,
    "bios": TagSet.read(["B-a", "S-a", "I-a", "S-b", "O", "I-b", "B-b"]),
    "bmes": TagSet.read(["E_a", "M_a", "B_a", "S_a", "B_b", "M_b", "E_b", "S_b", "O"]),
    "bilou": TagSet.read(["O", *(f"{part}-{kind}" for kind in "ab" for part in "BILU")]),
}


def names_of(tags: TagSet, allowed: object) -> set[str]:
    assert hasattr(allowed, "tolist")
    return {name for name, legal in zip(tags.names, allowed.tolist(), strict=True) if legal}


def test_legal_transitions_are_those_of_bioes() -> None:
    legal, first = BIOES.legal, {"O", "B-a", "S-a", "B-b", "S-b"}
    assert names_of(BIOES, legal.start) == first
    assert names_of(BIOES, legal.end) == {"O", "E-a", "S-a", "E-b", "S-b"}
    for tag, name in enumerate(BIOES.names):
        begun = name in {"B-a", "I-a", "B-b", "I-b"}
        expected = {f"I-{name[-1]}", f"E-{name[-1]}"} if begun else first
        assert names_of(BIOES, legal.between[tag]) == expected


def test_legal_transitions_are_those_of_bio() -> None:
    legal, first = BIO.legal, {"O", "B-a", "B-b"}
    assert names_of(BIO, legal.start) == first
    assert legal.end.all()
    for tag, name in enumerate(BIO.names):
        goes_on = set() if name == "O" else {f"I-{name[-1]}"}
        assert names_of(BIO, legal.between[tag]) == first | goes_on


@pytest.mark.parametrize("tags", READ.values(), ids=READ)
def test_tags_and_entities_are_each_others_inverse(tags: TagSet) -> None:
    assert tags.types == ("a", "b")
    adjacent = [TokenSpan(0, 1, 0), TokenSpan(2, 2, 0), TokenSpan(3, 5, 0), TokenSpan(6, 7, 1)]
    for spans in (SPANS, adjacent):
        numbers = tags.of_spans(spans, 17)
        assert list(tags.spans_of(numbers)) == spans
        legal = tags.legal
        assert legal.start[numbers[0]]
        assert legal.end[numbers[-1]]
        assert all(legal.between[a, b] for a, b in itertools.pairwise(numbers))


@pytest.mark.parametrize(
    ("tags", "written", "expected"),
    [
        # What does not begin or does not end is no entity.
        (BIOES, "I-a E-a B-a E-b B-a O B-a B-a E-a", [TokenSpan(7, 8, 0)]),
        (BIO, "I-a O B-a I-b I-a B-b", [TokenSpan(2, 2, 0), TokenSpan(5, 5, 1)]),
    ],
)
def test_broken_sequences(tags: TagSet, written: str, expected: list[TokenSpan]) -> None:
    numbers = [tags.names.index(name) for name in written.split()]
    assert list(tags.spans_of(numbers)) == expected


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["NOUN", "VERB", "O"], "'NOUN'"),
        (["LABEL_0", "LABEL_1"], "'LABEL_0'"),
        (["B", "I", "O"], "'B'"),
        (["O", "B-a", "I-a", "[SEP]"], r"'\[SEP\]'"),
        (["B-a", "I-a"], "0 tags O and 1 types"),
        (["O"], "1 tags O and 0 types"),
        (["O", "I-a", "I-b"], "no tag for the begin of 'a'"),
        (["O", "B-a", "I-a", "E-a"], "end tags without single ones"),
        (["O", "B-a", "I-a", "M-a"], "two tags for the same part of 'a'"),
        (["O", "B-a", "B_a"], "two tags for the same part of 'a'"),
    ],
)
def test_other_tags_are_refused_by_name(names: list[str], found: str) -> None:
    with pytest.raises(CheckpointError, match=f"one scheme .* found {found}; name them so in id2"):
        TagSet.read(names)
