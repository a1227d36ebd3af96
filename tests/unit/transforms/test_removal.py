"""Removal: what is left computes the same as what had its gates at 0."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch_pruning
from torch import Tensor, nn

from tests.helpers.small_networks import SIZES, SmallClassifier, small_batch
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.size import macs_per_token
from zh_albert.transforms.gates import Kind, gated_parts
from zh_albert.transforms.removal import (
    close_least,
    close_rare_words,
    for_each_run,
    open_gates,
    without_closed,
)

SHARED: list[dict[str, Any]] = [
    {"sharing": "none"},
    {"sharing": "all"},
    {"sharing": "all", "num_hidden_groups": 2},
    {"sharing": "attention"},
    {"sharing": "none", "norm_position": "pre"},
]


def drawn(network: nn.Module, kinds: tuple[Kind, ...], seed: int = 0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return {
        (part.kind, part.block): torch.rand(part.gates, generator=generator)
        for part in gated_parts(network, kinds)
    }


def closed(network: Any, **kept: float) -> Any:
    close_least(network, drawn(network, tuple(kept)), kept)  # type: ignore[arg-type]
    return network.eval()


@pytest.mark.parametrize("changes", SHARED)
@pytest.mark.parametrize("kept", [{"heads": 0.5}, {"neurons": 0.4}, {"heads": 0.4, "neurons": 0.7}])
def test_without_heads_and_neurons_outputs_are_the_same(
    changes: dict[str, Any], kept: dict[str, float]
) -> None:
    network, batch = closed(SmallClassifier(**changes), **kept), small_batch()
    smaller = without_closed(network)
    difference = (smaller(**batch) - network(**batch)).abs().max()
    assert difference < 1e-5
    sizes = [sum(p.numel() for p in one.parameters()) for one in (network, smaller)]
    assert sizes[1] < sizes[0]
    costs = [macs_per_token(one.encoder.config, 16) for one in (network, smaller)]
    assert costs[1] < costs[0]
    # What is written opens: the config says the sizes.
    opened = AlbertEncoder(smaller.encoder.config).eval()
    opened.load_state_dict(smaller.encoder.state_dict())
    assert torch.equal(opened(**batch).hidden, smaller.encoder(**batch).hidden)


def test_the_share_that_stays_is_of_all_blocks_together() -> None:
    network = closed(SmallClassifier(), heads=0.5, neurons=0.25)
    config = without_closed(network).encoder.config
    assert sum(config.block_heads) in (4, 5)  # half of nine
    assert sum(config.block_neurons) == 15
    assert (config.head_size, config.hidden_size) == (4, 12)


def test_each_block_keeps_one() -> None:
    network = SmallClassifier()
    scores = {("heads", block): torch.full((3,), float(block)) for block in range(3)}
    close_least(network, scores, {"heads": 0.01})  # type: ignore[arg-type]
    assert [int(open_gates(part).sum()) for part in gated_parts(network, ["heads"])] == [1, 1, 1]


def test_the_least_important_are_closed_first() -> None:
    network = SmallClassifier()
    scores = drawn(network, ("neurons",))
    close_least(network, scores, {"neurons": 0.5})
    parts = list(gated_parts(network, ["neurons"]))
    stay = torch.cat([open_gates(part) for part in parts])
    flat = torch.cat([scores["neurons", part.block] for part in parts])
    assert int(stay.sum()) == 30
    assert flat[~stay].max() < flat[stay].min()


def test_what_several_layers_run_is_to_be_as_important_for_each() -> None:
    """Three layers in two blocks: the first is run twice, and so its gates cost twice the time."""
    network = SmallClassifier(sharing="all", num_hidden_groups=2)
    assert [layer.ffn for layer in network.encoder.plan] == [0, 0, 1]
    scores = {("neurons", 0): torch.full((20,), 1.8), ("neurons", 1): torch.full((20,), 1.0)}
    close_least(network, for_each_run(network, scores), {"neurons": 0.6})  # type: ignore[arg-type]
    assert [int(open_gates(part).sum()) for part in gated_parts(network, ["neurons"])] == [4, 20]


def test_a_draw_spares_no_block() -> None:
    network = SmallClassifier(sharing="all", num_hidden_groups=2)
    scores = {("neurons", block): torch.linspace(0, 1, 20) for block in (0, 1)}
    close_least(network, scores, {"neurons": 0.5})  # type: ignore[arg-type]
    assert [int(open_gates(part).sum()) for part in gated_parts(network, ["neurons"])] == [10, 10]


def test_nothing_closed_nothing_removed() -> None:
    network = SmallClassifier().eval()
    smaller = without_closed(network)
    assert smaller.encoder.config == network.encoder.config
    assert torch.equal(smaller(**small_batch()), network(**small_batch()))
    assert (
        smaller.encoder.attention[0].query.weight is not network.encoder.attention[0].query.weight
    )


def test_frequent_words_and_special_ones_stay() -> None:
    network = SmallClassifier()
    table = network.encoder.embeddings.word.weight
    before, rows = table.detach().clone(), len(table)
    special, counts = {0, 1, 2, 3, 4}, {9: 50, 7: 3, 12: 1}
    close_rare_words(network, counts, 8 / rows, special)

    kept = [*sorted(special), 7, 9, 12]
    assert torch.equal(table[kept], before[kept])
    assert int((table != 0).any(1).sum()) == len(kept) - int(not before[0].any())

    close_rare_words(network, counts, 1e-6, special)  # special tokens stay, whatever the share
    assert torch.equal(table[:5], before[:5])
    assert not table[5:].any()


def test_a_block_that_would_keep_nothing_is_refused() -> None:
    network = SmallClassifier()
    nn.init.zeros_(network.encoder.ffn[1].down.weight)
    with pytest.raises(ConfigError, match="all neurons of block 1 are closed; keep a larger share"):
        without_closed(network)


def test_it_may_be_pruned_again() -> None:
    batch, network = small_batch(), closed(SmallClassifier(), heads=0.7, neurons=0.7)
    again = closed(without_closed(network), heads=0.7, neurons=0.5)
    smaller = without_closed(again)
    torch.testing.assert_close(smaller(**batch), again(**batch), rtol=0, atol=1e-5)
    assert sum(smaller.encoder.config.block_neurons) == 21


def test_dimensions_of_words_are_removed_exactly_where_no_norm_runs_over_them() -> None:
    network = closed(SmallClassifier(embedding_layout="brightmart"), embeddings=0.5)
    smaller, batch = without_closed(network), small_batch()
    torch.testing.assert_close(smaller(**batch), network(**batch), rtol=0, atol=1e-5)
    assert smaller.encoder.config.embedding_size == 3
    assert smaller.encoder.embeddings.word.weight.shape == (40, 3)


def difference(one: Any, other: Any) -> float:
    """Return the share of the variance of the embeddings that is missed."""
    batch = small_batch([20] * 8)
    found, wanted = (
        each.encoder.embeddings(batch["token_ids"], batch["type_ids"]) for each in (one, other)
    )
    return ((found - wanted).square().sum() / (wanted - wanted.mean((0, 1))).square().sum()).item()


def test_googles_norm_is_fitted_to_the_dimensions_that_stay() -> None:
    sizes = {"embedding_size": 32, "vocab_size": 400}
    network = closed(SmallClassifier(**sizes), embeddings=0.75)
    smaller = without_closed(network)
    plain = copy.deepcopy(smaller)
    part = next(gated_parts(network, ["embeddings"]))
    norm, stay = network.encoder.embeddings.norm, open_gates(part)
    plain.encoder.embeddings.norm.weight.data = norm.weight.detach()[stay]
    plain.encoder.embeddings.norm.bias.data = norm.bias.detach()[stay]
    assert smaller.encoder.config.embedding_size == 24
    assert difference(smaller, network) < 0.05  # not exact: the norm runs over fewer numbers
    assert difference(smaller, network) < difference(plain, network)


@pytest.mark.parametrize("layout", ["google", "brightmart"])
def test_a_masked_lm_head_loses_the_same_dimensions(layout: Any) -> None:
    torch.manual_seed(0)
    whole = AlbertForPretraining(replace(SIZES, embedding_layout=layout))
    network = closed(whole, embeddings=0.7)
    smaller, batch = without_closed(network), small_batch()
    positions = torch.tensor([[0, 1], [2, 3]])
    found, wanted = (one(**batch, positions=positions).masked for one in (smaller, network))
    assert found.shape == wanted.shape == (2, 40)
    if layout == "brightmart":  # the transposed projection reads none of what went
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
    opened = AlbertForPretraining(smaller.encoder.config).eval()
    opened.load_state_dict(smaller.state_dict())
    assert torch.equal(opened(**batch, positions=positions).masked, found)
    found.square().sum().backward()


class WithoutProbabilities(nn.Module):
    """An attention block whose output is one tensor, as Torch-Pruning reads it."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, hidden: Tensor, mask: Tensor) -> Any:
        return self.block(hidden, mask)[0]


def pruned_by_torch_pruning(
    module: nn.Module, inputs: tuple[Tensor, ...], first: nn.Module, gone: Tensor
) -> None:
    """Remove outputs of a part, and whatever depends on them, in place."""
    graph = torch_pruning.DependencyGraph().build_dependency(module, example_inputs=inputs)
    cut = torch_pruning.prune_linear_out_channels
    if isinstance(first, nn.Embedding):
        cut = torch_pruning.prune_embedding_out_channels
    graph.get_pruning_group(first, cut, idxs=gone.nonzero()[:, 0].tolist()).prune()


def test_what_is_removed_is_what_torch_pruning_removes() -> None:
    """Fang et al. 2023 (arXiv:2301.12900): it finds what depends on what in the graph itself."""
    network = closed(SmallClassifier(), heads=0.6, neurons=0.6, embeddings=0.7)
    smaller, theirs = without_closed(network).encoder, copy.deepcopy(network).encoder
    hidden, batch = torch.randn(2, 5, 12), small_batch()
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    for part in gated_parts(network, ("heads", "neurons", "embeddings")):
        gone = ~open_gates(part).repeat_interleave(part.width)
        if part.kind == "heads":
            block = theirs.attention[part.block]
            pruned_by_torch_pruning(WithoutProbabilities(block), (hidden, mask), block.value, gone)
        elif part.kind == "neurons":
            block = theirs.ffn[part.block]
            pruned_by_torch_pruning(block, (hidden,), block.up, gone)
        else:
            block, inputs = theirs.embeddings, (batch["token_ids"], batch["type_ids"])
            pruned_by_torch_pruning(block, inputs, block.word, gone)
    ours, found = smaller.state_dict(), theirs.state_dict()
    assert ours.keys() == found.keys()
    fitted = ("embeddings.norm.weight", "embeddings.norm.bias")
    for name, value in ours.items():
        assert value.shape == found[name].shape, name
        assert name in fitted or torch.equal(value, found[name]), name
