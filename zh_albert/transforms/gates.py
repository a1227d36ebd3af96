"""Gates on heads, feed-forward neurons and dimensions of the word vectors.

A gate multiplies the columns that read a head (of ``dense``), a neuron (of ``down``) or a dimension
(of the embeddings' projection): at 0, nothing of it is read, and ``removal`` takes it out. Layers
that share a block share its gates.

Source: McCarley et al. 2019 (arXiv:1910.06360), gates on BERT for question answering; Michel et
al. 2019 (arXiv:1905.10650), importance; Louizos et al. 2018 (arXiv:1712.01312), hard concrete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from zh_albert.configio import check_above_0
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import encoder_of
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.training.loop import UNITS, LossOutput, Objective
from zh_albert.training.resume import seed_for
from zh_albert.transforms.parametrized import Transforms, transformed

Kind = Literal["heads", "neurons", "embeddings"]
# Of the stretched sigmoid that a gate is: with such ends exact zeros and ones have probability.
_LOW, _HIGH, _SHARPNESS = -0.1, 1.1, 2 / 3
_AJAR = 1e-3  # an open gate's least value where nothing is drawn: removal takes what is exactly 0
_PROCESS = 1 << 21  # no process has this number: draws differ from any other of an update


class Gated(NamedTuple):
    """The matrix whose columns are gated, and how many columns each gate has."""

    kind: Kind
    block: int
    """Number of the block; 0 for the embeddings."""
    module: nn.Linear
    width: int
    """Columns of one gate."""

    @property
    def gates(self) -> int:
        """Number of gates."""
        return self.module.in_features // self.width


def gated_parts(network: Any, kinds: Iterable[Kind]) -> Iterator[Gated]:
    """Yield what can be gated.

    Args:
        network: An encoder, or a network with an ``encoder``.
        kinds: Which of it.

    Raises:
        ConfigError: If there are no heads and neurons, for layers are LSTMs.
    """
    encoder: Any = encoder_of(network)
    for kind in kinds:
        if kind != "embeddings":
            refuse_lstm(encoder.config, f"gates of {kind}")
        match kind:
            case "heads":
                for number, block in enumerate(encoder.attention):
                    width = block.dense.in_features // block.heads
                    yield Gated(kind, number, block.dense, width)
            case "neurons":
                for number, block in enumerate(encoder.ffn):
                    yield Gated(kind, number, block.down, 1)
            case "embeddings":
                yield Gated(kind, 0, encoder.embeddings.projection, 1)


class Gate(nn.Module):
    """A matrix with gated columns.

    Args:
        values: Shape: (gates,).
        width: Columns of one gate.
    """

    def __init__(self, values: Tensor, width: int) -> None:
        super().__init__()
        self.values = values
        self._width = width

    def forward(self, weight: Tensor) -> Tensor:
        """Return the gated weight. Shape in and out: (outputs, gates · width)."""
        return weight * self.values.repeat_interleave(self._width)


def first_order_importance(
    network: nn.Module,
    kinds: Iterable[Kind],
    losses: Iterable[Callable[[], Tensor]],
) -> dict[tuple[Kind, int], Tensor]:
    """Return how much the loss would change by each gate, to first order: |∂L/∂gate|, summed.

    Args:
        network: Left as it was.
        kinds: What to gate.
        losses: Each computes the loss of one batch with the network. Shape of each: ().

    Returns:
        By kind and block. Shape of each: (gates,).
    """
    parts = list(gated_parts(network, kinds))
    values = [torch.ones(part.gates, requires_grad=True) for part in parts]
    for part, gate in zip(parts, values, strict=True):
        transformed(part.module, Gate(gate, part.width))
    sums = [torch.zeros_like(gate) for gate in values]
    try:
        for loss in losses:
            with parametrize.cached():
                found = torch.autograd.grad(loss(), values)
            sums = [total + gradient.abs() for total, gradient in zip(sums, found, strict=True)]
    finally:
        for part in parts:
            parametrize.remove_parametrizations(part.module, "weight", leave_parametrized=False)
    return {(part.kind, part.block): total for part, total in zip(parts, sums, strict=True)}


@dataclass(frozen=True, kw_only=True)
class GatesConfig:
    """Gates that are learned with the task, and the price of an open one."""

    kinds: tuple[Kind, ...] = ("heads", "neurons")
    kept: float = 0.5  # share of each kind's gates that is aimed at
    weight: float = 10.0  # of the distance from it in the loss
    lr_scale: float = 50.0  # of the gates' own rate: they have a few hundred updates to decide

    def __post_init__(self) -> None:
        if not 0 < self.kept < 1:
            raise ConfigError(
                "gates.kept is the share that stays: expected a number between 0 and 1, found "
                f"{self.kept}"
            )
        for name in ("weight", "lr_scale"):
            check_above_0(f"gates.{name}", getattr(self, name))
        if not self.kinds:
            raise ConfigError("gates.kinds must name at least one of heads, neurons, embeddings")


class HardConcrete(nn.Module):
    """Gates drawn in training, with a probability to be exactly 0, and fixed afterwards.

    Args:
        count: Number of gates.
        width: Columns of one gate.
        scale: The parameter is the logit over this, so that the optimizer's steps are larger.
        kind: All gates of the kind, these among them from now on.
    """

    def __init__(self, count: int, width: int, scale: float, kind: GatesOfKind) -> None:
        super().__init__()
        self._kind = kind
        kind.gates.append(self)
        self.logits = nn.Parameter(torch.full((count,), 2.0 / scale))
        self._width, self._scale = width, scale
        self.noise: Tensor
        self.register_buffer("noise", torch.full((count,), 0.5), persistent=False)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the gated weight. Shape in and out: (outputs, gates · width)."""
        return weight * self.values().repeat_interleave(self._width)

    def draw(self, generator: torch.Generator) -> None:
        """Draw the noise of an update."""
        drawn = torch.rand(len(self.noise), generator=generator)
        self.noise.copy_(drawn.clamp(1e-6, 1 - 1e-6))

    def values(self) -> Tensor:
        """Return the gates, in training those drawn last. Shape: (gates,)."""
        logits = self.logits * self._scale
        if self.training:
            return _stretched((self.noise.logit() + logits) / _SHARPNESS)
        return _stretched(logits).clamp(min=_AJAR).masked_fill(self._kind.shut(self), 0)

    def open_share(self) -> Tensor:
        """Return the expected share of gates that are not 0. Shape: ()."""
        shift = _SHARPNESS * math.log(-_LOW / _HIGH)
        return torch.sigmoid(self.logits * self._scale - shift).mean()


def _stretched(logits: Tensor) -> Tensor:
    return (torch.sigmoid(logits) * (_HIGH - _LOW) + _LOW).clamp(0, 1)


class GatesOfKind:
    """The gates of a kind in all blocks.

    The price of open gates is right on average: after few updates all of them may be open half of
    the time, and none closed for good. So those with the least logits are, where nothing is drawn.

    Attributes:
        gates: Of each block.
        share: Of all of them, how many are open when nothing is drawn; each block keeps one.
    """

    def __init__(self) -> None:
        self.gates: list[HardConcrete] = []
        self.share = 1.0

    @torch.no_grad()
    def shut(self, some: HardConcrete) -> Tensor:
        """Return which gates of a block are not among the open ones. Shape: (gates,), bool."""
        logits = [gates.logits.clone() for gates in self.gates]
        for own in logits:
            own[own.argmax()] = torch.inf
        together = torch.cat(logits)
        open_ones = max(round(self.share * len(together)), len(logits))
        least = together.topk(open_ones).values[-1]
        return logits[self.gates.index(some)] < least


class GateLearning(Transforms):
    """Learned gates on a network, drawn towards a share of open ones.

    Args:
        network: Its weights are transformed in place.
        config: Which gates.
        seed: Of the draws, which are the same on every process and in a resumed run.
    """

    adds_to_loss = True

    def __init__(self, network: Any, config: GatesConfig, seed: int) -> None:
        self._config, self._seed = config, seed
        self._kinds: dict[Kind, GatesOfKind] = {kind: GatesOfKind() for kind in config.kinds}
        for part in gated_parts(network, config.kinds):
            kind = self._kinds[part.kind]
            transformed(part.module, HardConcrete(part.gates, part.width, config.lr_scale, kind))
        self._progress = 0.0

    def on_update(self, update: int, total: int) -> None:
        """Draw the gates; aim at ever fewer open ones, until four fifths of the run."""
        generator = torch.Generator().manual_seed(seed_for(self._seed, update, _PROCESS))
        self._progress = min((update + 1) / (0.8 * total), 1.0)
        for kind in self._kinds.values():
            kind.share = 1 - (1 - self._config.kept) * self._progress
            for gates in kind.gates:
                gates.draw(generator)

    def settled(self) -> bool:
        """Return whether the aim is that of the end."""
        return self._progress == 1.0

    def objective(self, objective: Objective) -> Objective:
        """Return the objective with the price of open gates, which the log shows."""
        inner = super().objective(objective)

        def with_price(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            loss, measured = inner(module, inputs)
            units = inputs[UNITS]
            told = dict(measured)
            for name, kind in self._kinds.items():
                share = torch.stack([gates.open_share() for gates in kind.gates]).mean()
                loss = loss + units * self._config.weight * (share - kind.share).abs()
                told[f"open_{name}"] = share.detach() * units, None
            return LossOutput(loss, told)

        return with_price
