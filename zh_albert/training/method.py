"""The seam of methods that change how a network is trained: around it, in its loss, over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from zh_albert.training.loop import Objective


class Beside(nn.Module):
    """A network with what is trained or counted beside it: in a run's state, not in the model.

    Args:
        network: What is kept after training, or a network around it.
        beside: Modules, parameters and buffers by name.
    """

    def __init__(self, network: nn.Module, **beside: nn.Module | Tensor) -> None:
        super().__init__()
        self.network = network
        for name, one in beside.items():
            setattr(self, name, one)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Run the network."""
        return self.network(*inputs, **named)


class Method:
    """A change to training; a method overrides what it needs, the rest changes nothing.

    Attributes:
        leaves_unused: Whether updates leave parameters without a gradient, which processes that
            exchange gradients have to know.
        adds_to_loss: Whether the loss gets further terms.
    """

    leaves_unused: bool = False
    adds_to_loss: bool = False

    def settled(self) -> bool:
        """Return whether the network is what it is to become, so that it may be kept."""
        return True

    def metadata(self) -> dict[str, Any]:
        """Return what ``config.json`` of a model that is kept says of the method."""
        return {}

    def around(self, network: nn.Module) -> nn.Module:
        """Return the network to train: the same one, or one around it with more parameters."""
        return network

    def objective(self, objective: Objective) -> Objective:
        """Return an objective that counts more, or other things, than the given one."""
        return objective

    def on_update(self, update: int, total: int) -> None:
        """Change what depends on time; called on every process before each update.

        Args:
            update: Updates made so far; a resumed run begins with those made before.
            total: Updates of the whole run.
        """


@dataclass
class Methods(Method):
    """Several methods as one; the first is the innermost."""

    parts: Sequence[Method] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        self.leaves_unused = any(part.leaves_unused for part in self.parts)
        self.adds_to_loss = any(part.adds_to_loss for part in self.parts)

    def settled(self) -> bool:
        """See ``Method``."""
        return all(part.settled() for part in self.parts)

    def metadata(self) -> dict[str, Any]:
        """See ``Method``."""
        return {key: value for part in self.parts for key, value in part.metadata().items()}

    def around(self, network: nn.Module) -> nn.Module:
        """See ``Method``."""
        for part in self.parts:
            network = part.around(network)
        return network

    def objective(self, objective: Objective) -> Objective:
        """See ``Method``."""
        for part in self.parts:
            objective = part.objective(objective)
        return objective

    def on_update(self, update: int, total: int) -> None:
        """See ``Method``."""
        for part in self.parts:
            part.on_update(update, total)
