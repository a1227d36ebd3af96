"""Layers drawn for each update: LayerDrop and BERT-of-Theseus."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, small_batch, small_encoder
from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.store import save_model
from zh_albert.compression.surgery import with_layers_kept
from zh_albert.errors import ConfigError
from zh_albert.training.loop import LossOutput
from zh_albert.transforms.plans import DropConfig, LayerDrop, ReplaceConfig, Replacement

_DRAWS = 2_000


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*inputs.values()).square().sum())


def within_three_deviations(share: float, rate: float, draws: int) -> bool:
    return abs(share - rate) < 3 * (rate * (1 - rate) / draws) ** 0.5


def running(network: SmallClassifier) -> list[nn.Module]:
    layers = network.encoder.layers_in_training
    assert layers is not None
    return [feed_forward for _, feed_forward in layers]


# ---- LayerDrop ----


def test_each_layer_is_left_out_as_often_as_asked() -> None:
    network = SmallClassifier()
    method, counts = LayerDrop(network, DropConfig(rate=0.2), seed=3), [0, 0, 0]
    together = 0
    for update in range(_DRAWS):
        method.on_update(update, _DRAWS)
        there = [block in running(network) for block in network.encoder.ffn]
        counts = [count + (not one) for count, one in zip(counts, there, strict=True)]
        together += there[:2] == [False, False]
    assert all(within_three_deviations(count / _DRAWS, 0.2, _DRAWS) for count in counts)
    assert within_three_deviations(together / _DRAWS, 0.04, _DRAWS)  # layers do not depend


def test_draws_depend_on_the_seed_and_the_update_alone() -> None:
    def drawn(updates: list[int], seed: int) -> list[list[int]]:
        network, found = SmallClassifier(), []
        method = LayerDrop(network, DropConfig(rate=0.5), seed)
        for update in updates:
            torch.rand(update)  # what else was drawn is no matter
            method.on_update(update, 100)
            found.append([list(network.encoder.ffn).index(one) for one in running(network)])
        return found

    straight = drawn(list(range(20)), 1)
    assert drawn(list(range(7, 20)), 1) == straight[7:]
    assert drawn(list(range(20)), 2) != straight


@pytest.mark.parametrize("sharing", ["none", "all"])
def test_a_pass_equals_the_cut_network_and_evaluation_runs_all(sharing: str) -> None:
    network, batch = SmallClassifier(sharing=sharing), small_batch()
    whole = network(**batch)
    method = LayerDrop(network, DropConfig(rate=0.5), seed=0)
    for update in range(12):
        method.on_update(update, 12)
        drawn = network.encoder.layers_in_training
        assert drawn is not None
        if sharing == "none" and drawn:
            kept = [1 + list(network.encoder.ffn).index(one) for one in running(network)]
            cut = with_layers_kept(network, kept).eval()
            torch.testing.assert_close(network(**batch), cut(**batch))
        if len(drawn) < 3:
            assert not torch.allclose(network(**batch), whole)
        torch.testing.assert_close(network.eval()(**batch), whole)
        network.train()


def test_gradients_pass_the_layers_left_out() -> None:
    network = SmallClassifier()
    encoder = network.encoder
    encoder.layers_in_training = [(encoder.attention[2], encoder.ffn[2])]
    loss_of(network, small_batch()).loss.backward()
    assert encoder.embeddings.word.weight.grad is not None
    assert encoder.embeddings.word.weight.grad.any()
    assert encoder.ffn[0].up.weight.grad is None
    encoder.layers_in_training = []  # all of them: the head learns from the embeddings
    loss_of(network, small_batch()).loss.backward()


# ---- BERT-of-Theseus ----


@pytest.fixture
def predecessor(tmp_path: Path) -> Path:
    """The folder of an encoder of four layers."""
    encoder = small_encoder(num_hidden_layers=4)
    sizes = encoder.config
    save_model(tmp_path, model=encoder, config=sizes, files={}, task={}, dtype=torch.float32)
    return tmp_path


def successor(predecessor: Path) -> SmallClassifier:
    """Return a network of the predecessor's first layers and its embeddings."""
    network = SmallClassifier(9, num_hidden_layers=2)
    network.encoder = with_layers_kept(open_encoder(predecessor), (1, 2)).train()
    return network


def replacing(network: SmallClassifier, folder: Path, **config: Any) -> Replacement:
    return Replacement(network, ReplaceConfig(**config), folder, seed=5)


def test_layers_are_replaced_as_often_as_asked(predecessor: Path) -> None:
    network = successor(predecessor)
    method, counts, both = replacing(network, predecessor, rate=0.3), [0, 0], 0
    for update in range(_DRAWS):
        method.on_update(update, _DRAWS)
        there = [block in running(network) for block in network.encoder.ffn]
        counts = [count + one for count, one in zip(counts, there, strict=True)]
        both += all(there)
        assert len(running(network)) == sum(1 if one else 2 for one in there)
    assert all(within_three_deviations(count / _DRAWS, 0.3, _DRAWS) for count in counts)
    assert within_three_deviations(both / _DRAWS, 0.09, _DRAWS)


def test_at_1_it_is_the_successor_and_at_0_the_predecessor(predecessor: Path) -> None:
    network, batch = successor(predecessor), small_batch()
    theirs = open_encoder(predecessor)
    alone = network.encoder.eval()(**batch).hidden
    network.train()
    for rate, expected in ((1.0, alone), (0.0, theirs(**batch).hidden)):
        replacing(network, predecessor, rate=rate).on_update(0, 10)
        assert torch.equal(network.encoder(**batch).hidden, expected)
        assert torch.equal(network.eval().encoder(**batch).hidden, alone)  # evaluation
        network.train()


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_the_successors_layers_alone_are_trained(predecessor: Path) -> None:
    network, batch, before = successor(predecessor), small_batch(), digest(predecessor)
    method = replacing(network, predecessor, rate=0.5)
    theirs = method._theirs
    kept = {name: value.clone() for name, value in theirs.state_dict().items()}
    own = {name: value.clone() for name, value in network.state_dict().items()}
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    objective = method.objective(loss_of)
    shares = []
    for update in range(12):
        method.on_update(update, 12)
        loss, measured = objective(network, batch)
        shares.append(measured["replaced"][0].item())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert {0.0, 0.5, 1.0} == set(shares)
    assert all(torch.equal(kept[name], value) for name, value in theirs.state_dict().items())
    assert digest(predecessor) == before
    changed = {n for n, v in network.state_dict().items() if not torch.equal(v, own[n])}
    assert changed
    assert all(name.startswith(("encoder.attention.", "encoder.ffn.")) for name in changed)


def test_embeddings_and_head_may_be_trained_too(predecessor: Path) -> None:
    network, batch = successor(predecessor), small_batch()
    method = replacing(network, predecessor, rate=0.0, freeze=False)
    method.on_update(0, 1)
    method.objective(loss_of)(network, batch).loss.backward()
    assert network.encoder.embeddings.word.weight.grad is not None
    assert network.head.weight.grad is not None


def test_the_rate_grows_linearly_to_1() -> None:
    growing = ReplaceConfig(rate=0.3, grow=0.5)
    assert [growing.rate_at(share) for share in (0, 0.25, 0.5, 0.9)] == pytest.approx(
        [0.3, 0.65, 1, 1]
    )
    assert ReplaceConfig(rate=0.4).rate_at(0.9) == 0.4


def test_predecessors_that_do_not_fit_are_refused(predecessor: Path) -> None:
    for sizes, found in (
        ({"num_hidden_layers": 3}, "has 4 layers .*, the student 3 of"),
        ({"num_hidden_layers": 2, "hidden_size": 24}, "of hidden_size 12, the student 2 of 24"),
    ):
        with pytest.raises(ConfigError, match=found):
            replacing(SmallClassifier(**sizes), predecessor)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: DropConfig(rate=0.0), "drop.rate"),
        (lambda: DropConfig(rate=1.0), "drop.rate"),
        (lambda: ReplaceConfig(rate=1.1), "replace.rate must be from 0 to 1"),
        (lambda: ReplaceConfig(grow=-0.1), "replace.grow must be from 0 to 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        make()
