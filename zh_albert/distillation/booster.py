"""A booster: a larger network that is trained along and shares the bottom layers.

Source: Zhou et al. 2018, Rocket Launching (arXiv:1708.04106).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from zh_albert.configio import check_above_0, check_at_least
from zh_albert.errors import ConfigError
from zh_albert.model.sharing import LayerBlocks
from zh_albert.training.loop import UNITS, LossOutput, Objective
from zh_albert.training.method import Method
from zh_albert.transforms.plans import layers_of


@dataclass(frozen=True, kw_only=True)
class BoosterConfig:
    """A teacher that learns with its student; ``teacher.model`` says what it begins as."""

    shared: int = 1  # layers at the bottom that both networks run
    weight: float = 0.1  # of the squared difference of the logits

    def __post_init__(self) -> None:
        check_at_least(0, "booster.shared", self.shared)
        check_above_0("booster.weight", self.weight)


class Rocket(nn.Module):
    """Both networks; its output is the light one's.

    Args:
        light: The student, which is kept.
        booster: Left out of evaluation and of what is saved.
    """

    def __init__(self, light: nn.Module, booster: nn.Module) -> None:
        super().__init__()
        self.light, self.booster = light, booster
        self.outputs: list[tuple[Tensor, Tensor]] = []

    def forward(self, *inputs: Tensor) -> Tensor:
        """Run both on the same inputs; ``outputs`` keeps the pairs of this batch."""
        light: Tensor = self.light(*inputs)
        self.outputs.append((light, self.booster(*inputs)))
        return light


class Booster(Method):
    """The three losses of Rocket Launching: both networks learn the task, the light one the other's
    logits. The last is blocked from the booster's own layers.

    Args:
        light: The student's network.
        booster: Of the same task and width, with at least as many layers; changed in place.
        config: What they share.

    Raises:
        ConfigError: If the booster has another width, fewer layers, or is to share more.
    """

    adds_to_loss = True

    def __init__(self, light: Any, booster: Any, config: BoosterConfig) -> None:
        self._config = config
        ours, theirs = light.encoder, booster.encoder
        if ours.config.hidden_size != theirs.config.hidden_size:
            raise ConfigError(
                f"booster: expected a teacher of the student's width {ours.config.hidden_size}, "
                f"found {theirs.config.hidden_size}"
            )
        if not config.shared <= len(ours.plan) <= len(theirs.plan):
            raise ConfigError(
                f"booster.shared: expected at most the student's {len(ours.plan)} layers, and no "
                f"more of those than of the teacher's {len(theirs.plan)}, found {config.shared}"
            )
        theirs.embeddings = ours.embeddings
        # A plan of its own: the teacher's upper layers may run the same blocks as its lower ones.
        layers = layers_of(ours)[: config.shared] + layers_of(theirs)[config.shared :]
        theirs.attention, theirs.ffn = map(nn.ModuleList, zip(*layers, strict=True))
        theirs.plan = tuple(LayerBlocks(number, number) for number in range(len(layers)))
        self._rocket = Rocket(light, booster)

    def around(self, network: nn.Module) -> nn.Module:
        """Return both networks as one; the light one may have parameters around it."""
        self._rocket.light = network
        return self._rocket

    def objective(self, objective: Objective) -> Objective:
        """Return the sum of the three losses; the log shows the booster's and the hint."""

        def three(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            rocket = self._rocket
            rocket.outputs.clear()
            loss, measured = objective(module, inputs)
            pairs = list(rocket.outputs)
            replayed = iter([boosted for _, boosted in pairs])
            boosted_loss, _ = objective(_Replay(replayed), inputs)
            hint = loss.new_zeros(())
            for light, boosted in pairs:
                apart = (light.float() - boosted.detach().float()).square()
                if apart.dim() > 2:  # of tokens
                    apart = apart[inputs["mask"]]
                hint = hint + apart.mean() * inputs[UNITS]
            rocket.outputs.clear()
            added = {"booster": (boosted_loss.detach(), None), "hint": (hint.detach(), None)}
            total = loss + boosted_loss + self._config.weight * hint
            return LossOutput(total, {**measured, **added})

        return three


class _Replay(nn.Module):
    """Gives back outputs that were computed before, in their order."""

    def __init__(self, outputs: Any) -> None:
        super().__init__()
        self._outputs = outputs

    def forward(self, *_: Tensor) -> Tensor:
        output: Tensor = next(self._outputs)
        return output
