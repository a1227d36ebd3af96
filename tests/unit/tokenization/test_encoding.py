"""Model inputs: special tokens, padding, windows."""

from __future__ import annotations

import numpy as np
import pytest

from zh_albert.errors import ConfigError
from zh_albert.tokenization.encoding import (
    Encoding,
    SpecialIds,
    build_input,
    pad,
    room_of_each,
    windows,
)
from zh_albert.tokenization.tokenizer import default_tokenizer

SPECIAL = SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4)

# Model inputs


def test_special_tokens_are_put_around_one_text_and_a_pair():
    single = build_input(SPECIAL, [7, 8])
    pair = build_input(SPECIAL, [7, 8], [9])
    empty = build_input(SPECIAL, [])

    assert (single.token_ids, single.type_ids) == ([2, 7, 8, 3], [0] * 4)
    assert (pair.token_ids, pair.type_ids) == ([2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1])
    assert [pair.token_ids[i] for i in (*pair.first, *pair.second)] == [7, 8, 9]
    assert empty.token_ids == [2, 3]


def test_inputs_are_padded_to_a_rectangle():
    batch = pad([build_input(SPECIAL, [7]), build_input(SPECIAL, [7], [8])], 0, multiple_of=8)

    assert batch.token_ids.tolist() == [[2, 7, 3, 0, 0, 0, 0, 0], [2, 7, 3, 8, 3, 0, 0, 0]]
    assert batch.mask.sum(axis=1).tolist() == [3, 5]
    assert batch.type_ids.sum() == 2
    assert batch.token_ids.dtype == np.int64
    assert pad([], 0).token_ids.shape == (0, 0)


@pytest.mark.parametrize(("max_tokens", "stride"), [(0, 0), (4, 4), (4, -1)])
def test_windows_that_cannot_move_are_refused(max_tokens, stride):
    with pytest.raises(ConfigError, match="must be"):
        windows(Encoding([1] * 9, [(0, 1)] * 9), max_tokens, stride)


def test_an_empty_text_has_one_empty_window():
    assert windows(Encoding([], []), 5, 2) == [range(0)]
    with pytest.raises(ConfigError, match="at least 0, got -1"):
        room_of_each(1, 1, -1)


def test_a_part_keeps_the_offsets_of_the_whole():
    encoding = default_tokenizer().encode("一二三四")

    assert encoding.part(range(1, 3)).offsets == [(1, 2), (2, 3)]


def test_tokens_reach_over_the_marks_behind_them_up_to_the_next_token():
    text = "Jose\u0301\ufe0f和é\u0302\u0301"
    encoding = Encoding([1, 2, 3, 3, 4], [(0, 4), (6, 7), (7, 8), (7, 8), (9, 10)])

    reaching = encoding.over_marks(text)
    assert reaching.ids == encoding.ids
    assert reaching.offsets == [(0, 6), (6, 7), (7, 9), (7, 9), (9, 10)]
    assert encoding.over_marks("没有符号的文本") is encoding
