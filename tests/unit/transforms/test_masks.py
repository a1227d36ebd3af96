"""Magnitude pruning: how many weights, which ones, and that they stay 0."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, small_batch
from zh_albert.errors import ConfigError
from zh_albert.model.baking import bake, baked_state
from zh_albert.training.loop import LossOutput
from zh_albert.transforms.masks import (
    MagnitudePruning,
    MaskConfig,
    keep_zeros,
    kept_by_magnitude,
)
from zh_albert.transforms.parametrized import matrices
from zh_albert.transforms.quantization import QuantizationAwareTraining, QuantizeConfig


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*inputs.values()).square().sum())


def pruned(network: SmallClassifier, **config: Any) -> MagnitudePruning:
    return MagnitudePruning(network, MaskConfig(**config))


def zeros(network: SmallClassifier) -> dict[str, Tensor]:
    return {name: module.weight.detach() == 0 for name, module in matrices(network)}  # type: ignore[operator]


@given(
    st.lists(st.sampled_from([0.0, 0.5, -0.5, 1.0, -3.0]), min_size=1, max_size=40),
    st.floats(0.01, 0.99),
    st.sampled_from(["local", "global"]),
)
def test_the_share_is_exact_even_among_equals(
    values: list[float], share: float, scope: Any
) -> None:
    """A threshold would take all of those that are equal to it, or none."""
    weights = {"a": torch.tensor([values]), "b": torch.tensor([[1.0, 0.0, 2.0]])}
    kept = kept_by_magnitude(weights, share, scope)
    if scope == "local":
        for name, weight in weights.items():
            assert abs(int((~kept[name]).sum()) - share * weight.numel()) <= 0.5
    total = len(values) + 3
    gone = sum(int((~mask).sum()) for mask in kept.values())
    assert scope == "local" or abs(gone - share * total) <= 0.5
    for name in weights if scope == "local" else ():
        sizes, mask = weights[name].abs(), kept[name]
        if mask.any() and not mask.all():
            assert sizes[~mask].max() <= sizes[mask].min()


@pytest.mark.parametrize("sparsity", [0.1, 0.5, 0.9])
def test_each_matrix_has_the_share_by_itself_or_all_together(sparsity: float) -> None:
    network = SmallClassifier()
    pruned(network, sparsity=sparsity)
    for gone in zeros(network).values():
        assert abs(int(gone.sum()) - sparsity * gone.numel()) <= 1
    network = SmallClassifier()
    network.encoder.ffn[0].up.weight.data *= 0.01
    pruned(network, sparsity=sparsity, scope="global")
    found = zeros(network)
    total = sum(gone.numel() for gone in found.values())
    assert abs(sum(int(gone.sum()) for gone in found.values()) - sparsity * total) <= 1
    assert found["ffn.0.up"].float().mean() > min(1.5 * sparsity, 0.95)


def test_biases_norms_and_heads_are_untouched() -> None:
    network, plain = SmallClassifier(), SmallClassifier()
    pruned(network, sparsity=0.5, table=False)
    changed = {
        name
        for name, value in baked_state(network).items()
        if not torch.equal(value, plain.state_dict()[name])
    }
    blocks = [
        name for name in plain.state_dict() if name.startswith(("encoder.attention", "encoder.ffn"))
    ]
    linear = {name for name in blocks if name.endswith(".weight") and "norm" not in name}
    assert changed == linear | {"encoder.embeddings.projection.weight"}


def test_zeros_stay_zero_and_others_learn() -> None:
    network, batch = SmallClassifier(), small_batch()
    method = pruned(network, sparsity=0.5)
    before = zeros(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, weight_decay=0.1)
    objective = method.objective(loss_of)
    first = {name: module.weight.detach().clone() for name, module in matrices(network)}  # type: ignore[operator]
    for update in range(50):
        method.on_update(update, 50)
        objective(network, batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    network.eval()  # as when it is kept
    bake(network)
    for name, module in matrices(network):
        assert torch.equal(module.weight == 0, before[name])  # type: ignore[arg-type]
        assert not torch.equal(module.weight, first[name])  # type: ignore[arg-type]


def test_pruning_again_changes_nothing() -> None:
    network = SmallClassifier()
    pruned(network, sparsity=0.5)
    bake(network)
    once = {name: value.clone() for name, value in network.state_dict().items()}
    pruned(network, sparsity=0.5)
    bake(network)
    assert all(torch.equal(value, once[name]) for name, value in network.state_dict().items())


@pytest.mark.parametrize("total", [3, 8, 100])
def test_steps_reach_the_share_by_half_of_the_run(total: int) -> None:
    network, shares, settled = SmallClassifier(), [], []
    method = pruned(network, sparsity=0.6, steps=8)
    for update in range(total):
        method.on_update(update, total)
        gone = zeros(network)["ffn.0.up"]
        shares.append(gone.float().mean().item())
        settled.append(method.settled())
    assert shares == sorted(shares)
    assert settled == [False] * settled.count(False) + [True] * settled.count(True)
    assert settled[total // 2]
    assert shares[0] < 0.6 or total == 3
    assert shares[-(total // 2) :] == pytest.approx([0.6] * (total // 2), abs=1 / gone.numel())


def test_fewer_weights_go_at_a_time() -> None:
    """Zhu and Gupta 2017, equation 1: a cube of what is left."""
    config = MaskConfig(sparsity=0.8, steps=4)
    shares = [config.share_at(step) for step in range(4)]
    assert shares == pytest.approx([0.8 * (1 - (3 / 4) ** 3), 0.7, 0.8 * (1 - 1 / 64), 0.8])


def test_what_an_earlier_stage_pruned_stays_zero() -> None:
    network, batch = SmallClassifier(), small_batch()
    pruned(network, sparsity=0.5)
    bake(network)
    before = zeros(network)
    network.encoder.ffn[1].up.weight.data = torch.randn(20, 12)  # nothing is 0 here
    keep_zeros(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    for _ in range(3):
        loss_of(network, batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    bake(network)
    after = zeros(network)
    assert not after["ffn.1.up"].any()
    for name in before.keys() - {"ffn.1.up"}:
        real = slice(1, None) if name == "embeddings.word" else slice(None)  # row 0 is padding
        assert torch.equal(after[name][real], before[name][real])


def test_more_zeros_may_be_asked_for_than_are_kept() -> None:
    network = SmallClassifier()
    pruned(network, sparsity=0.3)
    bake(network)
    before = zeros(network)
    keep_zeros(network)
    pruned(network, sparsity=0.5)
    for name, gone in zeros(network).items():
        assert abs(int(gone.sum()) - gone.numel() / 2) <= 1
        assert gone[before[name]][1:].all() or name == "embeddings.word"


@pytest.mark.parametrize("sparsity", [0.0, 1.0, -1.0])
def test_settings_that_mean_nothing_are_refused(sparsity: float) -> None:
    with pytest.raises(ConfigError, match=r"mask\.sparsity .* between 0 and 1, found"):
        MaskConfig(sparsity=sparsity)
    with pytest.raises(ConfigError, match=r"mask\.steps must be at least 1, got 0"):
        MaskConfig(sparsity=0.5, steps=0)


def test_steps_rank_the_stored_weights_whatever_else_changes_them() -> None:
    alone, rounded = SmallClassifier(), SmallClassifier()
    for network, others in ((alone, []), (rounded, [QuantizeConfig(bits=2)])):
        method = pruned(network, sparsity=0.5, steps=2)
        for config in others:
            QuantizationAwareTraining(network, config)
        for update in range(8):
            method.on_update(update, 8)
    kept = [
        {name: one for name, one in network.named_buffers() if name.endswith("kept")}
        for network in (alone, rounded)
    ]
    assert kept[0].keys() == kept[1].keys()
    assert all(torch.equal(kept[0][name], kept[1][name]) for name in kept[0])
