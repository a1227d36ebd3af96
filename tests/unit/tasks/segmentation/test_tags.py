"""BMES tags of words, and words of tags."""

from __future__ import annotations

import itertools

import pytest

from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.tags import (
    BEGIN,
    END,
    MIDDLE,
    SINGLE,
    TAGS,
    legal_transitions,
    tags_of,
    words_of,
)

CHARACTERS = [(place, place + 1) for place in range(6)]


def spans(*words: str) -> list[WordSpan]:
    ends = list(itertools.accumulate(map(len, words)))
    return [WordSpan(end - len(word), end) for word, end in zip(words, ends, strict=True)]


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        (["他", "从", "马上", "下来"], "SSBEBE"),
        (["一二三四五六"], "BMMMME"),
        (["一二三", "四", "五六"], "BMESBE"),
        (list("一二三四五六"), "SSSSSS"),
    ],
)
def test_words_of_characters_and_their_tags_are_each_others_inverse(
    words: list[str], tags: str
) -> None:
    found = tags_of(spans(*words), CHARACTERS)
    assert "".join(TAGS[tag] for tag in found) == tags
    assert words_of("".join(words), found, CHARACTERS) == spans(*words)


def test_every_way_to_cut_a_text_comes_back_and_is_legal() -> None:
    text, transitions = "一二三四五六", legal_transitions()
    for cuts in itertools.product([False, True], repeat=5):
        borders = [0, *(place for place, cut in enumerate(cuts, 1) if cut), 6]
        words = [WordSpan(*pair) for pair in itertools.pairwise(borders)]
        tags = tags_of(words, CHARACTERS)
        assert words_of(text, tags, CHARACTERS) == words
        assert transitions.start[tags[0]]
        assert transitions.end[tags[-1]]
        assert all(transitions.between[pair] for pair in itertools.pairwise(tags))


def test_a_border_inside_a_token_cannot_be_marked() -> None:
    words, offsets = spans("一", "apple", "pie"), [(0, 1), (1, 9)]
    assert tags_of(words, offsets) == [SINGLE, SINGLE]
    assert words_of("一applepie", [SINGLE, SINGLE], offsets) == [WordSpan(0, 1), WordSpan(1, 9)]


def test_white_space_ends_a_word_and_belongs_to_none() -> None:
    offsets = [(1, 2), (3, 4)]
    assert words_of(" 我\u3000们 ", [BEGIN, END], offsets) == [WordSpan(1, 2), WordSpan(3, 4)]
    assert words_of(" \n", [], []) == words_of("", [], []) == []


def test_what_no_token_stands_for_goes_with_the_word_before_it() -> None:
    offsets = [(0, 1), (2, 3)]  # a control character between them
    assert words_of("我\x07们", [SINGLE, SINGLE], offsets) == [WordSpan(0, 2), WordSpan(2, 3)]
    assert words_of("\x07我", [SINGLE], [(1, 2)]) == [WordSpan(0, 1), WordSpan(1, 2)]
    assert words_of("\x07\x07", [], []) == [WordSpan(0, 2)]


def test_a_text_without_tokens_has_no_tags() -> None:
    assert tags_of([], []) == []
    assert tags_of([WordSpan(0, 1)], []) == []


def test_tags_and_tokens_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="zip"):
        words_of("我们", [BEGIN, END], [(0, 2)])


def test_words_are_begun_and_ended() -> None:
    transitions = legal_transitions()
    assert transitions.start.tolist() == [True, False, False, True]
    assert transitions.end.tolist() == [False, False, True, True]
    assert transitions.between[BEGIN].tolist() == transitions.between[MIDDLE].tolist()
    assert transitions.between[END].tolist() == transitions.between[SINGLE].tolist()
