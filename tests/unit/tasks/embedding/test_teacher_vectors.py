"""A teacher's vectors: of length 1, and without what all of them have in common."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zh_albert.tasks.embedding.teacher_vectors import TeacherVectors, VectorsConfig


def test_what_all_vectors_share_is_taken_off(tmp_path: Path) -> None:
    around = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.float32)
    vectors = np.concatenate([np.full((4, 1), 9, np.float32), around], axis=1)
    np.save(tmp_path / "t.npy", 7 * np.concatenate([vectors, np.full((1, 3), np.nan)]))
    config = VectorsConfig(file=str(tmp_path / "t.npy"))
    found = TeacherVectors(config, [0, 1, 2, 3]).of([2, 0]).numpy()

    expected = np.array([[0, -1, 0], [0, 1, 0]]) / np.sqrt(82)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32
