"""A NumPy file of vectors, written without knowing how many there will be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zh_albert.inference.answered_tables import answered_table
from zh_albert.tasks.embedding.predictor import Embedder


@pytest.mark.parametrize("rows", [1, 2, 9, 10, 1234])
def test_each_row_has_its_vector_and_one_that_failed_is_nan(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "a.npy"
    with answered_table(path, kinds=Embedder.written_as) as table:
        table.write("", {"vector": [], "error": "empty"})
        for number in range(rows):
            table.write("text", {"vector": [number, 0.5]})
        table.write("", {"vector": [], "error": "empty"})
    found = np.load(path)
    assert (found.dtype, found.shape) == (np.float32, (rows + 2, 2))
    assert np.isnan(found[[0, -1]]).all()
    np.testing.assert_array_equal(found[1:-1], [[number, 0.5] for number in range(rows)])


def test_without_any_vector_the_file_has_no_columns(tmp_path: Path) -> None:
    with answered_table(tmp_path / "a.npy", kinds=Embedder.written_as) as table:
        table.write("", {"vector": [], "error": "empty"})
    assert np.load(tmp_path / "a.npy").shape == (1, 0)
