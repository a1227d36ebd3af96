"""Settings of the methods that change training, for tasks and encoders alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zh_albert.distillation.match_terms import MatchTerm
from zh_albert.errors import ConfigError
from zh_albert.training.method import Method
from zh_albert.transforms.gates import GateLearning, GatesConfig
from zh_albert.transforms.learned_drop import LearnedDrop
from zh_albert.transforms.masks import MagnitudePruning, MaskConfig, keep_zeros
from zh_albert.transforms.plans import DropConfig, LayerDrop, ReplaceConfig, Replacement
from zh_albert.transforms.quantization import QuantizationAwareTraining, QuantizeConfig


@dataclass(frozen=True, kw_only=True)
class MethodsConfig:
    """Plans and weight transforms of a run; all are off by default."""

    drop: DropConfig | None = None  # layers left out at random
    replace: ReplaceConfig | None = None  # the teacher's layers, replaced one after another
    mask: MaskConfig | None = None  # small weights that become 0
    keep_zeros: bool = False  # weights that are 0 at the start stay 0
    gates: GatesConfig | None = None  # heads, neurons and dimensions that may close
    quantize: QuantizeConfig | None = None  # weights rounded while training

    def refuse_changing_layers(self, terms: Sequence[MatchTerm]) -> None:
        """Refuse to match the layers of a network that runs others in each update.

        Args:
            terms: What is matched.

        Raises:
            ConfigError: If they do not go together.
        """
        if terms and (self.drop or self.replace):
            raise ConfigError(
                f"{'drop' if self.drop else 'replace'} changes which layers run, so they cannot be "
                "matched with a teacher's: leave out match, teacher.states and loss.states"
            )

    def methods(self, network: Any, seed: int, predecessor: Path | None) -> list[Method]:
        """Return the methods of a network, whose weights are transformed in place.

        Args:
            network: Has an ``encoder``.
            seed: Of the run.
            predecessor: The teacher's folder, for ``replace``.

        Raises:
            ConfigError: If settings do not fit together or the network.
        """
        if self.drop and self.replace:
            raise ConfigError("drop and replace both decide which layers run: give one of them")
        found: list[Method] = []
        if self.drop:
            kind = LearnedDrop if self.drop.learned else LayerDrop
            found.append(kind(network, self.drop, seed))
        if self.replace:
            if predecessor is None:
                raise ConfigError(
                    "replace needs the model whose layers are replaced: teacher.model"
                )
            found.append(Replacement(network, self.replace, predecessor, seed))
        if self.keep_zeros:
            keep_zeros(network)
        if self.mask:
            found.append(MagnitudePruning(network, self.mask))
        if self.gates:
            found.append(GateLearning(network, self.gates, seed))
        if self.quantize:
            found.append(QuantizationAwareTraining(network, self.quantize))
        return found
