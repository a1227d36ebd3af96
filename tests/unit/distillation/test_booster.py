"""A booster that learns along: what both networks share, and what the hint moves."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, counted, small_batch
from zh_albert.compression.surgery import with_layers_kept
from zh_albert.distillation.booster import Booster, BoosterConfig
from zh_albert.errors import ConfigError
from zh_albert.training.loop import LossOutput
from zh_albert.transforms.plans import layers_of

TARGETS = torch.tensor([0, 2, 1])


def task_loss(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    logits = module(inputs["token_ids"], inputs["type_ids"], inputs["mask"])
    return LossOutput(F.cross_entropy(logits, TARGETS, reduction="sum"))


def no_loss(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    """The task's loss without a gradient: what is left is the hint."""
    return LossOutput(0 * task_loss(module, inputs).loss.detach())


def pair(shared: int = 1, **light: int) -> tuple[SmallClassifier, SmallClassifier, Booster]:
    small = SmallClassifier(0, **{"num_hidden_layers": 2, **light})
    large = SmallClassifier(1, num_hidden_layers=3)
    return small, large, Booster(small, large, BoosterConfig(shared=shared, weight=0.5))


def only(network: SmallClassifier, other: SmallClassifier) -> dict[str, nn.Parameter]:
    theirs = {id(parameter) for parameter in other.parameters()}
    return {n: p for n, p in network.named_parameters() if id(p) not in theirs}


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_embeddings_and_bottom_layers_are_one(shared: int) -> None:
    light, booster, _ = pair(shared)
    ours, theirs = light.encoder, booster.encoder
    assert ours.embeddings.word.weight.data_ptr() == theirs.embeddings.word.weight.data_ptr()
    for layer in range(2):
        for kind in ("attention", "ffn"):
            one = [p.data_ptr() for p in getattr(ours, kind)[layer].parameters()]
            other = [p.data_ptr() for p in getattr(theirs, kind)[layer].parameters()]
            assert (one == other) is (layer < shared)


def test_layers_are_one_where_the_booster_shares_blocks_among_its_own() -> None:
    large = SmallClassifier(
        1, num_hidden_layers=6, plan=((0, 0), (0, 0), (1, 1), (2, 2), (2, 2), (3, 3))
    )
    small = with_layers_kept(large, [2, 4, 6])
    own = layers_of(large.encoder)
    Booster(small, large, BoosterConfig(shared=2))
    assert layers_of(large.encoder) == layers_of(small.encoder)[:2] + own[2:]
    assert not {*large.encoder.ffn} & {own[0][1]}  # what no layer runs any more is gone


def test_the_hint_moves_the_light_network_alone() -> None:
    light, booster, method = pair()
    network = method.around(light)
    method.objective(no_loss)(network, counted(small_batch())).loss.backward()
    assert only(booster, light)
    assert all(p.grad is None or not p.grad.any() for p in only(booster, light).values())
    moved = {n for n, p in only(light, booster).items() if p.grad is not None and p.grad.any()}
    assert {"head.weight", "encoder.ffn.1.down.weight"} <= moved


def test_the_loss_is_of_both_networks_and_the_difference_of_their_logits() -> None:
    light, booster, method = pair()
    batch = small_batch()
    loss, told = method.objective(task_loss)(method.around(light), counted(batch))
    ours, theirs = light(**batch), booster(**batch)
    hint = (ours - theirs).square().mean() * 3
    expected = [F.cross_entropy(logits, TARGETS, reduction="sum") for logits in (ours, theirs)]
    torch.testing.assert_close(loss, expected[0] + expected[1] + 0.5 * hint)
    torch.testing.assert_close(told["hint"], (hint.detach(), None))
    loss.backward()
    grads = [p.grad for p in only(booster, light).values()]
    assert any(grad is not None and grad.any() for grad in grads)


def test_what_is_kept_and_evaluated_is_the_light_network() -> None:
    light, _, method = pair()
    before = list(light.state_dict())
    network, batch = method.around(light), small_batch()
    assert torch.equal(network(*batch.values()), light(*batch.values()))
    assert list(light.state_dict()) == before
    assert not [name for name in before if "booster" in name]


@pytest.mark.parametrize(
    ("shared", "light", "problem"),
    [
        (3, {}, "at most the student's 2 layers"),
        (1, {"num_hidden_layers": 4}, "student's 4 layers, and no more of those than .* 3"),
        (1, {"hidden_size": 24}, "the student's width 24, found 12"),
    ],
)
def test_boosters_that_do_not_fit_are_refused(shared: int, light: dict, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        pair(shared, **light)


@pytest.mark.parametrize("values", [{"shared": -1}, {"weight": 0.0}, {"weight": float("inf")}])
def test_settings_that_mean_nothing_are_refused(values: dict) -> None:
    with pytest.raises(ConfigError, match=f"booster.{next(iter(values))} must be"):
        BoosterConfig(**values)
