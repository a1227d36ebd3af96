"""A teacher's states, matched layer by layer while its answers are learned.

Logits tell a student what to answer; states, what to look at on the way. It pays for a student
with fewer layers than its teacher (docs/experiments/fine-tuning.md).

Source: Jiao et al. 2020, TinyBERT (arXiv:1909.10351), section 3.2, the hidden states' loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.resolve import locate
from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.soft_targets import TeacherConfig, refuse_other_tokens
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer_map import layer_map
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.loop import LossOutput, Objective


class _Student(Protocol):
    module: Any
    tokenizer: Tokenizer


def matching_states(
    objective: Objective, config: TeacherConfig | None, student: _Student
) -> Objective:
    """Return an objective whose loss also counts how far states are from the teacher's.

    Each window counts as much as an example of the task: by the share of the variance of the
    teacher's states that is missed, the mean over the student's layers. Where ``config.states``
    is 0 the objective stays as it is.

    Args:
        objective: Of the task.
        config: Names the teacher and what its states weigh.
        student: Its network has an ``encoder``.

    Raises:
        CheckpointError: If the teacher has other tokens, another width, or fewer layers.
        ConfigError: If the student reads first tokens alone, so that its last states are not made.
    """
    if config is None or not config.states:
        return objective
    teacher = locate(config.model)
    if getattr(student.module, "pooling", "mean") == "first":
        raise ConfigError('teacher.states needs model.pooling = "mean": "first" makes no states')
    refuse_other_tokens(teacher, student.tokenizer)
    theirs, weight = open_encoder(teacher).requires_grad_(False), config.states
    ours: AlbertEncoder = student.module.encoder
    for name, fits in (("hidden_size", int.__eq__), ("num_hidden_layers", int.__le__)):
        own, found = (getattr(encoder.config, name) for encoder in (ours, theirs))
        if not fits(own, found):
            raise CheckpointError(
                f"{teacher}: states are matched with a teacher of the same width and at least as "
                f"many layers; its {name} is {found}, the student's {own}"
            )
    layers = layer_map(len(ours.plan), len(theirs.plan))

    def with_states(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        with _states_of(ours) as found:
            loss, measured = objective(module, inputs)
        batch = [inputs[name] for name in INPUT_NAMES]
        mask = inputs["mask"]
        with torch.no_grad():
            wanted = theirs.to(mask.device)(*batch, return_states=True).states
        missed = torch.stack(
            [
                fraction_unexplained(found[own - 1], wanted[other].float(), mask)
                for own, other in layers
            ]
        ).mean()
        windows = len(mask)
        told = {**measured, "states": (missed.detach() * windows, windows)}
        return LossOutput(loss + weight * windows * missed, told)

    return with_states


@contextmanager
def _states_of(encoder: AlbertEncoder) -> Iterator[list[Tensor]]:
    """Collect what each layer puts out, in their order."""
    states: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda _module, _inputs, output: states.append(output))
        for block in encoder.ffn
    ]
    try:
        yield states
    finally:
        for handle in handles:
            handle.remove()
