import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.model.config import AlbertConfig
from zh_albert.model.sharing import (
    LayerBlocks,
    config_of_layers,
    head_size_of,
    heads_of,
    layer_groups,
    neurons_of,
    plan_of,
    published_groups,
    sharing_plan,
    unshared,
)

CONFIG = AlbertConfig(
    hidden_size=12,
    num_hidden_layers=4,
    num_hidden_groups=2,
    num_attention_heads=3,
    intermediate_size=20,
)
PRUNED = replace(CONFIG, block_heads=(1, 5), block_neurons=(7, 8), head_size=2)


def test_all_runs_one_block_in_every_layer() -> None:
    assert sharing_plan("all", 3) == (LayerBlocks(0, 0),) * 3


def test_none_gives_every_layer_its_own() -> None:
    assert sharing_plan("none", 3) == ((0, 0), (1, 1), (2, 2))


def test_attention_shares_attention_only() -> None:
    assert sharing_plan("attention", 3) == ((0, 0), (0, 1), (0, 2))


def test_ffn_shares_feed_forward_only() -> None:
    assert sharing_plan("ffn", 3) == ((0, 0), (1, 0), (2, 0))


def test_groups_hold_for_the_shared_part_only() -> None:
    assert sharing_plan("attention", 4, num_groups=2) == ((0, 0), (0, 1), (1, 2), (1, 3))


def test_more_groups_than_layers_are_numbered_without_gaps() -> None:
    assert published_groups(4, 12) == (0, 3, 6, 9)
    assert sharing_plan("all", 4, num_groups=12) == ((0, 0), (1, 1), (2, 2), (3, 3))


@given(layers=st.integers(1, 48), groups=st.integers(1, 64))
def test_groups_are_neighbours_and_dense(layers: int, groups: int) -> None:
    plan = layer_groups(layers, groups)

    assert list(plan) == sorted(plan)
    assert set(plan) == set(range(min(layers, groups)))


@pytest.mark.parametrize("module", ["zh_albert.model.config", "zh_albert.model.sharing"])
def test_plan_and_config_do_not_load_torch(module: str) -> None:
    code = f"import {module}, sys; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_config_says_plan_and_sizes_with_and_without_fields_for_them() -> None:
    assert plan_of(CONFIG) == sharing_plan("all", 4, 2)
    assert (heads_of(CONFIG), neurons_of(CONFIG), head_size_of(CONFIG)) == ((3, 3), (20, 20), 4)
    assert (heads_of(PRUNED), neurons_of(PRUNED), head_size_of(PRUNED)) == ((1, 5), (7, 8), 2)
    planned = replace(CONFIG, plan=((0, 0), (0, 1), (1, 0), (0, 2)))
    assert plan_of(planned)[3] == LayerBlocks(attention=0, ffn=2)
    assert (len(heads_of(planned)), len(neurons_of(planned))) == (2, 3)


def test_unshared_layers_keep_the_sizes_of_the_blocks_they_ran() -> None:
    found = unshared(replace(PRUNED, plan=((0, 1), (1, 0), (1, 1), (0, 0))))

    assert plan_of(found) == sharing_plan("none", 4)
    assert (found.block_heads, found.block_neurons) == ((1, 5, 5, 1), (8, 7, 8, 7))


def test_chosen_layers_share_what_they_shared_and_lose_blocks_that_none_runs() -> None:
    assert plan_of(config_of_layers(CONFIG, [1, 3, 3])) == ((0, 0), (1, 1), (1, 1))
    last = config_of_layers(PRUNED, [2, 3])
    assert plan_of(last) == ((0, 0), (0, 0))
    assert (last.block_heads, last.block_neurons) == ((5,), (8,))
