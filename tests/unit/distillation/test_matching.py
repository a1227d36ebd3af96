"""Matching beside a job's loss, and alone, as FitNets' hints do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, counted, small_batch, small_encoder
from zh_albert.distillation.match_terms import MatchTerm
from zh_albert.distillation.matching import LiveTeacher, Matching
from zh_albert.training.loop import LossOutput
from zh_albert.training.method import Beside


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*[*inputs.values()][:3]).square().sum())


def matching(
    student: SmallClassifier, terms: list[MatchTerm], *, only: bool = False, **teacher: Any
) -> Matching:
    wide = small_encoder(5, **teacher)
    return Matching(
        terms,
        student,
        LiveTeacher(wide, terms),
        teacher_layers=len(wide.plan),
        teacher_width=wide.config.hidden_size,
        only=only,
    )


def test_terms_are_added_and_told() -> None:
    student, batch = SmallClassifier(), small_batch()
    terms = [MatchTerm(what="states", weight=2.0), MatchTerm(what="pooled", layers="top")]
    method = matching(student, terms)
    assert method.around(student) is student
    loss, told = method.objective(loss_of)(student, counted(batch))
    assert told.keys() == {"states", "states_top", "pooled"}
    plain = loss_of(student, batch).loss
    expected = plain + 2 * told["states"][0] + told["pooled"][0]
    torch.testing.assert_close(loss, expected)
    assert told["states"][1] is None


def test_a_teacher_that_is_the_student_teaches_nothing() -> None:
    student, batch = SmallClassifier(5), small_batch()
    terms = [MatchTerm(what=what) for what in ("embeddings", "states", "attention", "relations")]  # type: ignore[arg-type]
    loss, told = matching(student, terms).objective(loss_of)(student, counted(batch))
    assert all(value.item() == pytest.approx(0, abs=1e-5) for value, _ in told.values())
    torch.testing.assert_close(loss, loss_of(student, batch).loss)


def test_weights_change_with_time() -> None:
    student, batch = SmallClassifier(), small_batch()
    method = matching(student, [MatchTerm(what="states", weight=4.0, end_weight=0.0)])
    objective, plain = method.objective(loss_of), loss_of(student, batch).loss
    added = []
    for update in (0, 5, 10):
        method.on_update(update, 11)
        loss, told = objective(student, counted(batch))
        added.append(((loss - plain) / told["states"][0]).item())
    assert added == pytest.approx([4, 2, 0], abs=1e-3)


def test_hints_train_the_guided_layer_and_those_below_alone() -> None:
    """Romero et al. 2015, stage 1; the projection is the paper's regressor."""
    student, batch = SmallClassifier(num_hidden_layers=3), small_batch([9] * 8)
    hint = MatchTerm(what="states", loss="mse", layers=((2, 2),), projection=True)
    method = matching(student, [hint], only=True)
    assert method.leaves_unused
    network, objective = method.around(student), method.objective(loss_of)
    assert isinstance(network, Beside)
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = objective(network, counted(batch)).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2

    learned = {n for n, p in network.named_parameters() if p.grad is not None and p.grad.any()}
    above = [f"network.{part}" for part in ("encoder.attention.2", "encoder.ffn.2", "head")]
    assert not [n for n in learned if n.startswith(tuple(above))]
    assert all(p.grad is None for n, p in network.named_parameters() if n.startswith(tuple(above)))
    assert {"projections.0_2.weight", "network.encoder.ffn.1.down.weight"} <= learned
    assert not [name for name in student.state_dict() if "projection" in name.split(".")[0]]


def test_a_projection_that_is_asked_for_is_learned_at_equal_width() -> None:
    projected = MatchTerm(what="states", projection=True)
    network = matching(SmallClassifier(), [projected]).around(SmallClassifier())
    assert isinstance(network, Beside)
    assert all(isinstance(one, nn.Linear) for one in network.projections.children())


def test_a_wider_teacher_is_reached_by_a_projection_for_each_layer() -> None:
    student, batch = SmallClassifier(), small_batch()
    terms = [MatchTerm(what="states"), MatchTerm(what="attention")]
    method = matching(student, terms, hidden_size=24)
    network = method.around(student)
    assert isinstance(network, Beside)
    assert list(network.projections) == ["0_1", "0_2", "0_3"]
    method.objective(loss_of)(network, counted(batch)).loss.backward()
    assert all(one.weight.grad.any() for one in network.projections.children())
    torch.testing.assert_close(network(*batch.values()), student(*batch.values()))


def test_the_teacher_is_not_trained() -> None:
    student, batch = SmallClassifier(), small_batch()
    teacher = small_encoder(5, hidden_dropout_prob=0.5)
    terms = [MatchTerm(what="states")]
    frozen = LiveTeacher(teacher, terms)
    first, second = frozen(batch), frozen(batch)
    assert all(torch.equal(a, b) for a, b in zip(first.states, second.states, strict=True))
    assert not any(state.requires_grad for state in first.states)
    method = Matching(terms, student, frozen, teacher_layers=3, teacher_width=12, only=True)
    method.objective(loss_of)(student, counted(batch)).loss.backward()
    assert all(parameter.grad is None for parameter in teacher.parameters())
