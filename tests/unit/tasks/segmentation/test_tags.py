"""Words as tags of tokens, and tags as words of the text."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.model.crf import fixed_moves, viterbi
from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.tags import TAGS, legal_moves, tags_of, words_of

lengths = st.lists(st.integers(1, 5), min_size=1, max_size=8)


def spans(sizes: list[int]) -> list[WordSpan]:
    ends = [sum(sizes[: n + 1]) for n in range(len(sizes))]
    return [WordSpan(end - size, end) for size, end in zip(sizes, ends, strict=True)]


@given(sizes=lengths)
def test_words_come_back_from_the_tags_of_their_characters(sizes: list[int]) -> None:
    words, text = spans(sizes), "字" * sum(sizes)
    offsets = [(n, n + 1) for n in range(len(text))]
    assert words_of(text, tags_of(words, offsets), offsets) == words


@given(text=st.text(alphabet="好a \t。", max_size=12), data=st.data())
def test_any_tags_cover_all_visible_characters_once(text: str, data: st.DataObject) -> None:
    offsets = [(n, n + 1) for n, character in enumerate(text) if not character.isspace()]
    tags = [data.draw(st.integers(0, 3)) for _ in offsets]
    covered = [n for start, end in words_of(text, tags, offsets) for n in range(start, end)]
    assert covered == [start for start, _ in offsets]


def test_a_border_inside_a_token_is_not_marked() -> None:
    words, offsets = [WordSpan(0, 2), WordSpan(2, 4), WordSpan(4, 5)], [(0, 1), (1, 3), (3, 5)]
    assert "".join(TAGS[tag] for tag in tags_of(words, offsets)) == "BES"


def test_no_tokens_no_tags() -> None:
    assert tags_of([], []) == []
    assert words_of(" ", [], []) == []


def test_decoded_tags_are_always_legal() -> None:
    moves = fixed_moves(legal_moves())
    torch.manual_seed(0)
    for length in range(1, 7):
        (path,) = viterbi(torch.randn(1, length, 4), torch.ones(1, length, dtype=torch.bool), moves)
        tags = "".join(TAGS[int(tag)] for tag in path[:length])
        while tags:  # a word after the other
            word = tags[: tags.find("E") + 1] if tags[0] == "B" else tags[:1]
            assert word == "S" or (word[0], word[-1], set(word[1:-1]) <= {"M"}) == ("B", "E", True)
            tags = tags[len(word) :]
