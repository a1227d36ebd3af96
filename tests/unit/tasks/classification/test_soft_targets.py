"""What a student's loss makes of a teacher's answers."""

from __future__ import annotations

import pytest
import torch

from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.classification.soft_targets import (
    as_students_logits,
    soft_chance_loss,
    soft_losses,
)

HEADS: list[LabelHead] = [OneClass(["a", "b", "c"]), LabelSet(["a", "b", "c"]), Value(2, 3, ["v"])]


def taught(temperature: float) -> TeacherConfig:
    return TeacherConfig(model="news", temperature=temperature)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_the_loss_is_zero_where_both_agree_and_only_there(head: LabelHead) -> None:
    torch.manual_seed(0)
    logits = torch.randn(5, len(head.labels))
    torch.testing.assert_close(soft_losses(head, logits, logits, taught(2.0)), torch.zeros(5))
    other = soft_losses(head, logits + torch.randn(5, len(head.labels)), logits, taught(2.0))
    assert other.shape == (5,)
    assert (other > 1e-3).all()


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_no_constant_answer_has_less_than_the_chance_loss(head: LabelHead) -> None:
    torch.manual_seed(0)
    soft_targets = 2 * torch.randn(200, len(head.labels)) + torch.arange(len(head.labels))
    guess = torch.zeros(len(head.labels), requires_grad=True)
    optimizer = torch.optim.LBFGS([guess], max_iter=100)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        mean = soft_losses(head, guess.expand_as(soft_targets), soft_targets, taught(2.0)).mean()
        mean.backward()  # type: ignore[no-untyped-call]
        return mean

    optimizer.step(loss)
    assert soft_chance_loss(head, soft_targets, taught(2.0)) == pytest.approx(
        loss().item(), rel=1e-4
    )


def test_the_loss_is_the_written_out_divergence_times_the_squared_temperature() -> None:
    head = OneClass(["a", "b"])
    ours, theirs = torch.tensor([[0.5, -1.0]]), torch.tensor([[2.0, 1.0]])
    p, q = (theirs / 4).softmax(-1), (ours / 4).softmax(-1)
    expected = 16 * (p * (p / q).log()).sum()
    torch.testing.assert_close(soft_losses(head, ours, theirs, taught(4.0))[0], expected)


def test_gradients_keep_their_size_when_the_temperature_rises() -> None:
    head = OneClass(["a", "b", "c"])
    sizes = []
    for temperature in (50.0, 500.0):
        logits = torch.tensor([[1.0, 0.0, -1.0]], requires_grad=True)
        loss = soft_losses(head, logits, torch.tensor([[0.0, 2.0, 0.0]]), taught(temperature))
        loss.sum().backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        sizes.append(float(logits.grad.norm()))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_answers_are_read_in_the_students_order_and_units() -> None:
    classes = OneClass(["c", "a", "b"]), OneClass(["a", "b", "c"])
    assert as_students_logits(torch.tensor([[1.0, 2.0, 3.0]]), *classes).tolist() == [[2, 3, 1]]
    values = Value(10, 4, ["value"]), Value(8, 2, ["value"])
    assert as_students_logits(torch.tensor([[0.5]]), *values).tolist() == [[(12 - 8) / 2]]
