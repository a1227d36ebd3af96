"""LayerDrop with a rate for each layer that is learned: layers missed little are left out more.

Source: Fan et al. 2020 (arXiv:1909.11556), "data driven pruning": the rate of a layer is a
non-linear function of its activation, a softmax over the layers keeps their mean at a target, and
the k layers with the highest scores are the pruned network, whatever its input. The paper gives
neither that function, nor what a softmax times the number of layers becomes above 1, nor how
gradients pass a draw, and no code of it was published. Here:

- A layer has one score, not a function of its activation: what is kept is one ranking for all
  texts, and draws stay the same on every process and in a resumed run. The activation decides
  through the gradient: that of a gate on what the layer changes.
- Rates are sigmoids of the score plus a shift common to all, which gives them their mean. Far below
  1 that is the softmax, and no rate reaches 1. Scores are bounded, so that no layer is given up
  while others are still learned.
- The loss with a layer minus the loss without is estimated by the mean of the derivatives at both
  ends of the gate, exact for a quadratic (Heun's method, as in Liu et al. 2023, arXiv:2304.08612).
  A layer that is left out is computed for it, but not trained.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.training.loop import LossOutput, Objective
from zh_albert.training.method import Beside, Method
from zh_albert.transforms.plans import DropConfig, drawn_numbers, layers_of

DROP_RATES = "drop_rates"
"""The entry of ``config.json`` with the learned rates, in the order of the layers."""
_BOUND = 2.0  # of scores: of six layers with a mean of 0.2, rates are from 0.08 to 0.82
_FASTER = 50.0  # than the weights: scores have a few hundred updates to part


def rates_of(scores: Tensor, mean: float) -> Tensor:
    """Return rates that grow with the scores and have the given mean; gradients reach the scores.

    Args:
        scores: Only their differences matter. Shape: (layers,).
        mean: Between 0 and 1.

    Returns:
        Between 0 and 1. Shape: (layers,).

    >>> rates_of(torch.tensor([-1.0, 0.0, 1.0]), 0.5)
    tensor([0.2689, 0.5000, 0.7311])
    """
    values = scores.detach().cpu().double()
    middle = torch.tensor(mean, dtype=torch.float64).logit()
    low, high = middle - values.max(), middle - values.min()
    for _ in range(50):
        shift = (low + high) / 2
        if (values + shift).sigmoid().mean() < mean:
            low = shift
        else:
            high = shift
    rates = (scores.detach() + shift.item()).sigmoid()
    slopes = rates * (1 - rates)
    # Its value is 0; its derivative is that of the shift, without which the mean would not stay.
    moved = (slopes * (scores - scores.detach())).sum() / slopes.sum()
    return (scores + shift.item() - moved).sigmoid()


class GatedLayer(nn.Module):
    """A layer that runs or not, with a gradient for the rate at which it does not.

    Its blocks are those of the encoder, and other layers may run them, too.

    Attributes:
        rate: Set for each pass. Shape: ().
        kept: Whether the layer runs in this update.
    """

    def __init__(self, attend: nn.Module, feed_forward: nn.Module) -> None:
        super().__init__()
        self.attend, self.feed_forward = attend, feed_forward
        self.rate = torch.tensor(0.5)
        self.kept = True

    def forward(
        self, hidden: Tensor, mask: Tensor, *, queries: Tensor | None = None, **named: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return the layer's output or its input; see ``AttentionBlock`` for the arguments."""
        before = hidden if queries is None else queries
        with torch.set_grad_enabled(self.kept and torch.is_grad_enabled()):
            attended, probabilities = self.attend(hidden, mask, queries=queries, **named)
            after: Tensor = self.feed_forward(attended)
        change = (after - before).detach()
        probability = (1 - self.rate if self.kept else self.rate).detach()
        # 0, with a derivative; over _FASTER, so that clipping sees gradients as of unscaled scores.
        gate = (self.rate.detach() - self.rate) / (2 * probability * _FASTER)
        return (after if self.kept else before) + gate * change, probabilities


class LearnedDrop(Method):
    """Leave out layers at rates that are learned with everything else; their mean stays.

    Args:
        network: Has an ``encoder``.
        config: The mean rate.
        seed: Of the draws.
    """

    leaves_unused = True

    def __init__(self, network: Any, config: DropConfig, seed: int) -> None:
        self._encoder, self._config, self._seed = network.encoder, config, seed
        refuse_lstm(self._encoder.config, "drop")
        self._layers = [GatedLayer(*blocks) for blocks in layers_of(self._encoder)]
        # Equal: it begins as plain LayerDrop. Not 0: LAMB scales steps by the norm of the weight.
        self._scores = nn.Parameter(torch.ones(len(self._layers)))

    def rates(self) -> Tensor:
        """Return the rate of each layer. Shape: (layers,)."""
        scores = _BOUND * torch.tanh((self._scores.float() - 1) * _FASTER)
        return rates_of(scores, self._config.rate)

    def metadata(self) -> dict[str, Any]:
        """Return the rates, for a cut."""
        return {DROP_RATES: [round(rate, 4) for rate in self.rates().tolist()]}

    def around(self, network: nn.Module) -> nn.Module:
        """Return the network with the scores."""
        return Beside(network, scores=self._scores)

    def on_update(self, update: int, total: int) -> None:  # noqa: ARG002
        """Draw the layers of an update."""
        drawn = drawn_numbers(self._seed, update, len(self._layers))
        for layer, one, rate in zip(self._layers, drawn, self.rates().tolist(), strict=True):
            layer.kept = one >= rate
        self._encoder.layers_in_training = [(layer, nn.Identity()) for layer in self._layers]

    def objective(self, objective: Objective) -> Objective:
        """Return the objective; the log shows each layer's rate."""

        def with_rates(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            rates = self.rates()
            for layer, rate in zip(self._layers, rates, strict=True):
                layer.rate = rate
            loss, measured = objective(module, inputs)
            told = {}
            for number, (layer, rate) in enumerate(
                zip(self._layers, rates.detach().cpu(), strict=True), start=1
            ):
                layer.rate = rate  # no graph is left in the encoder, which may be copied
                told[f"drop_{number}"] = rate, 1
            return LossOutput(loss, {**measured, **told})

        return with_rates
