"""Hashed n-grams, and archives of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.encoded_texts import encode
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError
from zh_albert.tasks.ngrams import hashed_ngrams, packed, tokens_of, unpacked


def test_windows_count_each_token_once() -> None:
    text = "".join(chr(0x4E00 + i) for i in range(60))
    (short,), (long,) = encode([text], max_length=16), encode([text], max_length=128)

    assert len(short.windows) > 1
    assert tokens_of(short).tolist() == tokens_of(long).tolist()


def test_ngrams_are_told_apart_by_order_and_content() -> None:
    ids = np.array([7, 8, 7, 8, 8], np.uint64)
    names = hashed_ngrams(ids, 3).tolist()
    spelled = [tuple(ids[i : i + n].tolist()) for n in (1, 2, 3) for i in range(len(ids) - n + 1)]

    assert len(names) == len(spelled)
    assert len(set(names)) == len(set(spelled))
    assert all((a == b) == (names[i] == names[i + 1]) for i, (a, b) in enumerate(pairwise(spelled)))
    assert hashed_ngrams(np.zeros(0, np.uint64), 3).size == 0


@given(st.lists(st.integers(0, 2**32 - 1), unique=True))
def test_an_archive_keeps_names_and_numbers(
    tmp_path_factory: pytest.TempPathFactory, hashes: list[int]
) -> None:
    names = np.sort(np.array(hashes, np.uint32))
    path = tmp_path_factory.mktemp("archive") / NGRAMS
    content = packed(names, {"rarity": names.astype(np.float32)})
    path.write_bytes(content)
    found = unpacked(path)
    assert found["names"].dtype == np.uint32
    assert np.array_equal(found["names"], names)
    assert np.array_equal(found["rarity"], names.astype(np.float32))
    assert content == packed(names, {"rarity": names.astype(np.float32)}), "the same bytes"


@pytest.mark.parametrize(
    "content", [b"", b"no archive", packed(np.arange(99, dtype=np.uint32), {})]
)
def test_a_damaged_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NGRAMS).write_bytes(content[:-30])
    with pytest.raises(CheckpointError, match=r"ngrams\.npz: missing or damaged"):
        unpacked(tmp_path / NGRAMS)
