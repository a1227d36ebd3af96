"""Smaller networks from trained ones: fewer layers, fewer blocks, a narrower word table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.micro import save_micro_models
from tests.helpers.small_networks import SIZES, SmallClassifier, small_batch, small_encoder
from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.store import save_model
from zh_albert.compression.recipe import PruneConfig
from zh_albert.compression.reduction import pruned
from zh_albert.compression.surgery import (
    kept_layers,
    searched_layers,
    with_embedding_size,
    with_groups,
    with_head_size,
    with_layers_kept,
    with_positions,
)
from zh_albert.compression.work import Work
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer import AttentionBlock
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.sharing import LayerBlocks, heads_of
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.reading.examples import ReadingExample

SIX = {"num_hidden_layers": 6}
SHARED: list[dict[str, Any]] = [
    {"sharing": "none"},
    {"sharing": "all"},
    {"sharing": "all", "num_hidden_groups": 2},
    {"sharing": "all", "num_hidden_groups": 3},
    {"sharing": "attention"},
    {"sharing": "ffn", "num_hidden_groups": 2},
    {"sharing": "none", "block_heads": (1, 2, 3, 3, 2, 1), "head_size": 4},
    {"plan": ((0, 1), (1, 0), (0, 0), (1, 1), (0, 1), (1, 0))},
]


# ---- layers ----


@pytest.mark.parametrize("changes", SHARED)
@pytest.mark.parametrize("layers", [(2, 4, 6), (1, 2), (6,), (1, 3, 4, 5), (1, 2, 3, 4, 5, 6)])
def test_a_cut_network_runs_those_layers(changes: dict[str, Any], layers: tuple[int, ...]) -> None:
    network, batch = SmallClassifier(**SIX, **changes).eval(), small_batch()
    plan = [network.encoder.plan[layer - 1] for layer in layers]
    wanted = network.encoder(**batch, plan=plan).hidden
    smaller = with_layers_kept(network, layers)
    assert torch.equal(smaller.encoder(**batch).hidden, wanted)
    config = smaller.encoder.config
    assert config.num_hidden_layers == len(layers)
    assert len(smaller.encoder.attention) == len({blocks.attention for blocks in plan})
    assert len(smaller.encoder.ffn) == len({blocks.ffn for blocks in plan})
    opened = AlbertEncoder(config).eval()  # the config says the same
    opened.load_state_dict(smaller.encoder.state_dict())
    assert torch.equal(opened(**batch).hidden, wanted)
    assert len(network.encoder.plan) == 6  # as it was


@pytest.mark.parametrize(
    ("changes", "layers", "sharing", "groups"),
    [
        ({"sharing": "all"}, (2, 4, 6), "all", 1),
        ({"sharing": "all", "num_hidden_groups": 3}, (2, 4, 6), "none", 3),
        ({"sharing": "all", "num_hidden_groups": 2}, (1, 2, 5, 6), "all", 2),
        ({"sharing": "none"}, (1, 4), "none", 2),
        ({"sharing": "attention"}, (1, 4), "attention", 1),
        ({"sharing": "ffn"}, (2, 3, 4), "ffn", 1),
    ],
)
def test_a_plan_that_sharing_makes_is_said_by_it(
    changes: dict[str, Any], layers: tuple[int, ...], sharing: str, groups: int
) -> None:
    config = with_layers_kept(small_encoder(**SIX, **changes), layers).config
    assert (config.plan, config.sharing, config.num_hidden_groups) == ((), sharing, groups)


@pytest.mark.parametrize("changes", [{"sharing": "all"}, {"sharing": "none"}])
def test_transformers_opens_what_was_cut(changes: dict[str, Any], tmp_path: Path) -> None:
    smaller = with_layers_kept(small_encoder(**SIX, **changes), (2, 4, 6)).eval()
    sizes = smaller.config
    save_model(tmp_path, model=smaller, config=sizes, files={}, task={}, dtype=torch.float32)
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "albert"
    theirs, batch = transformers.AlbertModel.from_pretrained(tmp_path).eval(), small_batch()
    found = theirs(batch["token_ids"], batch["mask"].long(), batch["type_ids"]).last_hidden_state
    mask = batch["mask"]
    torch.testing.assert_close(found[mask], smaller(**batch).hidden[mask], rtol=1e-4, atol=1e-4)


def test_a_plan_that_no_sharing_makes_is_kept_and_opens(tmp_path: Path) -> None:
    whole = small_encoder(**SIX, sharing="all", num_hidden_groups=2)
    smaller = with_layers_kept(whole, (1, 4, 5)).eval()
    assert smaller.config.plan == (LayerBlocks(0, 0), LayerBlocks(1, 1), LayerBlocks(1, 1))
    sizes = smaller.config
    save_model(tmp_path, model=smaller, config=sizes, files={}, task={}, dtype=torch.float32)
    opened, batch = open_encoder(tmp_path), small_batch()
    torch.testing.assert_close(opened(**batch).hidden, smaller(**batch).hidden)


@given(st.integers(1, 24), st.data())
def test_as_many_layers_are_chosen_as_asked(total: int, data: st.DataObject) -> None:
    layers = data.draw(st.integers(1, total))
    for choice in ("even", "first", "last"):
        found = kept_layers(layers, choice, total)
        assert len(set(found)) == layers
        assert list(found) == sorted(found)
        assert 1 <= found[0] <= found[-1] <= total
    assert kept_layers(layers, "even", total)[-1] == total
    assert kept_layers(layers, "first", total)[0] == 1
    assert kept_layers(layers, "last", total)[-1] == total


@pytest.mark.parametrize(
    ("layers", "problem"),
    [
        (0, "from 1 to 6, the model's layers; got 0"),
        (7, "got 7"),
        ((2, 1), r"ascending order, found \[2, 1\]"),
        ((1, 1), r"found \[1, 1\]"),
        ((0, 3), r"found \[0, 3\]"),
        ((3, 7), r"found \[3, 7\]"),
    ],
)
def test_layers_that_are_not_there_are_refused(layers: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        kept_layers(layers, "even", 6)


def test_layers_left_out_least_are_kept_in_their_order() -> None:
    rates = [0.2, 0.1, 0.3, 0.2, 0.05, 0.35]
    assert kept_layers(2, "learned", 6, rates) == (2, 5)
    assert kept_layers(3, "learned", 6, rates) == (2, 4, 5)  # of equal ones the upper
    assert kept_layers(6, "learned", 6, rates) == (1, 2, 3, 4, 5, 6)
    assert kept_layers((1, 3), "learned", 6) == (1, 3)
    for wrong in (None, [0.1] * 5, ["0.1"] * 6, {"1": 0.1}):
        with pytest.raises(ConfigError, match=r"expected a model with 6 .* drop\.learned = true"):
            kept_layers(3, "learned", 6, wrong)


def test_the_search_keeps_what_the_score_misses_most() -> None:
    asked: list[tuple[int, ...]] = []

    def score(layers: tuple[int, ...]) -> float:
        asked.append(layers)
        return sum({2: 5.0, 5: 3.0, 6: 1.0}.get(layer, 0.1 * layer) for layer in layers)

    assert searched_layers(3, 6, score) == (2, 5, 6)
    assert len(asked) == 6 + 5 + 4
    assert searched_layers(6, 6, score) == (1, 2, 3, 4, 5, 6)
    with pytest.raises(ConfigError, match="from 1 to 6"):
        searched_layers(7, 6, score)


# ---- groups ----


def test_groups_of_equal_blocks_change_nothing() -> None:
    network, batch = SmallClassifier(**SIX).eval(), small_batch()
    encoder = network.encoder
    for layer, like in ((2, 0), (4, 0), (3, 1)):  # groups {1, 3, 5}, {2, 4}, {6}
        encoder.attention[layer].load_state_dict(encoder.attention[like].state_dict())
        encoder.ffn[layer].load_state_dict(encoder.ffn[like].state_dict())
    merged = with_groups(network, 3)
    assert [blocks.ffn for blocks in merged.encoder.plan] == [0, 1, 0, 1, 0, 2]
    assert len(merged.encoder.attention) == len(merged.encoder.ffn) == 3
    torch.testing.assert_close(merged(**batch), network(**batch), rtol=1e-4, atol=1e-5)


def test_a_group_runs_the_mean_of_its_blocks() -> None:
    encoder = small_encoder(num_hidden_layers=2)
    merged = with_groups(encoder, 1)
    for name in ("attention", "ffn"):
        one, other = (getattr(encoder, name)[block].state_dict() for block in (0, 1))
        for key, value in getattr(merged, name)[0].state_dict().items():
            torch.testing.assert_close(value, (one[key] + other[key]) / 2)
    assert (merged.config.sharing, merged.config.plan) == ("all", ())


@pytest.mark.parametrize("sharing", ["attention", "ffn"])
def test_groups_that_cut_across_shared_blocks_run_their_own_means(sharing: Any) -> None:
    encoder = small_encoder(num_hidden_layers=4, num_hidden_groups=2, sharing=sharing)
    shared, own = ("attention", "ffn") if sharing == "attention" else ("ffn", "attention")
    blocks, others = getattr(encoder, shared), getattr(encoder, own)
    with torch.no_grad():  # layers 1 and 3 are nearly equal, but for what 1 and 2, 3 and 4 share
        others[2].load_state_dict(others[0].state_dict())
        for parameter in [*others[0].parameters(), *others[2].parameters()]:
            parameter.add_(1.0)
    grouped = with_groups(encoder, 3)
    first, second, third, fourth = grouped.plan
    assert first == third
    assert len({first, second, fourth}) == 3
    mean = [
        torch.stack(both).mean(0) for both in zip(*(b.parameters() for b in blocks), strict=True)
    ]
    for layer, wanted in ((first, mean), (second, [*blocks[0].parameters()])):
        found = getattr(grouped, shared)[getattr(layer, shared)].parameters()
        for ours, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(ours, theirs)
    last = getattr(grouped, shared)[getattr(fourth, shared)].parameters()
    for ours, theirs in zip(last, blocks[1].parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_as_many_groups_as_blocks_change_nothing() -> None:
    encoder, batch = small_encoder(sharing="all", **SIX).eval(), small_batch()
    assert torch.equal(with_groups(encoder, 1)(**batch).hidden, encoder(**batch).hidden)


@pytest.mark.parametrize(
    ("changes", "groups", "problem"),
    [
        ({}, 4, "from 1 to 3, the model's blocks; got 4"),
        ({"sharing": "all"}, 2, "from 1 to 1"),
        ({"block_neurons": (5, 6, 7)}, 2, "blocks were pruned to several sizes"),
    ],
)
def test_groups_that_cannot_be_made_are_refused(
    changes: dict[str, Any], groups: int, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        with_groups(small_encoder(**changes), groups)


# ---- heads of lower rank ----


def of_rank(encoder: AlbertEncoder, rank: int) -> AlbertEncoder:
    """Make only some dimensions of each head matter, wherever they are."""
    for block in encoder.attention:
        assert isinstance(block, AttentionBlock)
        for linear in (block.key, block.value):
            heads = linear.weight.data.view(block.heads, -1, linear.in_features)
            mixed = torch.randn(heads.shape[1], rank) @ torch.randn(rank, heads.shape[1])
            heads.copy_(mixed @ heads)
    return encoder.eval()


@pytest.mark.parametrize("changes", SHARED)
def test_heads_of_a_lower_rank_lose_nothing_by_being_cut_to_it(changes: dict[str, Any]) -> None:
    whole, batch = of_rank(small_encoder(**SIX, **changes), 2), small_batch()
    cut = with_head_size(whole, 2)
    found, wanted = (one(**batch, return_attention=True) for one in (cut, whole))
    torch.testing.assert_close(found.hidden, wanted.hidden, rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(found.attention, wanted.attention, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    config = cut.config
    assert config.head_size == 2
    assert heads_of(config) == heads_of(whole.config)
    opened = AlbertEncoder(config).eval()  # the config says the same
    opened.load_state_dict(cut.state_dict())
    assert torch.equal(opened(**batch).hidden, cut(**batch).hidden)


def test_a_head_cut_further_is_further_from_what_it_was() -> None:
    torch.manual_seed(0)
    whole, batch = small_encoder(hidden_size=24, num_attention_heads=2).eval(), small_batch()
    away = [
        (with_head_size(whole, size)(**batch).hidden - whole(**batch).hidden).norm().item()
        for size in (11, 8, 4, 1)
    ]
    assert away == sorted(away)
    assert away[0] < 0.2 * away[-1]


@pytest.mark.parametrize("size", [0, 4, 5])
def test_a_rank_that_is_none_is_refused(size: int) -> None:
    with pytest.raises(ConfigError, match=f"head_size must be below 4, the model's; got {size}"):
        with_head_size(small_encoder(head_size=4), size)


# ---- a narrower word table ----

WIDE: dict[str, Any] = {"embedding_size": 32, "vocab_size": 200, "hidden_size": 36}


def texts(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(1, 200, (count, 20), generator=torch.Generator().manual_seed(seed))


def missed(narrow: AlbertEncoder, whole: AlbertEncoder, types: torch.Tensor) -> float:
    """Return the share of the variance of the embeddings of new texts that is missed."""
    ids = texts(32, seed=1)
    with torch.no_grad():
        found, wanted = (one.embeddings(ids, types.expand_as(ids)) for one in (narrow, whole))
    error = (found - wanted).square().sum() / (wanted - wanted.mean((0, 1))).square().sum()
    return float(error)


def test_the_wider_the_table_the_smaller_the_error() -> None:
    whole, one_text = small_encoder(**WIDE).eval(), torch.zeros(20, dtype=torch.long)
    sizes = [4, 8, 16, 24, 31]
    narrow = [with_embedding_size(whole, size, texts(96)) for size in sizes]
    errors = [missed(encoder.eval(), whole, one_text) for encoder in narrow]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.4
    assert errors[-1] < 0.1
    for size, encoder in zip(sizes, narrow, strict=True):
        assert encoder.config.embedding_size == size
        assert encoder.embeddings.word.weight.shape == (200, size)
    assert whole.config.embedding_size == 32


def test_the_second_text_of_a_pair_is_told_from_the_first() -> None:
    whole, second = small_encoder(**WIDE).eval(), (torch.arange(20) >= 10).long()
    narrow = with_embedding_size(whole, 24, texts(96)).eval()
    told = missed(narrow, whole, second)
    assert told == pytest.approx(missed(narrow, whole, torch.zeros_like(second)), rel=0.3)
    with torch.no_grad():
        narrow.embeddings.token_type.weight.zero_()
    assert missed(narrow, whole, second) > 2 * told


@pytest.mark.parametrize(
    ("make", "size", "problem"),
    [
        (small_encoder, 6, "must be below 6, the model's; got 6"),
        (small_encoder, 0, "got 0"),
        (lambda: small_encoder(embedding_layout="brightmart"), 3, "needs the google layout"),
        (lambda: AlbertForPretraining(SIZES), 3, "a masked-LM head writes into the width"),
    ],
)
def test_tables_that_cannot_be_made_are_refused(make: Any, size: int, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        with_embedding_size(make(), size, torch.ones(2, 8, dtype=torch.long))


# ---- positions ----


def test_fewer_positions_read_the_same_until_there(tmp_path: Path) -> None:
    whole, batch = small_encoder().eval(), small_batch()
    length = batch["token_ids"].shape[1]
    smaller = with_positions(whole, length)
    assert torch.equal(smaller(**batch).hidden, whole(**batch).hidden)
    assert smaller.config.max_position_embeddings == length
    save_model(tmp_path, model=smaller, config=smaller.config, files={}, task={})
    opened = open_encoder(tmp_path)
    assert opened.embeddings.position.num_embeddings == length
    longer = {name: torch.cat([value, value], 1) for name, value in batch.items()}
    with pytest.raises(ConfigError, match="too many for this model"):
        smaller(**longer)


@pytest.mark.parametrize("count", [0, SIZES.max_position_embeddings])
def test_no_fewer_positions_are_refused(count: int) -> None:
    with pytest.raises(ConfigError, match=r"cut\.positions must be below"):
        with_positions(small_encoder(), count)


def test_words_of_questions_and_choices_count_as_those_of_texts(tmp_path: Path) -> None:
    saved, work = save_micro_models(tmp_path), tmp_path / "stages"
    asked = Question(context="房间很好", question="谁说", choices=("甲", "乙"))
    for name, kind, example, read in (
        ("reader", "reading", ReadingExample("房间很好", "谁说", (), ()), "谁说房间很好"),
        ("chooser", "choice", ChoiceExample(asked, 0), "谁说房间很好甲乙"),
    ):
        task = TASKS[kind]
        model = task.model.load(saved[name])
        table = model.module.encoder.embeddings.word.weight
        few = (len(model.tokenizer.special) + len(read)) / len(table)
        given = Work(task=task, source=saved[name], train=[example], dev=[], folder=work)
        pruned(PruneConfig(words=few), model, saved[name], given)
        kept = table[model.tokenizer.encode(read).ids]
        assert (kept != 0).any(1).all(), name
