import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.model.sharing import (
    LayerBlocks,
    layer_groups,
    published_groups,
    sharing_plan,
)


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
