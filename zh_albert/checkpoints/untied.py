"""Untying of shared parameters, for layouts that cannot express how they are shared."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from zh_albert.model.config import AlbertConfig
from zh_albert.model.sharing import plan_of, unshared


def untied_tensors(
    tensors: Mapping[str, Tensor], config: AlbertConfig
) -> tuple[dict[str, Tensor], AlbertConfig]:
    """Give every layer a copy of its own if layers share only attention or only feed-forward
    blocks, or by a plan of their own.

    If they share everything, or nothing, nothing is changed. Where blocks differ in size, the
    copies do, too.

    Args:
        tensors: By our names.
        config: Of the same model.
    """
    if not config.plan and config.sharing in ("all", "none"):
        return dict(tensors), config
    plan = plan_of(config)
    result = {}
    for name, tensor in tensors.items():
        kind, _, rest = name.removeprefix("encoder.").partition(".")
        if kind not in ("attention", "ffn"):
            result[name] = tensor
            continue
        number, _, parameter = rest.partition(".")
        for layer, blocks in enumerate(plan):
            if getattr(blocks, kind) == int(number):
                result[f"encoder.{kind}.{layer}.{parameter}"] = tensor.clone()
    return result, unshared(config)
