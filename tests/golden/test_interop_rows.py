"""The rows of the interoperability table that need no other environment."""

from __future__ import annotations

import pytest

from tests.interop import foreign_checkpoints, onnx_alone
from tests.interop.row import BACK, THERE


@pytest.mark.slow
def test_foreign_checkpoints_give_what_their_formulas_say() -> None:
    found = list(foreign_checkpoints.rows())

    assert {row.system for row in found} >= {*foreign_checkpoints.LAYOUTS, "UER-py, gelu"}
    assert {row.direction for row in found} == {THERE, BACK}
    assert [row for row in found if not row.largest < 1e-5] == []


@pytest.mark.slow
def test_exported_files_give_the_same_without_this_library() -> None:
    found = list(onnx_alone.rows())

    assert {row.system for row in found} == {
        f"onnxruntime, opset {opset}, {precision}"
        for opset in (17, 23)
        for precision in ("fp32", "fp16")
    }
    assert [row for row in found if not row.largest < 1e-5] == []
