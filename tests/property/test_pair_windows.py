"""Pairs of any lengths in windows: nothing is cut, nothing is too long, what fits is one window."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from zh_albert.tasks.classification.marked_spans import mark_spans
from zh_albert.tasks.windows import WindowConfig, encode_mirrored, encode_pair
from zh_albert.tokenization.encoding import Encoding, SpecialIds

SPECIAL = SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4)


@st.composite
def settings(draw: st.DrawFn) -> WindowConfig:
    max_length = draw(st.integers(5, 40))
    return WindowConfig(max_length=max_length, stride=draw(st.integers(0, max_length - 3)))


@given(first=st.integers(1, 90), second=st.integers(1, 90), window=settings())
def test_every_token_of_both_texts_is_read(first: int, second: int, window: WindowConfig) -> None:
    ids = [range(10, 10 + first), range(1000, 1000 + second)]
    pair = encode_pair(*(Encoding([*text], []) for text in ids), SPECIAL, window)

    read: list[set[int]] = [set(), set()]
    for one, part in zip(pair.windows, pair.parts, strict=True):
        assert len(one) <= window.max_length
        assert len(one.first) > 0
        assert len(one.second) > 0
        left, right = (
            one.token_ids[places.start : places.stop] for places in (one.first, one.second)
        )
        assert one.token_ids == [2, *left, 3, *right, 3]
        assert one.type_ids == [0] * (len(left) + 2) + [1] * (len(right) + 1)
        assert left == [*ids[0][part.start : part.stop]]
        read[0].update(left)
        read[1].update(right)
    assert read == [set(ids[0]), set(ids[1])]
    if first + second <= window.max_length - 3:
        assert len(pair.windows) == 1


@given(long=st.integers(60, 200), short=st.integers(1, 14), swapped=st.booleans())
def test_a_short_text_stands_whole_beside_every_part_of_a_long_one(
    long: int, short: int, swapped: bool
) -> None:
    lengths = (short, long) if swapped else (long, short)
    window = WindowConfig(max_length=32, stride=8)
    pair = encode_pair(*(Encoding([9] * n, []) for n in lengths), SPECIAL, window)
    for one in pair.windows:
        assert len(one.first if swapped else one.second) == short
        assert len(one) == 32


@given(first=st.integers(1, 90), second=st.integers(1, 90), window=settings())
def test_a_mirrored_pair_is_read_in_each_order(
    first: int, second: int, window: WindowConfig
) -> None:
    left, right = Encoding([*range(10, 10 + first)], []), Encoding([*range(500, 500 + second)], [])
    there, back = (encode_pair(*pair, SPECIAL, window) for pair in ((left, right), (right, left)))

    mirrored = encode_mirrored(left, right, SPECIAL, window)

    assert mirrored.readings == [there, back]
    assert mirrored.windows == there.windows + back.windows
    assert encode_mirrored(right, left, SPECIAL, window).readings == [back, there]
    assert there.readings == [there]


@given(first=st.integers(1, 300), window=settings(), tokens=st.integers(1, 200), seed=st.integers())
def test_training_reads_as_many_windows_of_a_text_as_a_batch_has_room_for(
    first: int, window: WindowConfig, tokens: int, seed: int
) -> None:
    text = encode_pair(Encoding([9] * first, []), Encoding([8], []), SPECIAL, window)

    drawn = text.drawn(tokens, random.Random(seed))

    fits = text.size.rows * text.size.length <= tokens
    assert (drawn is text) == (fits or len(text.windows) == 1)
    assert len(drawn.windows) == 1 or drawn.size.rows * text.size.length <= tokens
    assert drawn.size.rows == text.size.within(tokens).rows
    kept = [text.parts.index(part) for part in drawn.parts]
    assert kept == sorted(set(kept))
    assert drawn.windows == [text.windows[index] for index in kept]


@given(st.data())
def test_marks_stand_around_their_spans_and_change_nothing_else(data: st.DataObject) -> None:
    text = data.draw(st.text("小明说他饿了a ", min_size=1, max_size=12))
    spans = []
    for _ in range(2):
        start = data.draw(st.integers(0, len(text) - 1))
        spans.append(range(start, data.draw(st.integers(start + 1, len(text)))))
    marked = mark_spans(text, *spans)
    inner = [
        piece.translate({ord(mark): None for mark in "_[]"})
        for piece in (
            marked[marked.index("_") + 1 : marked.rindex("_")],
            marked[marked.index("[") + 1 : marked.rindex("]")],
        )
    ]
    assert inner == [text[span.start : span.stop] for span in spans]
    assert marked.translate({ord(mark): None for mark in "_[]"}) == text
    first, second = spans
    apart = first.stop <= second.start or second.stop <= first.start
    nested = {*first} <= {*second} or {*second} <= {*first}
    if apart or nested:  # a mark between the others has its partner there, too
        closed = marked[marked.index("_") : marked.rindex("_")]
        assert closed.count("[") == closed.count("]")
