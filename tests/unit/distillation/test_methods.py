"""Settings of methods: which go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.small_networks import SmallClassifier
from zh_albert.configio import build
from zh_albert.distillation.methods import MethodsConfig
from zh_albert.errors import ConfigError
from zh_albert.pretraining.distil import DistilConfig
from zh_albert.tasks.classification.finetune import FinetuneConfig
from zh_albert.transforms.learned_drop import LearnedDrop

ALL: dict[str, Any] = {
    "drop": {"rate": 0.5},
    "mask": {"sparsity": 0.5},
    "gates": {},
    "quantize": {"bits": 4},
}


def test_nothing_is_on_by_default() -> None:
    assert MethodsConfig().methods(SmallClassifier(), 1, None) == []


def test_methods_are_made_of_what_is_given() -> None:
    config = build(MethodsConfig, {**ALL, "keep_zeros": True})
    found = config.methods(SmallClassifier(), 1, None)
    names = [type(method).__name__ for method in found]
    assert names == ["LayerDrop", "MagnitudePruning", "GateLearning", "QuantizationAwareTraining"]


def test_rates_of_layers_are_fixed_or_learned() -> None:
    config = build(MethodsConfig, {"drop": {"learned": True}})
    (found,) = config.methods(SmallClassifier(), 1, None)
    assert isinstance(found, LearnedDrop)
    assert found.metadata() == {"drop_rates": [0.2, 0.2, 0.2]}
    with pytest.raises(ConfigError, match=r"drop\.learned"):
        build(MethodsConfig, {"drop": {"learned": 0.3}})


def test_two_that_decide_on_layers_are_refused() -> None:
    config = build(MethodsConfig, {"drop": {}, "replace": {}})
    with pytest.raises(ConfigError, match="drop and replace both decide which layers run"):
        config.methods(SmallClassifier(), 1, Path("teacher"))
    with pytest.raises(ConfigError, match=r"teacher\.model"):
        build(MethodsConfig, {"replace": {}}).methods(SmallClassifier(), 1, None)


@pytest.mark.parametrize("changing", ["drop", "replace"])
def test_layers_that_change_are_not_matched(changing: str) -> None:
    """The n-th state of a pass that leaves layers out would be that of another layer."""
    taught = {"teacher": {"model": "t"}, "match": [{"what": "states"}], changing: {}}
    with pytest.raises(ConfigError, match=f"{changing} changes which layers run.*leave out match"):
        build(FinetuneConfig, taught)
    data = {"train": "shards", "heldout": "shards"}
    of_encoders = "replace is for models of a task"
    problem = "drop changes which layers run.*loss.states" if changing == "drop" else of_encoders
    with pytest.raises(ConfigError, match=problem):
        build(DistilConfig, {"out": "o", "data": data, "teacher": "t", changing: {}})
