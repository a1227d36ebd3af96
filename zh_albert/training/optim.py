"""AdamW and LAMB with two weight-decay groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from zh_albert.training.config import TrainConfig


def build_optimizer(model: nn.Module, config: TrainConfig) -> Optimizer:
    """Return the optimizer; vectors (biases, norms) and scalars have no weight decay.

    The training loop sets the learning rate before every update.
    """
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0.0},
    ]
    betas = (0.9, config.beta2)
    if config.optimizer == "lamb":
        return Lamb(groups, lr=config.peak_lr, betas=betas)
    return AdamW(groups, lr=config.peak_lr, betas=betas, eps=1e-6, fused=True)


class Lamb(Optimizer):
    """Adam with a step scaled, per tensor, to the norm of the tensor.

    Moments are bias-corrected; the trust ratio is 1 where the weights or the step are zero, and is
    not clipped.

    Source: You et al. 2020 (arXiv:1904.00962), algorithm 2.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient; closures are not supported."""
        assert closure is None
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)

    def _update(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        gradient = parameter.grad
        assert gradient is not None
        mean = state["exp_avg"].lerp_(gradient, 1 - beta1)
        square = state["exp_avg_sq"].lerp_(gradient * gradient, 1 - beta2)
        count = state["step"].item()
        corrected = (square / (1 - beta2**count)).sqrt_().add_(group["eps"])
        step = (mean / (1 - beta1**count)).div_(corrected)
        step.add_(parameter, alpha=group["weight_decay"])
        weight_norm, step_norm = parameter.norm().item(), step.norm().item()
        trust = weight_norm / step_norm if weight_norm > 0 and step_norm > 0 else 1.0
        parameter.add_(step, alpha=-group["lr"] * trust)
