"""LayerDrop at learned rates: how often layers are left out, which, and what gradients say."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from tests.helpers.small_networks import SmallClassifier, counted, small_batch
from zh_albert.compression.surgery import kept_layers, with_layers_kept
from zh_albert.distillation.booster import Booster, BoosterConfig
from zh_albert.training.loop import LossOutput
from zh_albert.training.method import Methods
from zh_albert.transforms.learned_drop import DROP_RATES, GatedLayer, LearnedDrop, rates_of
from zh_albert.transforms.plans import DropConfig, LayerDrop


def loss_of(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    return LossOutput(module(*[*inputs.values()][:3]).square().sum())


def learned(network: SmallClassifier, rate: float = 0.3) -> LearnedDrop:
    return LearnedDrop(network, DropConfig(rate=rate, learned=True), 0)


def with_scores(method: LearnedDrop, *values: float) -> LearnedDrop:
    """Move the scores as training would."""
    with torch.no_grad():
        method._scores.copy_(1 + torch.tensor(values) / 50)
    return method


def kept(network: SmallClassifier) -> list[bool]:
    layers = network.encoder.layers_in_training
    assert layers is not None
    return [layer.kept for layer, _ in layers if isinstance(layer, GatedLayer)]


@pytest.mark.parametrize("mean", [0.05, 0.2, 0.5, 0.9])
def test_rates_keep_their_mean_and_the_order_of_the_scores(mean: float) -> None:
    scores = torch.tensor([2.0, -2.0, 0.3, 0.2, -1.0, 0.0], requires_grad=True)
    rates = rates_of(scores, mean)
    assert rates.mean().item() == pytest.approx(mean, abs=1e-6)
    assert rates.argsort().tolist() == scores.argsort().tolist()
    assert rates.min() > 0
    assert rates.max() < 1
    rates.mean().backward()  # what moves one score moves the others' rates the other way
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.zeros(6), atol=1e-6, rtol=0)
    exact = scores.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda given: rates_of(given, mean), exact)


def test_small_rates_are_the_papers_softmax() -> None:
    scores = torch.tensor([1.0, -1.0, 0.3])
    expected = 3 * 1e-4 * scores.softmax(0)
    torch.testing.assert_close(rates_of(scores, 1e-4), expected, rtol=1e-3, atol=0)


@pytest.mark.slow
def test_layers_are_left_out_as_often_as_their_rates_say() -> None:
    network, updates = SmallClassifier(), 2_000
    method = with_scores(learned(network), 1.0, -1.0, 0.1)
    counts = torch.zeros(3)
    for update in range(updates):
        method.on_update(update, updates)
        counts += ~torch.tensor(kept(network))
    rates = method.rates().detach()
    assert rates.max() > 2 * rates.min()
    assert ((counts / updates - rates).abs() < 3 * (rates * (1 - rates) / updates).sqrt()).all()


@pytest.mark.parametrize("sharing", ["none", "all"])
def test_at_the_start_a_pass_is_that_of_plain_layerdrop(sharing: str) -> None:
    """And evaluation runs all layers."""
    network, batch = SmallClassifier(sharing=sharing), small_batch()
    whole = network.eval()(**batch)
    plain, method = LayerDrop(network, DropConfig(rate=0.3), 0), learned(network)
    objective = method.objective(loss_of)
    for update in range(12):
        found = []
        for one, loss in ((plain, loss_of), (method, objective)):
            one.on_update(update, 12)
            network.train().zero_grad()
            loss(network, batch).loss.backward()
            gradients = [p.grad for p in network.parameters()]
            found.append((network(**batch), gradients))
            assert torch.equal(network.eval()(**batch), whole)
        torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


def test_some_tokens_alone_are_encoded_the_same() -> None:
    network, batch = SmallClassifier(), small_batch()
    columns = torch.tensor([[0, 3], [1, 1], [2, 4]])
    method = learned(network)
    for update in range(12):
        method.on_update(update, 12)
        some = network.encoder.encode_some(**batch, columns=columns)
        hidden = network.encoder(**batch).hidden
        expected = hidden.gather(1, columns[:, :, None].expand(-1, -1, hidden.shape[-1]))
        torch.testing.assert_close(some, expected)


def test_the_expected_gradient_of_a_rate_is_the_loss_without_minus_that_with() -> None:
    """Exactly so for a loss that is quadratic in the gate."""
    network, batch = SmallClassifier(sharing="all"), small_batch()
    rate = torch.tensor(0.2, requires_grad=True)
    block = GatedLayer(network.encoder.attention[0], network.encoder.ffn[0])
    hidden = network.encoder.embeddings(batch["token_ids"], batch["type_ids"])
    mask = batch["mask"][:, None, None, :]
    losses, expected = {}, torch.zeros(())
    for block.kept in (True, False):
        block.rate = rate
        loss = block(hidden, mask)[0].square().sum()
        (found,) = torch.autograd.grad(loss, rate)
        losses[block.kept] = loss.detach()
        expected += (0.8 if block.kept else 0.2) * found * 50
    torch.testing.assert_close(expected, losses[False] - losses[True])


def test_layers_that_share_a_block_have_gates_of_their_own() -> None:
    network, batch = SmallClassifier(sharing="all"), small_batch()
    method = learned(network, rate=0.6)
    trained = method.around(network)
    seen, differ = set(), set()
    for update in range(20):
        method.on_update(update, 20)
        trained.zero_grad()
        method.objective(loss_of)(trained, batch).loss.backward()
        gradient = method._scores.grad
        assert gradient is not None
        differ.add(len(set(gradient.tolist())))
        block = network.encoder.ffn[0].up.weight.grad
        seen.add((any(kept(network)), block is not None and bool(block.any())))
    assert seen == {(True, True), (False, False)}  # a block learns if one of its layers runs
    assert max(differ) == 3


@pytest.mark.slow
@pytest.mark.parametrize("useless", [1, 2, 4])
def test_a_useless_layer_is_left_out_most_and_cut_first(useless: int) -> None:
    network, batch = SmallClassifier(num_hidden_layers=4, norm_position="pre"), small_batch()
    encoder = network.encoder
    with torch.no_grad():  # the layer adds nothing
        for last in (encoder.attention[useless - 1].dense, encoder.ffn[useless - 1].down):
            last.weight.zero_()
            last.bias.zero_()
    labels = network.eval()(**batch).detach().softmax(-1)
    method = learned(network.train(), rate=0.3)
    trained = method.around(network.requires_grad_(False))

    def objective(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        return LossOutput(F.cross_entropy(module(*[*inputs.values()][:3]), labels))

    optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3, weight_decay=0)
    for update in range(200):
        method.on_update(update, 200)
        loss, told = method.objective(objective)(trained, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    rates = method.metadata()[DROP_RATES]
    shown = [told[f"drop_{layer}"][0].item() for layer in (1, 2, 3, 4)]
    assert rates == pytest.approx(shown, abs=0.05)
    assert rates.index(max(rates)) == useless - 1, rates
    assert sum(rates) / 4 == pytest.approx(0.3, abs=1e-3)
    left = kept_layers(3, "learned", 4, rates)
    assert left == tuple(layer for layer in range(1, 5) if layer != useless)
    torch.testing.assert_close(with_layers_kept(network, left).eval()(**batch).softmax(-1), labels)


def test_what_is_trained_beside_the_network_is_not_kept_in_it() -> None:
    network = SmallClassifier()
    names = set(network.state_dict())
    method = learned(network)
    trained = method.around(network)
    method.on_update(0, 1)
    assert set(network.state_dict()) == names
    added = dict(itertools.islice(trained.named_parameters(), 1))
    assert [tuple(value.shape) for value in added.values()] == [(3,)]
    assert method.leaves_unused


def test_a_booster_learns_beside_it() -> None:
    network, batch = SmallClassifier(num_hidden_layers=2), small_batch()
    booster = Booster(network, SmallClassifier(1), BoosterConfig(shared=1))
    method = learned(network, rate=0.5)
    both = Methods([method, booster])
    trained = both.around(network)
    both.on_update(0, 1)
    both.objective(loss_of)(trained, counted(batch)).loss.backward()
    assert method._scores.grad is not None
    assert method._scores.grad.any()
    assert any(value is method._scores for value in trained.parameters())


def test_gradients_pass_in_half_precision() -> None:
    network, batch = SmallClassifier(), small_batch()
    method = learned(network, rate=0.5)
    trained = method.around(network)
    found = []
    for enabled in (False, True):
        method.on_update(1, 2)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            loss = method.objective(loss_of)(trained, batch).loss
        found.append(torch.autograd.grad(loss, method._scores)[0])
    torch.testing.assert_close(found[0], found[1], rtol=0.1, atol=0.05)
