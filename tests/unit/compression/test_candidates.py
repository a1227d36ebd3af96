"""Candidates: shapes that can be made, and what they are estimated to need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.micro import CONFIG
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.candidates import (
    Candidate,
    Shape,
    best_by_capacity,
    candidates,
    recipe_for,
    shaped,
    shapes,
)
from zh_albert.compression.measures import around_weights
from zh_albert.compression.surgery import with_groups, with_layers_kept
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.sharing import heads_of, neurons_of
from zh_albert.model.size import parameter_counts
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.transforms.gates import gated_parts
from zh_albert.transforms.removal import close_least, without_closed

SIX = replace(CONFIG, num_hidden_layers=6, num_hidden_groups=4, num_attention_heads=4)
CLASSES = TASKS["classification"]


def candidate(**changed: Any) -> Candidate:
    sizes = {"layers": 6, "heads": 1.0, "neurons": 1.0, "blocks": 4, "words": 16, "bits": 8}
    needs = {"bytes": 1000, "parameters": 1000, "macs": 1000}
    return Candidate(**{**sizes, **needs, **changed})


@pytest.mark.parametrize("shape", [*shapes(SIX)][::7])
def test_a_shape_is_what_cutting_and_pruning_make(shape: Shape) -> None:
    layers = shape.layers
    torch.manual_seed(0)
    whole: Any = torch.nn.Module()
    whole.encoder = AlbertEncoder(SIX)
    kept = [round(number * 6 / layers) for number in range(1, layers + 1)]
    network = with_groups(with_layers_kept(whole, kept), shape.blocks)
    shares: Any = {k: v for k, v in (("heads", shape.heads), ("neurons", shape.neurons)) if v < 1}
    # The same score for all: every block loses as many, as the estimate has it.
    scores = {
        (part.kind, part.block): torch.arange(part.gates).flip(0).float()
        for part in gated_parts(network, shares)
    }
    close_least(network, scores, shares)
    made = replace(without_closed(network).encoder.config, embedding_size=shape.words)

    expected = shaped(SIX, shape)
    assert sum(heads_of(made)) == sum(heads_of(expected))
    assert sum(neurons_of(made)) == sum(neurons_of(expected))
    assert parameter_counts(made) == parameter_counts(expected)
    assert len(expected.plan) == layers


@pytest.mark.slow
def test_the_estimate_of_size_is_that_of_the_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    labels, window = OneClass(["a", "b"]), WindowConfig(max_length=32, stride=8)
    model = TextClassifier(SIX, default_tokenizer(), labels, window=window, pooling="mean")
    model.save(tmp_path / "whole", card="x", dtype=torch.float32)
    _, settings = load_config(tmp_path / "whole")
    besides = around_weights(tmp_path / "whole")
    found = candidates(CLASSES, model, settings, besides=besides)

    assert found[0].macs == max(one.macs for one in found)
    assert len({one.name for one in found}) == len(found)
    for one in found[:5]:  # the whole network in 8 to 3 bits
        model.save(
            tmp_path / str(one.bits), card="x", dtype=torch.int8, bits=one.bits, group=one.group
        )
        size = sum(path.stat().st_size for path in (tmp_path / str(one.bits)).iterdir())
        assert size == pytest.approx(one.bytes, rel=0.01)


def test_blocks_of_several_sizes_are_not_grouped_and_single_heads_not_pruned() -> None:
    pruned = replace(SIX, head_size=8, block_heads=(1, 1, 2, 2))
    assert {one.blocks for one in shapes(pruned) if one.layers == 6} == {4}
    assert {one.heads for one in shapes(pruned) if one.layers == 6} == {1.0}
    other = replace(SIX, embedding_layout="brightmart")
    assert {one.words for one in shapes(other)} == {16}
    many = replace(SIX, num_hidden_layers=12, num_hidden_groups=1)
    assert [*dict.fromkeys(one.layers for one in shapes(many))] == [12, 9, 8, 6, 4, 3]


SIZES = ("layers", "neurons", "blocks", "bits")


@given(
    st.lists(
        st.tuples(
            st.integers(1, 6),
            st.sampled_from([1.0, 0.5, 0.25]),
            st.integers(1, 3),
            st.sampled_from([8, 6, 4]),
        ),
        min_size=1,
        max_size=12,
        unique=True,
    )
)
def test_no_candidate_that_is_trained_is_surpassed(
    rows: list[tuple[int, float, int, int]],
) -> None:
    whole = candidate(layers=6, blocks=3)
    found = [candidate(**dict(zip(SIZES, row, strict=True))) for row in rows]

    def surpassed(row: tuple[float, ...]) -> bool:
        return any(
            other != row and all(b >= a for a, b in zip(row, other, strict=True)) for other in rows
        )

    chosen = best_by_capacity(found, whole, 99)
    front = {row for row in rows if not surpassed(row)}
    assert {tuple(getattr(one, name) for name in SIZES) for one in chosen} == front
    assert len(chosen) == len(front)
    losses = [one.expected_loss(whole) for one in chosen]
    assert losses == sorted(losses)
    assert best_by_capacity(found, whole, 1) == chosen[:1]


def test_recipes_have_the_stages_that_a_candidate_needs() -> None:
    def stages(one: Candidate, **settings: Any) -> dict[str, Any]:
        recipe = recipe_for(one, SIX, settings)
        return {stage.name: getattr(stage, stage.action) for stage in recipe.stages}

    assert list(stages(candidate(bits=6))) == ["file"]
    cut = stages(candidate(layers=3, blocks=1, words=8))
    assert list(cut) == ["student", "teach", "file"]
    assert (cut["student"].layers, cut["student"].groups) == (3, 1)
    assert cut["student"].embedding_size == 8
    assert list(stages(candidate(heads=0.5))) == ["remove", "learn", "file"]
    rounded = stages(candidate(bits=3), train={"epochs": 5})
    assert list(rounded) == ["round", "file"]
    assert rounded["round"]["quantize"] == {"bits": 3, "group": 32}
    assert rounded["round"]["train"]["epochs"] == 5
    assert (rounded["file"].bits, rounded["file"].group) == (3, 32)

    taught = {"teacher": {"temperature": 4.0}, "match": [{"what": "attention"}]}
    plain = recipe_for(candidate(layers=3, bits=4), SIX, taught, plain=True)
    tunes = [stage.tune for stage in plain.stages if stage.tune]
    assert [{"teacher", "match"} & set(tune) for tune in tunes] == [set(), set()]


def test_lstms_have_no_candidates() -> None:
    model = TextClassifier(
        replace(CONFIG, layer="lstm"),
        default_tokenizer(),
        OneClass(["a", "b"]),
        window=WindowConfig(max_length=32, stride=8),
    )
    with pytest.raises(ConfigError, match="a budget: expected an encoder of transformer layers"):
        candidates(CLASSES, model, {"name": "classification"}, besides=0)
