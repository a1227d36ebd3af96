"""Weights rounded while training, as files round them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tests.helpers.micro import CONFIG
from tests.helpers.small_networks import SmallClassifier, small_batch
from zh_albert.errors import ConfigError
from zh_albert.model.baking import bake, baked_state
from zh_albert.model.rounding import dequantized, is_rounded, rounded
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import PaddedBatch
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.loop import LossOutput
from zh_albert.training.precision import Autocast
from zh_albert.transforms.quantization import (
    FakeQuantization,
    QuantizationAwareTraining,
    QuantizeConfig,
)


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*inputs.values()).square().sum())


def quantized(network: Any, **config: Any) -> QuantizationAwareTraining:
    return QuantizationAwareTraining(network, QuantizeConfig(**config))


@pytest.mark.parametrize(("bits", "group"), [(2, None), (4, None), (4, 4), (8, None), (8, 4)])
def test_without_updates_it_is_rounding_after_training(bits: int, group: int | None) -> None:
    network, plain = SmallClassifier(), SmallClassifier()
    quantized(network, bits=bits, group=group)
    state = baked_state(network)
    assert state.keys() == plain.state_dict().keys()
    for name, value in plain.state_dict().items():
        wanted = dequantized(*rounded(value, bits, group)) if is_rounded(name) else value
        assert torch.equal(state[name], wanted), name


def test_training_sees_exactly_what_is_stored() -> None:
    weight = torch.randn(200, 50, generator=torch.Generator().manual_seed(0)) ** 3
    for bits in (2, 4, 8):
        found = FakeQuantization(bits, None).train()(weight)
        assert torch.equal(found, dequantized(*rounded(weight, bits, None)))


def classifier() -> TextClassifier:
    torch.manual_seed(0)
    window = WindowConfig(max_length=16, stride=4)
    return TextClassifier(CONFIG, default_tokenizer(), OneClass(["a", "b"]), window=window)


def test_a_rounded_network_runs_in_bf16_with_the_same_integers() -> None:
    network = classifier().module
    quantized(network, bits=4)
    batch = PaddedBatch(*(part.numpy() for part in small_batch().values()))
    exact, near = (TorchRuntime(one.eval())(batch) for one in (network, Autocast(network)))
    assert near == pytest.approx(exact, abs=0.02)
    assert (near != exact).any()


@pytest.mark.parametrize("bits", [3, 4])
def test_a_file_holds_what_was_trained(bits: int, tmp_path: Path) -> None:
    """The same file comes of a network that was rounded while training, and of one after."""
    for name in ("trained", "after"):
        model = classifier()
        if name == "trained":
            quantized(model.module, bits=bits)
            bake(model.module)
            logits = model.module.eval()(*small_batch().values())
        model.save(tmp_path / name, card=name, dtype=torch.int8, bits=bits)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("trained", "after"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    opened = TextClassifier.load(tmp_path / "trained").module.eval()
    torch.testing.assert_close(opened(*small_batch().values()), logits, rtol=1e-2, atol=1e-2)


def test_gradients_pass_as_if_nothing_were_rounded() -> None:
    network = SmallClassifier()
    method, batch = quantized(network, bits=4), small_batch()
    method.objective(loss_of)(network, batch).loss.backward()
    plain = SmallClassifier()
    plain.load_state_dict(baked_state(network))
    loss_of(plain, batch).loss.backward()
    stored = network.encoder.ffn[0].up.parametrizations.weight.original  # type: ignore[union-attr]
    torch.testing.assert_close(stored.grad, plain.encoder.ffn[0].up.weight.grad)


def test_it_learns_to_fit_in_spite_of_rounding() -> None:
    network, batch = SmallClassifier(), small_batch()
    method = quantized(network, bits=3)
    objective = method.objective(loss_of)
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3)
    losses = []
    for update in range(60):
        method.on_update(update, 60)
        loss = objective(network, batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4


def test_rounding_begins_at_its_time_in_training_and_always_in_evaluation() -> None:
    network, batch = SmallClassifier(), small_batch()
    exact = network(*batch.values())
    method = quantized(network, bits=3, start=0.5)
    found = []
    for update in range(4):
        method.on_update(update, 4)
        network.train()
        found.append(network(*batch.values()))
        evaluated = network.eval()(*batch.values())
        assert not torch.allclose(evaluated, exact)
    assert torch.equal(found[0], exact)
    assert torch.equal(found[1], exact)
    for late in found[2:]:
        assert torch.equal(late, evaluated)


@pytest.mark.parametrize("bits", [0, 1, 9])
def test_integers_that_are_not_stored_are_refused(bits: int) -> None:
    with pytest.raises(ConfigError, match=f"bits: expected 2 to 8 for a weight, found {bits}"):
        QuantizeConfig(bits=bits)


@pytest.mark.parametrize("values", [{"group": 1}, {"start": 1.0}, {"start": -0.1}])
def test_settings_that_mean_nothing_are_refused(values: dict) -> None:
    with pytest.raises(ConfigError, match=f"quantize.{next(iter(values))} must be"):
        QuantizeConfig(bits=4, **values)


@pytest.mark.parametrize("start", [0.0, 0.5, 0.99])
def test_the_last_update_rounds_however_short_a_run_is(start: float) -> None:
    method = quantized(SmallClassifier(), bits=4, start=start)
    for total in (1, 2, 4, 60):
        for update in range(total):
            method.on_update(update, total)
        assert method.settled()
