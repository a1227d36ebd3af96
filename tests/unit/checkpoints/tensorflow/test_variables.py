"""Variables of a checkpoint: weights, averages, state of training; their prefixes."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.checkpoints.tensorflow.variables import sort_variables
from zh_albert.errors import CheckpointError

HERE = Path("model.ckpt")
WEIGHTS = {"bert/pooler/dense/kernel": (8, 8), "bert/pooler/dense/bias": (8,)}
AVERAGES = {f"{name}/ExponentialMovingAverage": shape for name, shape in WEIGHTS.items()}


def test_what_is_named_after_a_weight_is_state_of_its_optimizer_and_is_listed() -> None:
    slots = ("adam_m", "adam_v", "lamb_m", "AdamWeightDecayOptimizer_1", "Momentum")
    state = {f"{name}/{slot}": shape for name, shape in WEIGHTS.items() for slot in slots}

    weights, notes = sort_variables({**WEIGHTS, **state, "beta1_power": ()}, ["global_step"], HERE)

    assert weights == {name: name for name in WEIGHTS}
    assert notes == [
        "left out as state of the training: 2 × …/AdamWeightDecayOptimizer_1, 2 × …/Momentum, "
        "2 × …/adam_m, 2 × …/adam_v, 2 × …/lamb_m, beta1_power, global_step"
    ]


def test_averages_of_all_weights_are_the_weights() -> None:
    slots = {f"{name}/adam_m": shape for name, shape in WEIGHTS.items()}

    weights, notes = sort_variables({**WEIGHTS, **AVERAGES, **slots}, [], HERE)

    assert weights == {name: f"{name}/ExponentialMovingAverage" for name in WEIGHTS}
    assert notes == [
        "weights are the exponential moving averages of 2 variables, not the 2 variables "
        "themselves",
        "left out as state of the training: 2 × …/adam_m",
    ]


def test_averages_alone_are_taken() -> None:
    weights, notes = sort_variables(AVERAGES, [], HERE)

    assert weights == {name: f"{name}/ExponentialMovingAverage" for name in WEIGHTS}
    assert notes == ["weights are the exponential moving averages of 2 variables"]


def test_averages_of_some_weights_are_left_out() -> None:
    some = dict([*AVERAGES.items()][:1])

    weights, notes = sort_variables({**WEIGHTS, **some}, [], HERE)

    assert weights == {name: name for name in WEIGHTS}
    assert notes == [
        "left out: exponential moving averages, for only 1 of 2 variables have one",
    ]


@pytest.mark.parametrize("prefix", ["module/bert/", "albert/", "module/albert/", "module_1/bert/"])
def test_prefixes_of_tf_hub_and_other_scopes_are_known(prefix: str) -> None:
    stored = {name.replace("bert/", prefix): shape for name, shape in WEIGHTS.items()}

    weights, notes = sort_variables({**stored, "module/cls/x": (1,)}, [], HERE)

    assert weights == {
        **{name: name.replace("bert/", prefix) for name in WEIGHTS},
        "cls/x": "module/cls/x",
    }
    assert notes == []


def test_the_same_weight_under_two_prefixes_is_refused() -> None:
    twice = {**WEIGHTS, "module/bert/pooler/dense/bias": (8,)}

    with pytest.raises(CheckpointError, match=r"bert/pooler/dense/bias and module/bert/pooler"):
        sort_variables(twice, [], HERE)
