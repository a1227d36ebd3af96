"""Gates: importance by gradient, and gates that are learned."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, counted, small_batch, small_encoder
from zh_albert.errors import ConfigError
from zh_albert.model.baking import bake
from zh_albert.training.loop import LossOutput
from zh_albert.transforms.gates import (
    GateLearning,
    GatesConfig,
    GatesOfKind,
    HardConcrete,
    Kind,
    first_order_importance,
    gated_parts,
)
from zh_albert.transforms.removal import open_gates

KINDS: tuple[Kind, ...] = ("heads", "neurons", "embeddings")


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*[*inputs.values()][:3]).square().sum())


# ---- importance ----


def importance(network: SmallClassifier, batches: int = 2) -> Any:
    def loss(seed: int) -> Any:
        return lambda: loss_of(network, small_batch(seed=seed)).loss

    return first_order_importance(network, KINDS, [loss(seed) for seed in range(batches)])


def test_a_planted_useless_head_neuron_and_dimension_are_least_important() -> None:
    network = SmallClassifier()
    encoder = network.encoder
    with torch.no_grad():
        encoder.attention[1].dense.weight[:, 4:8] *= 1e-4  # the second head
        encoder.ffn[2].down.weight[:, 7] *= 1e-4
        encoder.embeddings.projection.weight[:, 3] *= 1e-4
    scores = importance(network)
    assert {key: score.shape for key, score in scores.items()} == {
        **{("heads", block): (3,) for block in range(3)},
        **{("neurons", block): (20,) for block in range(3)},
        ("embeddings", 0): (6,),
    }
    for kind, block, number in (("heads", 1, 1), ("neurons", 2, 7), ("embeddings", 0, 3)):
        everywhere = torch.cat([score for (one, _), score in scores.items() if one == kind])
        assert scores[kind, block].argmin() == number
        assert scores[kind, block][number] == everywhere.min()


def test_importance_is_the_derivative_by_the_gate() -> None:
    network = SmallClassifier()
    score = importance(network, batches=1)["heads", 0]
    dense, step = network.encoder.attention[0].dense.weight, 1e-3
    losses = []
    for factor in (1 + step, 1 - step):
        with torch.no_grad():
            dense[:, :4] *= factor
            losses.append(loss_of(network, small_batch()).loss.item())
            dense[:, :4] /= factor
    assert score[0].item() == pytest.approx(abs(losses[0] - losses[1]) / (2 * step), rel=0.05)


def test_a_network_is_left_as_it_was() -> None:
    network, plain = SmallClassifier(), SmallClassifier()
    importance(network)
    assert network.state_dict().keys() == plain.state_dict().keys()
    assert all(torch.equal(v, plain.state_dict()[n]) for n, v in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())

    def broken() -> Tensor:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        first_order_importance(network, KINDS, [broken])
    assert network.state_dict().keys() == plain.state_dict().keys()


@pytest.mark.parametrize(
    ("changes", "heads", "neurons"),
    [({"sharing": "all"}, 1, 1), ({"sharing": "attention"}, 1, 3), ({"sharing": "none"}, 3, 3)],
)
def test_layers_that_share_a_block_share_its_gates(changes: dict, heads: int, neurons: int) -> None:
    network = SmallClassifier(**changes)
    parts = list(gated_parts(network, KINDS))
    assert [part.kind for part in parts].count("heads") == heads
    assert [part.kind for part in parts].count("neurons") == neurons
    method = GateLearning(network, GatesConfig(kinds=KINDS), seed=0)
    logits = [n for n, _ in network.named_parameters() if n.endswith("logits")]
    assert len(logits) == heads + neurons + 1
    method.on_update(0, 1)
    method.objective(loss_of)(network, counted(small_batch())).loss.backward()
    assert all(p.grad is not None for n, p in network.named_parameters() if n in logits)


def test_pruned_blocks_have_gates_of_their_own_sizes() -> None:
    encoder = small_encoder(head_size=4, block_heads=(1, 3, 2), block_neurons=(5, 20, 7))
    sizes = {(p.kind, p.block): (p.gates, p.width) for p in gated_parts(encoder, KINDS[:2])}
    assert [sizes["heads", block] for block in range(3)] == [(1, 4), (3, 4), (2, 4)]
    assert [sizes["neurons", block] for block in range(3)] == [(5, 1), (20, 1), (7, 1)]


# ---- hard concrete ----


@pytest.mark.parametrize("logit", [-2.0, 0.0, 1.5])
def test_the_expected_share_of_open_gates_is_that_of_draws(logit: float) -> None:
    """Louizos et al. 2018, equation 12."""
    gates, generator = HardConcrete(50, 1, 10.0, GatesOfKind()), torch.Generator().manual_seed(1)
    nn.init.constant_(gates.logits, logit / 10)
    drawn = []
    for _ in range(200):
        gates.draw(generator)
        drawn.append(gates.values())
    values = torch.stack(drawn)
    share = gates.open_share().item()
    deviation = (share * (1 - share) / values.numel()) ** 0.5
    assert abs((values > 0).float().mean().item() - share) < 3 * deviation
    assert (values == 0).any()
    assert (values == 1).any()
    assert ((values >= 0) & (values <= 1)).all()


def test_evaluation_draws_nothing() -> None:
    gates = HardConcrete(8, 1, 1.0, GatesOfKind()).eval()
    before = gates.values()
    gates.draw(torch.Generator().manual_seed(0))
    assert torch.equal(gates.values(), before)


def test_draws_depend_on_the_seed_and_the_update_alone() -> None:
    def drawn(updates: range, seed: int) -> list[Tensor]:
        network, found = SmallClassifier(), []
        method = GateLearning(network, GatesConfig(), seed)
        for update in updates:
            torch.rand(update)
            method.on_update(update, 10)
            found.append(network(*small_batch().values()))
        return found

    straight = drawn(range(8), 1)
    assert all(map(torch.equal, drawn(range(5, 8), 1), straight[5:]))
    assert not torch.equal(straight[0], straight[1])
    assert not torch.equal(drawn(range(1), 2)[0], straight[0])


@pytest.mark.slow
def test_gates_close_to_the_share_that_is_aimed_at() -> None:
    network, batch = SmallClassifier(), small_batch()
    config = GatesConfig(kinds=("heads", "neurons"), kept=0.5, weight=5.0)
    method = GateLearning(network, config, seed=0)
    objective = method.objective(loss_of)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    total = 200
    for update in range(total):
        method.on_update(update, total)
        loss, measured = objective(network, counted(batch))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for kind in ("heads", "neurons"):
        value, count = measured[f"open_{kind}"]
        assert count is None
        assert value.item() / len(batch["mask"]) == pytest.approx(0.5, abs=0.1)
    network.eval()
    wanted = network(*batch.values())
    bake(network)
    closed = [~open_gates(part) for part in gated_parts(network, ["neurons"])]
    assert 0 < torch.cat(closed).float().mean() < 1  # exact zeros, which removal takes out
    torch.testing.assert_close(network(*batch.values()), wanted)


def test_what_is_aimed_at_stays_open_after_a_run_too_short_to_decide() -> None:
    network, batch = SmallClassifier(sharing="none"), small_batch()
    method = GateLearning(network, GatesConfig(kinds=("heads", "neurons"), kept=0.5), seed=0)
    objective = method.objective(loss_of)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    for update in range(3):
        method.on_update(update, 3)
        objective(network, counted(batch)).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    network.eval()
    wanted = network(*batch.values())
    bake(network)
    for kind in ("heads", "neurons"):
        kept = [open_gates(part) for part in gated_parts(network, [kind])]
        assert torch.cat(kept).sum() == round(0.5 * len(torch.cat(kept)))
        assert all(block.any() for block in kept)
    torch.testing.assert_close(network(*batch.values()), wanted)


def test_a_block_keeps_its_best_gate_however_closed_it_is() -> None:
    kind = GatesOfKind()
    blocks = [HardConcrete(4, 1, 1.0, kind).eval() for _ in range(2)]
    nn.init.constant_(blocks[1].logits, -4.0)
    blocks[0].logits.data += torch.arange(4)
    blocks[1].logits.data[2] = -3.0
    kind.share = 0.5
    first, second = (block.values() for block in blocks)
    assert (second > 0).tolist() == [False, False, True, False]
    assert second.max() < 0.01 < first.max()  # hardly open, as it was learned
    assert (first > 0).sum() + 1 == 4  # half of all
    kind.share = 1.0
    assert all(block.values().all() for block in blocks)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kept": 0.0}, r"gates\.kept is the share that stays"),
        ({"kept": 1.0}, r"gates\.kept is the share that stays"),
        ({"weight": 0.0}, r"gates\.weight must be above 0"),
        ({"lr_scale": float("inf")}, r"gates\.lr_scale must be above 0"),
        ({"kinds": ()}, r"gates\.kinds must name at least one"),
    ],
)
def test_settings_that_mean_nothing_are_refused(values: dict, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        GatesConfig(**values)
