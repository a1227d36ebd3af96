"""Shared projections: 0 where a teacher's weights are carried ones, gradients, shared blocks."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from tests.helpers.small_networks import SmallClassifier, counted, small_batch, small_encoder
from zh_albert.distillation.match_terms import Direction, MatchTerm
from zh_albert.distillation.matching import LiveTeacher, Matching, weight_projections
from zh_albert.distillation.shared_projections import SharedProjections
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.training.loop import LossOutput

WIDE = {"hidden_size": 24, "intermediate_size": 32, "embedding_size": 8}
SAME = [(1, 1), (2, 2), (3, 3)]
DIRECTIONS: tuple[Direction, ...] = ("up", "down")


def carry_all(source: AlbertEncoder, target: AlbertEncoder) -> dict[str, torch.Tensor]:
    """Overwrite target's weights with source's, carried by one U and V for each pair of shapes."""
    used: dict[str, torch.Tensor] = {}
    into = dict(target.named_parameters())
    with torch.no_grad():
        for name, weight in source.named_parameters():
            if name.startswith("pooler"):
                continue
            carried, wanted = weight, into[name]
            for side, (old, new) in enumerate(zip(weight.shape, wanted.shape, strict=True)):
                if old == new:
                    continue
                shapes = f"{tuple(weight.shape)} {tuple(wanted.shape)} {side}"
                matrix = used.setdefault(shapes, torch.randn(new, old) * old**-0.5)
                carried = carried @ matrix.T if side else matrix @ carried
            wanted.copy_(carried)
    return used


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("sharing", ["all", "ffn", "none"])
def test_carried_weights_are_at_0(direction: Direction, sharing: Any) -> None:
    """Zhao et al. 2019: ‖U · θ_T · V − θ_S‖² and ‖θ_T − U · θ_S · V‖²."""
    student, teacher = small_encoder(sharing=sharing), small_encoder(1, sharing=sharing, **WIDE)
    source, target = (student, teacher) if direction == "up" else (teacher, student)
    used = carry_all(source, target)
    found = SharedProjections(student, teacher, SAME, direction)
    fitted = found().item()
    assert len(used) == len(found.left) + len(found.right)
    with torch.no_grad():
        for key in found.left.keys() | found.right.keys():
            sizes = [tuple(map(int, one.split("x"))) for one in key.split("_")]
            own, other = (size[:1] if size[1] == 1 else size for size in sizes)
            shapes = f"{own} {other}" if direction == "up" else f"{other} {own}"
            if key in found.left:
                found.left[key].copy_(used[f"{shapes} 0"])
            if key in found.right:
                found.right[key].copy_(used[f"{shapes} 1"].T)
    assert found().item() == pytest.approx(0, abs=1e-9)
    with torch.no_grad():
        student.ffn[0].up.weight.add_(0.5)
    assert found().item() > 1e-3
    with torch.no_grad():
        for matrix in found.parameters():
            matrix.zero_()
    assert fitted < 0.5 * found().item(), "the first matrices carry most of what can be carried"


def test_the_distance_is_that_of_the_formula() -> None:
    student, teacher = small_encoder(sharing="all"), small_encoder(1, sharing="all", **WIDE)
    expected, whole = {"up": 0.0, "down": 0.0}, 0.0
    found = {one: SharedProjections(student, teacher, SAME, one) for one in DIRECTIONS}
    theirs = dict(teacher.named_parameters())
    for name, ours in student.named_parameters():
        if name.startswith("pooler"):
            continue
        own, other = (w[:, None] if w.dim() == 1 else w for w in (ours, theirs[name]))
        whole += other.square().sum().item()
        key = "_".join(f"{w.shape[0]}x{w.shape[1]}" for w in (own, other))
        for one, projections in found.items():
            source, target = (own, other) if one == "up" else (other, own)
            if key in projections.left:
                source = projections.left[key] @ source
            if key in projections.right:
                source = source @ projections.right[key]
            expected[one] += (source - target).square().sum().item()
    for one, projections in found.items():
        assert projections().item() == pytest.approx(expected[one] / whole, rel=1e-4)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_gradients_reach_both_matrices_and_the_student_but_not_the_teacher(
    direction: Direction,
) -> None:
    student, batch = SmallClassifier(), small_batch()
    teacher = small_encoder(5, **WIDE)
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    terms = [MatchTerm(what="weights", direction=direction, weight=3.0)]

    class Unasked(LiveTeacher):
        def __call__(self, inputs: Any) -> Any:
            raise AssertionError("weights are compared without reading a text")

    method = Matching(
        terms,
        student,
        Unasked(teacher, terms),
        teacher_layers=3,
        teacher_width=24,
        only=True,
        projections=weight_projections(terms, student.encoder, teacher, 3),
    )

    def loss_of(module: nn.Module, inputs: dict[str, torch.Tensor]) -> LossOutput:
        return LossOutput(module(*[*inputs.values()][:3]).square().sum())

    network = method.around(student)
    loss, told = method.objective(loss_of)(network, counted(batch))
    loss.backward()
    assert told.keys() == {"weights"}
    torch.testing.assert_close(loss.detach(), 3.0 * told["weights"][0])
    learned = {n for n, p in network.named_parameters() if p.grad is not None and p.grad.any()}
    matrices = {n for n, _ in network.named_parameters() if n.startswith("projections.0_0.")}
    assert {name.split(".")[2] for name in matrices} == {"left", "right"}
    assert matrices < learned
    kept = {
        f"network.{n}"
        for n, _ in student.named_parameters()
        if not n.startswith(("encoder.pooler", "head"))
    }
    assert learned == matrices | kept
    assert all(p.grad is None for p in teacher.parameters())
    assert all(torch.equal(before[n], w) for n, w in teacher.state_dict().items())
    assert not [name for name in network.state_dict() if "theirs" in name]
    assert not [name for name in student.state_dict() if "left" in name or "right" in name]


def test_encoders_of_the_same_sizes_need_no_matrix() -> None:
    student, teacher = small_encoder(), small_encoder()
    found = SharedProjections(student, teacher, SAME, "up")
    assert not list(found.parameters())
    assert found().item() == 0


def test_a_shared_block_is_compared_once_with_each_block_it_meets() -> None:
    alone, teacher = small_encoder(sharing="all"), small_encoder(1, sharing="all", **WIDE)
    found = []
    for pairs in ([(1, 1)], SAME):
        torch.manual_seed(0)  # of the first U
        found.append(SharedProjections(alone, teacher, pairs, "up"))
    one, three = found
    assert one().item() == pytest.approx(three().item(), rel=1e-5)
    many = SharedProjections(alone, small_encoder(1, **WIDE), SAME, "up")
    rows = dict(many.named_buffers())["theirs_12x12_24x24"]
    assert len(rows) == 3 * 4  # queries, keys, values and outputs of three blocks


def test_only_matched_layers_and_common_rows_are_compared() -> None:
    student = small_encoder(max_position_embeddings=9, type_vocab_size=1)
    teacher = small_encoder(1, **WIDE)
    found = SharedProjections(student, teacher, [(3, 3)], "down")
    found().backward()
    assert student.ffn[1].up.weight.grad is None
    assert student.ffn[2].up.weight.grad.any()
    assert {"theirs_9x6_9x8", "theirs_1x6_1x8"} <= dict(found.named_buffers()).keys()


def test_pruned_blocks_and_other_heads_are_carried() -> None:
    student = small_encoder(block_heads=(3, 2, 1), block_neurons=(20, 11, 7))
    found = SharedProjections(student, small_encoder(1, num_attention_heads=2, **WIDE), SAME, "up")
    assert {"4x12_24x24", "7x12_32x24"} <= found.left.keys()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"norm_position": "pre"}, "expected google, post-norm, found google, pre-norm"),
        ({"embedding_layout": "brightmart"}, "expected google, post-norm, found brightmart"),
    ],
)
def test_a_teacher_of_another_kind_is_refused_in_a_line(
    changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        SharedProjections(small_encoder(), small_encoder(**changes), SAME, "up")
    assert "\n" not in str(refused.value)
