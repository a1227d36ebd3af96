"""Semantic search: what is nearest comes first, and texts keep their places."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.counting_embedder import Counting
from zh_albert import load
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.embedding.search import SemanticSearch


def test_the_nearest_come_first_and_equals_in_their_order() -> None:
    search = SemanticSearch(Counting(), ["上", "", "上中", "中中", "上", "下"])
    hits = search("上")

    assert [hit.index for hit in hits] == [0, 4, 2, 3, 5]
    assert [hit.text for hit in hits] == ["上", "上", "上中", "中中", "下"]
    assert [hit.cosine for hit in hits] == pytest.approx([1, 1, 2**-0.5, 0, 0])
    assert search.unread == 1
    assert [hit.index for hit in search("中", top_k=2)] == [3, 2]


def test_a_question_with_nothing_to_read_is_refused_and_no_texts_give_no_hits() -> None:
    with pytest.raises(DataError, match="the question is empty"):
        SemanticSearch(Counting(), ["上"])("左")
    assert SemanticSearch(Counting(), [])("上") == []
    assert SemanticSearch(Counting(), ["左"])("上") == []


def test_question_and_texts_are_cut_to_the_same_width() -> None:
    embedder = Counting()
    assert SemanticSearch(embedder, ["上下", "中"], width=2)("上")[0].cosine == pytest.approx(1)
    assert embedder.asked == [2, 2]


def test_what_cannot_be_searched_is_said_in_a_line() -> None:
    with pytest.raises(ConfigError, match=r"of sentence vectors, .* found 'embedder'"):
        SemanticSearch("embedder", ["上"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="top_k: expected a whole number of at least 1, found 0"):
        SemanticSearch(Counting(), ["上"])("上", top_k=0)
    with pytest.raises(DataError, match=r"question: expected a string, found list: \['上'\]"):
        SemanticSearch(Counting(), ["上"])(["上"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="texts: expected a string or a list of them, found dict"):
        SemanticSearch(Counting(), {"上": 1})
    assert [hit.text for hit in SemanticSearch(Counting(), "上中")("上")] == ["上中"]


def test_a_cosine_is_at_most_1() -> None:
    embedder = load("embedder")
    texts = ["a", "怎么退货", "房间很干净", "几点开门"]
    search = SemanticSearch(embedder, texts)
    assert all(search(text)[0].cosine <= 1 for text in texts)


def test_equal_texts_are_equally_near_wherever_they_stand() -> None:
    hits = SemanticSearch(load("embedder"), ["怎么退货"] * 7)("退货", top_k=7)
    assert [hit.index for hit in hits] == [*range(7)]
    assert len({hit.cosine for hit in hits}) == 1


@pytest.mark.parametrize(
    ("width", "error", "problem"),
    [
        (5000, ConfigError, "width must be from 1 to 384, the vectors' width; got 5000"),
        ("64", DataError, "width: expected a whole number of at least 1, found '64'"),
        (64.0, DataError, "width: expected a whole number"),
        (0, DataError, "width: expected a whole number"),
    ],
)
def test_a_width_that_vectors_do_not_have_is_refused(
    width: Any, error: type[Exception], problem: str
) -> None:
    embedder = load("embedder")
    for use in (
        lambda: embedder.encode([], width=width),
        lambda: embedder.stream([], width=width),
        lambda: SemanticSearch(embedder, ["a"], width=width),
    ):
        with pytest.raises(error, match=problem):
            use()
