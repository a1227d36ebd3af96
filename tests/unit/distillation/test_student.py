"""What a student begins as."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.helpers.wide_teacher import SHARES, WIDE, teacher, texts
from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.student import (
    CalibrationBatch,
    fitted_projections,
    initialize_student,
    student_config,
)
from zh_albert.distillation.teacher import (
    TorchTeacher,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer_map import layer_map


def missed(
    student: AlbertConfig, *, layers: str = "chosen", of: AlbertConfig = WIDE
) -> list[float]:
    """How far a fresh student is from its teacher on text that was not in the sample."""
    wide = teacher(of)
    sample = CalibrationBatch(wide, texts())
    config = student_config(student, of)
    model = initialize_student(wide, config, sample, SHARES, layers=layers, top=4)  # type: ignore[arg-type]
    pairs = layer_map(student.num_hidden_layers, 4)
    projections = fitted_projections(model.encoder, sample, pairs)
    new = texts(96)[64:]
    mask = torch.ones_like(new, dtype=torch.bool)
    frozen = TorchTeacher(wide, [theirs for _, theirs in pairs], {"states"})
    wanted = frozen({"token_ids": new, "mask": mask}).states
    with torch.no_grad():
        found = model.encoder.eval()(new, torch.zeros_like(new), mask, return_states=True).states
        return [
            fraction_unexplained(projection(found[ours]), wanted[theirs - 1], mask).item()
            for (ours, theirs), projection in zip(pairs, projections, strict=True)
        ]


def test_a_student_of_the_same_size_is_its_teacher() -> None:
    assert max(missed(WIDE)) < 0.05  # words and positions add before a norm: not quite the same


def test_a_teacher_whose_layers_share_blocks_is_read_by_its_plan() -> None:
    """As the bundled encoder: a layer's number is not its block's."""
    grouped = dataclasses.replace(WIDE, sharing="all", num_hidden_groups=3)
    assert max(missed(grouped, of=grouped)) < 0.05
    own_layers = dataclasses.replace(WIDE, sharing="none")
    for layers in ("chosen", "averaged"):
        assert max(missed(own_layers, layers=layers, of=grouped)) < 0.05
    ours = dataclasses.replace(WIDE, sharing="all", num_hidden_groups=1)
    assert max(missed(ours, layers="averaged", of=ours)) < 0.05


def test_narrower_shallower_and_shared_students_begin_better_than_a_mean() -> None:
    narrow = dataclasses.replace(WIDE, embedding_size=16, hidden_size=20, intermediate_size=28)
    assert max(missed(narrow)) < 0.6
    shallow = dataclasses.replace(WIDE, num_hidden_layers=2)
    assert missed(shallow)[0] < 1
    shared = dataclasses.replace(WIDE, sharing="all", num_hidden_groups=2)
    for layers in ("chosen", "averaged"):
        assert missed(shared, layers=layers)[0] < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": 48, "embedding_size": 24}, "must not be wider"),
        ({"num_hidden_layers": 5}, "must not be deeper"),
        ({"num_attention_heads": 2}, "as many heads as its teacher"),
        ({"norm_position": "pre"}, "google layout and post-norm"),
        ({"intermediate_size": 33}, "must not be wider .*: intermediate_size 33, the teacher's 32"),
        ({"embedding_size": 25}, "must not be wider .*: embedding_size 25, the teacher's 24"),
    ],
)
def test_students_that_cannot_be_made_are_refused(change: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        student_config(dataclasses.replace(WIDE, **change), WIDE)


def test_pruned_teachers_are_refused() -> None:
    layers = WIDE.num_hidden_layers
    with pytest.raises(ConfigError, match="blocks of one size"):
        student_config(WIDE, dataclasses.replace(WIDE, plan=((0, 0),) * layers))


@pytest.mark.parametrize("change", [{"norm_position": "pre"}, {"embedding_layout": "brightmart"}])
def test_teachers_that_are_computed_otherwise_are_refused(change: dict) -> None:
    with pytest.raises(ConfigError, match="a teacher needs the google layout and post-norm"):
        student_config(WIDE, dataclasses.replace(WIDE, **change))


def test_types_are_kept_as_changes_from_the_first() -> None:
    """Else the second text of a pair would look like the first."""
    wide = teacher(WIDE)
    config = student_config(dataclasses.replace(WIDE, embedding_size=16), WIDE)
    sample = CalibrationBatch(wide, texts())
    model = initialize_student(wide, config, sample, SHARES, layers="chosen", top=4)
    first, second = model.encoder.embeddings.token_type.weight
    assert first.norm() < 1e-4 * second.norm()
    ids, types = texts(96)[64:], (torch.arange(12) > 6).long()

    def changes(encoder: AlbertEncoder) -> torch.Tensor:
        with torch.no_grad():
            plain, told = (encoder.embeddings(ids, types.expand_as(ids) * one) for one in (0, 1))
        return (told - plain)[:, 7:].flatten()

    alike = torch.cosine_similarity(changes(model.encoder), changes(wide), dim=0)
    assert alike > 0.8
