"""What a student begins as, and what it is asked to match."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.helpers.wide_teacher import SHARES, WIDE, teacher, texts
from zh_albert.distillation.losses import attention_divergence, fraction_unexplained
from zh_albert.distillation.matching import MatchingStudent
from zh_albert.distillation.student import (
    CalibrationBatch,
    fitted_projections,
    initialize_student,
    student_config,
)
from zh_albert.distillation.teacher import (
    Int8Teacher,
    LayerStates,
    TorchTeacher,
    fastest_teacher,
)
from zh_albert.distillation.width_reduction import (
    mean_weights,
    read_attention,
    read_feed_forward,
    reduced_attention,
    reduced_feed_forward,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.layer_map import layer_map

GELU = torch.nn.functional.gelu


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
    module = MatchingStudent(model, [ours for ours, _ in pairs], projections).eval()
    new = texts(96)[64:]
    mask = torch.ones_like(new, dtype=torch.bool)
    frozen = TorchTeacher(wide, [theirs for _, theirs in pairs], attention=False)
    positions = torch.zeros(0, 2, dtype=torch.long)
    with torch.no_grad():
        found = module(new, torch.zeros_like(new), mask, positions, frozen.states(new, mask))
    return found.fraction_unexplained.tolist()


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


def test_attention_seen_through_a_basis_of_full_width_is_unchanged() -> None:
    wide = teacher()
    block = wide.attention[1]
    assert isinstance(block, AttentionBlock)
    basis = torch.linalg.qr(torch.randn(24, 24)).Q
    narrow = reduced_attention(read_attention(block), basis, heads=4)
    turned = AttentionBlock(WIDE)
    hidden = torch.randn(2, 7, 24)
    everything = torch.ones(1, 1, 1, 7, dtype=torch.bool)
    with torch.no_grad():
        linears = (turned.query, turned.key, turned.value, turned.dense)
        for linear, (matrix, bias) in zip(linears, narrow.linears(), strict=True):
            linear.weight.copy_(matrix)
            linear.bias.copy_(bias)
        expected, probabilities = block(hidden, everything, return_probabilities=True)
        block.norm = turned.norm = torch.nn.Identity()  # type: ignore[assignment]
        expected, _ = block(hidden, everything)
        found, found_probabilities = turned(hidden @ basis, everything, return_probabilities=True)
    torch.testing.assert_close(found_probabilities, probabilities, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found @ basis.T, expected, rtol=1e-4, atol=1e-4)


def test_all_neurons_kept_is_the_same_block() -> None:
    block = teacher().ffn[0]
    assert isinstance(block, FeedForwardBlock)
    weights = read_feed_forward(block)
    kept = reduced_feed_forward(weights, torch.eye(24), torch.randn(50, 24), GELU, neurons=32)
    for before, after in zip(weights, kept, strict=True):
        torch.testing.assert_close(after, before)


def test_a_planted_idle_neuron_goes_first() -> None:
    block = teacher().ffn[0]
    with torch.no_grad():
        block.down.weight[:, 5] = 0  # type: ignore[union-attr]
    weights = read_feed_forward(block)
    kept = reduced_feed_forward(weights, torch.eye(24), torch.randn(50, 24), GELU, neurons=31)
    expected = torch.cat([weights.up[:5], weights.up[6:]])
    torch.testing.assert_close(kept.up, expected)


def test_a_mean_of_blocks_is_the_mean_of_their_weights() -> None:
    blocks = [read_feed_forward(block) for block in teacher().ffn]
    expected = torch.stack([block.up for block in blocks]).mean(0)
    torch.testing.assert_close(mean_weights(blocks).up, expected)


def test_the_mean_explains_nothing_and_padding_does_not_count() -> None:
    wanted = torch.randn(2, 6, 4)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    wanted[1, 4:] = 1e4
    mean = wanted[mask].mean(0).expand_as(wanted)
    assert fraction_unexplained(mean, wanted, mask).item() == pytest.approx(1, abs=1e-4)
    assert fraction_unexplained(wanted, wanted, mask).item() == 0
    assert fraction_unexplained(wanted + 1e4 * ~mask[..., None], wanted, mask).item() == 0


def test_attention_diverges_only_where_it_differs() -> None:
    theirs = torch.softmax(torch.randn(2, 3, 5, 5), -1)
    mask = torch.ones(2, 5, dtype=torch.bool)
    assert attention_divergence(theirs, theirs, mask).item() == pytest.approx(0, abs=1e-6)
    even = torch.full_like(theirs, 0.2)
    expected = (theirs * (theirs / even).log()).sum(-1).mean().item()
    assert attention_divergence(even, theirs, mask).item() == pytest.approx(expected, rel=1e-4)


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


@pytest.mark.parametrize("change", [{"norm_position": "pre"}, {"embedding_layout": "brightmart"}])
def test_teachers_that_are_computed_otherwise_are_refused(change: dict) -> None:
    with pytest.raises(ConfigError, match="a teacher needs the google layout and post-norm"):
        student_config(WIDE, dataclasses.replace(WIDE, **change))


def test_integers_see_nearly_what_the_teacher_sees_padding_or_not() -> None:
    new = texts(120)  # more than are read at once
    mask = torch.arange(12) < torch.arange(3, 13).repeat(12)[:, None]
    exact = LayerStates(teacher(), (1, 3))
    with torch.no_grad():
        wanted = exact(new, torch.zeros_like(new), mask).chunk(2, dim=-1)
    view = Int8Teacher(teacher(), (1, 3)).states(new, mask)
    assert view.attention == ()
    for found, state in zip(view.states, wanted, strict=True):
        assert found.shape == state.shape
        assert 0 < fraction_unexplained(found, state, mask) < 0.01


def test_a_teacher_is_asked_in_integers_only_where_they_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = CalibrationBatch(teacher(), texts())
    layers = (2, 4)
    assert isinstance(fastest_teacher(teacher(), layers, sample, attention=True), TorchTeacher)
    chosen = fastest_teacher(teacher(), layers, sample, attention=False)
    assert isinstance(chosen, Int8Teacher)
    mask = torch.ones_like(sample.token_ids, dtype=torch.bool)
    top = chosen.states(sample.token_ids, mask).states[-1]
    assert fraction_unexplained(top, sample.states[4], mask) < 0.01
    monkeypatch.setattr("zh_albert.distillation.teacher._INT8_ERROR", 1e-9)  # too coarse, then
    chosen = fastest_teacher(teacher(), layers, sample, attention=False)
    assert isinstance(chosen, TorchTeacher)
