"""Sentences with marked entities for the bundled ner models."""

from __future__ import annotations

import random
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "recipes"))
from entity_lessons import SHARES
from entity_sentences import Maker, Piece, as_row, read_sentence

CLUENER = [
    [Piece("记者", "position"), Piece("李明华", "name"), Piece("在"), Piece("上海", "address")],
    [Piece("北京", "address"), Piece("的"), Piece("小米公司", "company"), Piece("没有回复。")],
]
MSRA = [
    [Piece("李明华", "PER"), Piece("在"), Piece("上海", "LOC"), Piece("说，")],
    [Piece("北京", "LOC"), Piece("的"), Piece("小米公司", "ORG"), Piece("没有回复。")],
]


@pytest.fixture
def makers() -> dict[str, Maker]:
    return {
        "cluener": Maker("cluener", CLUENER, random.Random(1)),
        "msra": Maker("msra", MSRA, random.Random(1)),
    }


def entities(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["text"][e["start"] : e["end"]], e["type"]) for e in row["entities"]]


@given(st.lists(st.tuples(st.text("甲乙，a ", min_size=1), st.sampled_from([None, "PER", "LOC"]))))
def test_rows_are_cut_into_pieces_and_joined_again(given: list[tuple[str, str | None]]) -> None:
    row = as_row([Piece(*piece) for piece in given], "x")
    assert as_row(read_sentence(row), "x") == row


@pytest.mark.parametrize("name", ["cluener", "msra"])
@pytest.mark.parametrize("kind", [kind for kind in SHARES if kind != "other_names"])
def test_entities_are_whole_and_of_known_types(
    makers: dict[str, Maker], name: str, kind: str
) -> None:
    known = {"PER", "LOC", "ORG"} if name == "msra" else None
    made = 0
    for _ in range(60):
        sentence = getattr(makers[name], kind)()
        if sentence:
            made += 1
            row = as_row(sentence, kind)
            assert not re.search("[{}*#]", row["text"])
            for text, of_type in entities(row):
                assert text == text.strip() != ""
                assert known is None or of_type in known
            assert all(a["end"] <= b["start"] for a, b in pairwise(row["entities"]))
    assert made


def test_of_a_nickname_msra_marks_the_surname_and_cluener_all(makers: dict[str, Maker]) -> None:
    surnames = 0
    for _ in range(40):
        (whole,) = [piece for piece in makers["cluener"]._nickname() if piece.type]
        assert len(whole.text) >= 2
        (part,) = [piece for piece in makers["msra"]._nickname() if piece.type]
        surnames += len(part.text) == 1
    assert surnames > 20


def test_an_address_is_one_entity_of_cluener_and_several_of_msra(makers: dict[str, Maker]) -> None:
    for _ in range(20):
        assert [piece.type for piece in makers["cluener"]._full_address()] == ["address"]
        parts = makers["msra"]._full_address()
        assert len(parts) >= 2
        assert {piece.type for piece in parts} == {"LOC"}


def test_other_names_are_of_the_same_type_and_alike() -> None:
    sentences = [
        [Piece(name, "address"), Piece("很大")] for name in ("甲市", "乙市", "丙市", "丁市")
    ]
    maker = Maker("cluener", [*sentences, [Piece("戊国", "address")]], random.Random(1))
    made = [sentence for sentence in (maker.other_names() for _ in range(50)) if sentence]
    assert made
    assert {sentence[0].text for sentence in made} <= {"甲市", "乙市", "丙市", "丁市"}


def test_a_name_that_stands_twice_is_replaced_by_the_same() -> None:
    names = [[Piece(name, "name")] for name in ("王小明", "李小明", "张小明", "赵小明")]
    twice = [Piece("王小明", "name"), Piece("和"), Piece("王小明", "name")]
    maker = Maker("cluener", [*names, twice], random.Random(1))
    for _ in range(60):
        sentence = maker.other_names()
        if sentence and len(sentence) == 3:
            assert sentence[0] == sentence[2]
