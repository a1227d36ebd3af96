"""The estimator of answers."""

from __future__ import annotations

import pytest

from zh_albert.errors import DataError
from zh_albert.estimators.reader import AlbertReader


@pytest.mark.parametrize("pairs", [[[], []], [["谁"]], "谁", [("谁", "好", "坏")]])
def test_what_is_no_pair_is_refused(pairs: list[list[str]]) -> None:
    with pytest.raises(DataError, match="expected pairs of question and context"):
        AlbertReader().fit(pairs, [None] * len(pairs))
