"""Teachers in integers."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.wide_teacher import teacher, texts
from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.student import (
    CalibrationBatch,
)
from zh_albert.distillation.teacher import (
    Int8Teacher,
    TorchTeacher,
    fastest_teacher,
)


def test_integers_see_nearly_what_the_teacher_sees_padding_or_not() -> None:
    new = texts(120)  # more than are read at once
    mask = torch.arange(12) < torch.arange(3, 13).repeat(12)[:, None]
    with torch.no_grad():
        exact = teacher()(new, torch.zeros_like(new), mask, return_states=True).states
    view = Int8Teacher(teacher(), (1, 3))({"token_ids": new, "mask": mask})
    assert view.queries == []
    for found, state in zip([view.states[0], view.states[2]], [exact[1], exact[3]], strict=True):
        assert found.shape == state.shape
        assert 0 < fraction_unexplained(found, state, mask) < 0.01


def test_a_teacher_is_asked_in_integers_only_where_they_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = CalibrationBatch(teacher(), texts())
    layers = (2, 4)
    both = {"states", "queries"}
    assert isinstance(fastest_teacher(teacher(), layers, sample, both), TorchTeacher)
    chosen = fastest_teacher(teacher(), layers, sample, {"states"})
    assert isinstance(chosen, Int8Teacher)
    mask = torch.ones_like(sample.token_ids, dtype=torch.bool)
    top = chosen({"token_ids": sample.token_ids, "mask": mask}).states[-1]
    assert fraction_unexplained(top, sample.states[4], mask) < 0.01
    monkeypatch.setattr("zh_albert.distillation.teacher._INT8_ERROR", 1e-9)  # too coarse, then
    chosen = fastest_teacher(teacher(), layers, sample, {"states"})
    assert isinstance(chosen, TorchTeacher)
