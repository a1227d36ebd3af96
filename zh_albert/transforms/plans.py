"""Plans drawn for each update: which layers a pass runs in training, or runs in their place.

The draw is a function of the seed and the update, so a resumed run and every process draw the same.
Evaluation always runs the encoder's own plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.configio import check_fraction
from zh_albert.errors import ConfigError
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.training.loop import LossOutput, Objective
from zh_albert.training.method import Method
from zh_albert.training.resume import seed_for

Layers = list[tuple[nn.Module, nn.Module]]


@dataclass(frozen=True, kw_only=True)
class DropConfig:
    """LayerDrop (Fan et al. 2020, arXiv:1909.11556): layers are left out at random."""

    rate: float = 0.2  # probability with which each layer is left out
    learned: bool = False  # each layer's rate is learned, for cut.choice = "learned"; mean: rate

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(
                "drop.rate is the probability that a layer is left out: expected a number between "
                f"0 and 1, found {self.rate}"
            )


@dataclass(frozen=True, kw_only=True)
class ReplaceConfig:
    """BERT-of-Theseus (Xu et al. 2020, arXiv:2002.02925): a predecessor's modules are replaced.

    The rate is the probability that a layer of the successor runs instead of the predecessor's
    layers it stands for. It grows linearly from ``rate`` to 1 over ``grow``, or stays.
    """

    rate: float = 0.5
    grow: float = 0.0  # share of the run after which it has grown to 1; 0: it stays
    freeze: bool = True  # the embeddings and the head stay as the predecessor's

    def __post_init__(self) -> None:
        check_fraction("replace.rate", self.rate)
        check_fraction("replace.grow", self.grow)

    def rate_at(self, progress: float) -> float:
        """Return the rate when a fraction of the run is done.

        >>> [round(ReplaceConfig(rate=0.3, grow=0.5).rate_at(share), 2) for share in (0, 0.25, 1)]
        [0.3, 0.65, 1.0]
        """
        if not self.grow:
            return self.rate
        return min(1.0, self.rate + (1 - self.rate) * progress / self.grow)


def layers_of(encoder: Any) -> Layers:
    """Return the blocks of each layer of an encoder's own plan."""
    return [(encoder.attention[b.attention], encoder.ffn[b.ffn]) for b in encoder.plan]


def drawn_numbers(seed: int, update: int, count: int) -> list[float]:
    """Return numbers between 0 and 1 that depend on the seed and the update alone."""
    generator = torch.Generator().manual_seed(seed_for(seed, update, 1 << 20))
    drawn: list[float] = torch.rand(count, generator=generator).tolist()
    return drawn


class LayerDrop(Method):
    """Leave out layers at random in training.

    Args:
        network: Has an ``encoder``.
        config: How often.
        seed: Of the draws.
    """

    leaves_unused = True

    def __init__(self, network: Any, config: DropConfig, seed: int) -> None:
        self._encoder, self._config, self._seed = network.encoder, config, seed
        refuse_lstm(self._encoder.config, "drop")

    def on_update(self, update: int, total: int) -> None:  # noqa: ARG002
        """Draw the layers of an update."""
        layers = layers_of(self._encoder)
        drawn = drawn_numbers(self._seed, update, len(layers))
        kept = [layer for layer, one in zip(layers, drawn, strict=True) if one >= self._config.rate]
        self._encoder.layers_in_training = kept


class Replacement(Method):
    """Run a predecessor's layers in the place of some of a student's.

    Args:
        network: The successor, with an ``encoder``. Its embeddings and heads are frozen in place.
        config: How often.
        predecessor: Folder of the model with more layers; frozen.
        seed: Of the draws.

    Raises:
        ConfigError: If the predecessor has another width, or its layers are no multiple.
    """

    leaves_unused = True

    def __init__(self, network: Any, config: ReplaceConfig, predecessor: Path, seed: int) -> None:
        self._encoder, self._config, self._seed = network.encoder, config, seed
        self._theirs = open_encoder(predecessor).requires_grad_(False)
        for encoder in (self._encoder, self._theirs):
            refuse_lstm(encoder.config, "replace")
        layers = len(self._encoder.plan), len(self._theirs.plan)
        widths = self._encoder.config.hidden_size, self._theirs.config.hidden_size
        if layers[1] % layers[0] or widths[1] != widths[0]:
            raise ConfigError(
                f"replace: {predecessor} has {layers[1]} layers of hidden_size {widths[1]}, the "
                f"student {layers[0]} of {widths[0]}; expected the same width, and a multiple of "
                "the student's layers"
            )
        if config.freeze:
            network.requires_grad_(False)
            for blocks in (self._encoder.attention, self._encoder.ffn):
                blocks.requires_grad_(True)

    def on_update(self, update: int, total: int) -> None:
        """Draw which layers run in an update: one draw for each of the successor's."""
        rate = self._config.rate_at(update / max(total, 1))
        ours, theirs = layers_of(self._encoder), layers_of(self._theirs)
        each = len(theirs) // len(ours)
        chosen: Layers = []
        self._replaced = 0
        for number, one in enumerate(drawn_numbers(self._seed, update, len(ours))):
            if one < rate:
                chosen.append(ours[number])
                self._replaced += 1
            else:
                chosen += theirs[number * each : (number + 1) * each]
        self._encoder.layers_in_training = chosen

    def objective(self, objective: Objective) -> Objective:
        """Return the objective; the log shows the share of layers that were replaced."""

        def replaced(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            self._theirs.to(inputs["mask"].device)
            loss, measured = objective(module, inputs)
            if not loss.requires_grad:  # no layer of the successor ran: nothing is learned
                loss = loss + 0 * sum(p.sum() for p in self._encoder.ffn.parameters())
            share = torch.tensor(self._replaced / len(self._encoder.plan))
            return LossOutput(loss, {**measured, "replaced": (share, 1)})

        return replaced
