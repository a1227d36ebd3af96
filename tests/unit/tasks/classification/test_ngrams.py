"""N-grams of texts and pairs, and the files they are kept in."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.encoded_texts import encode
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError
from zh_albert.tasks.classification.ngram_learning import (
    fit_ngram_classifier,
)
from zh_albert.tasks.classification.ngrams import NgramClassifier, counted, features_of, weighed
from zh_albert.tasks.ngrams import hashed_ngrams, packed, unpacked
from zh_albert.tasks.windows import (
    WindowConfig,
    encode_mirrored,
    encode_pair,
)
from zh_albert.tokenization.tokenizer import default_tokenizer


def test_ngrams_weigh_nearly_the_same_in_8_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weights = (rng.standard_normal((500, 3)) ** 3).astype(np.float32)
    weights[:, 2] = 0
    names = np.sort(rng.integers(2**32, size=500, dtype=np.uint32))
    ones = np.ones(500, np.float32)
    ngrams = NgramClassifier(names, ones, weights, np.ones(3, np.float32), orders=3)
    (tmp_path / NGRAMS).write_bytes(ngrams.to_bytes())
    found = NgramClassifier.load(tmp_path / NGRAMS, 3).weights

    largest = np.abs(weights).max(0)
    assert (np.abs(found - weights) <= np.sqrt(np.abs(weights) * largest) / 100 + 1e-3).all()
    assert (tmp_path / NGRAMS).stat().st_size < 500 * (4 + 2 + 3) + 600


SUBJECTS = ["房间", "早餐", "服务", "位置", "价格", "电视", "毛巾", "前台"]
TEXTS = [f"{subject}{word}" for subject in SUBJECTS for word in ("很好很好", "太差了", "一般吧")]
LABELS = ["good", "bad", "middling"] * len(SUBJECTS)
CLASSES = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
ALIKE = np.ones(len(TEXTS), np.float32)


def test_the_length_of_ngrams_is_kept(tmp_path: Path) -> None:
    ngrams = replace(fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE), orders=4)
    for exact in (False, True):
        (tmp_path / NGRAMS).write_bytes(ngrams.to_bytes(exact=exact))
        assert NgramClassifier.load(tmp_path / NGRAMS, 3).orders == 4
    older = unpacked(tmp_path / NGRAMS)
    del older["orders"]  # files of versions before have n-grams of three tokens at most
    (tmp_path / NGRAMS).write_bytes(packed(older.pop("names"), older))
    assert NgramClassifier.load(tmp_path / NGRAMS, 3).orders == 3


def test_of_a_pair_what_the_second_adds_and_what_both_share_counts() -> None:
    def features(first: str, second: str, max_length: int = 32) -> set[int]:
        tokenizer = default_tokenizer()
        window = WindowConfig(max_length=max_length, stride=2)
        sides = (tokenizer.encode_batch([text])[0] for text in (first, second))
        return set(features_of(encode_pair(*sides, tokenizer.special, window), 3).tolist())

    none, half, all_ = (features(first, "甲乙") for first in ("丙丁", "甲丁", "甲乙"))
    new, of_each = 3, (11, 11)  # 甲, 乙, 甲乙; shares of 0 to 10 tenths of both
    assert len(none) == 3 + new + 2
    assert len(all_) == 3 + 0 + sum(of_each)
    assert len(half & none) == 3 + 2 + 2  # of what is new, 甲 is not
    assert features("甲乙", "丙丁") != none  # the order of the two matters
    long = "".join(chr(0x4E00 + i) for i in range(40))
    assert features(long, "甲乙", 16) >= features(long, "甲乙", 64) - features(long, long, 64)


def test_of_a_mirrored_pair_the_order_does_not_matter() -> None:
    def features(first: str, second: str) -> list[int]:
        tokenizer = default_tokenizer()
        window = WindowConfig(max_length=32, stride=0)  # n-grams at the borders are cut
        sides = (tokenizer.encode_batch([text])[0] for text in (first, second))
        found = features_of(encode_mirrored(*sides, tokenizer.special, window), 3)
        return sorted(found.tolist())

    none, half, all_ = (features(first, "甲乙") for first in ("丙丁戊", "甲丁", "甲乙"))
    assert len(none) == 6 + 3 + 2  # 丙, 丁, 戊, 丙丁, 丁戊, 丙丁戊; 甲, 乙, 甲乙; shares of 0
    assert len(half) == 1 + (2 + 2) + (4 + 4)  # 甲; 丁, 甲丁, 乙, 甲乙; 3 tenths of each
    assert len(all_) == 3 + (11 + 11)  # 甲, 乙, 甲乙; 10 tenths of each
    for first in ("丙丁戊", "甲丁", "甲乙", "甲乙丙丁", "甲乙" * 9 + "丙", "丁甲" * 30):
        for second in ("甲乙", "乙丙甲" * 12):
            assert features(first, second) == features(second, first)


def test_a_text_without_known_ngrams_has_an_empty_bag() -> None:
    names = np.sort(hashed_ngrams(np.array([5], np.uint64), 3))
    bags = weighed(counted(encode(["天气"]), 3), names, np.ones(1, np.float32))

    assert bags.ends.tolist() == [0, 0]
    assert not math.isnan(bags.values.sum())


def test_an_archive_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / NGRAMS).write_bytes(packed(np.arange(9, dtype=np.uint32), {}))
    with pytest.raises(CheckpointError, match="has no 'rarity'"):
        NgramClassifier.load(tmp_path / NGRAMS, 2)


@pytest.mark.parametrize(
    ("orders", "problem"),
    [
        (np.array([4, 4]), "expected orders to be a whole number"),
        (np.array(0), "expected orders to be a whole number"),
        (np.array(2.5), "expected orders to be a whole number"),
        (np.array("4"), "orders.npy holds <U1, expected numbers"),
    ],
)
def test_a_length_of_ngrams_that_is_none_is_refused(
    tmp_path: Path, orders: np.ndarray[Any, Any], problem: str
) -> None:
    fitted = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)
    (tmp_path / NGRAMS).write_bytes(fitted.to_bytes())
    found = unpacked(tmp_path / NGRAMS) | {"orders": orders}
    (tmp_path / NGRAMS).write_bytes(packed(found.pop("names"), found))
    with pytest.raises(CheckpointError, match=problem):
        NgramClassifier.load(tmp_path / NGRAMS, 3)
