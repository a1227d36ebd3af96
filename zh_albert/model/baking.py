"""Plain weights of networks whose weights are computed from others in training."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils import parametrize

_ORIGINAL = ".parametrizations.weight.original"
_PART = ".parametrizations."


def bake(network: nn.Module) -> None:
    """Make a network plain: weights have the values they were computed to, in place."""
    for module in network.modules():
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)


def baked_state(network: nn.Module) -> dict[str, Tensor]:
    """Return what ``state_dict`` would be after ``bake``, without changing the network."""
    state: dict[str, Tensor] = {}
    for name, value in network.state_dict().items():
        if name.endswith(_ORIGINAL):
            module = network.get_submodule(name.removesuffix(_ORIGINAL))
            state[name.removesuffix(_ORIGINAL) + ".weight"] = module.weight.detach()  # type: ignore[operator]
        elif _PART not in name:
            state[name] = value
    return state
