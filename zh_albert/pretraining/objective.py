"""Masked LM and sentence order: loss of a batch, and scores on held-out text."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.pretraining_heads import AlbertForPretraining, PretrainingOutput
from zh_albert.training.loop import Batch, LossOutput


def pretraining_loss(model: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    """Return the masked-LM loss summed over masked tokens, plus sentence order with equal weight.

    Sentence order counts as if every masked token had it, so that both means are added whatever the
    number of instances in a batch. A batch without pairs has the masked-LM loss only.

    Args:
        model: With the inputs and outputs of ``AlbertForPretraining``.
        inputs: A batch of ``dataset.PretrainingSource``.

    Returns:
        The loss, and the losses and accuracies of both heads.
    """
    names = ("token_ids", "type_ids", "mask", "positions")
    output: PretrainingOutput = model(*(inputs[name] for name in names))
    labels, order = inputs["labels"], inputs["order"]
    logits = output.masked.float()  # argmax, too, takes five times as long in bf16
    masked_loss = F.cross_entropy(logits, labels, reduction="sum")
    masked_right = (logits.detach().argmax(-1) == labels).sum()
    measured: dict[str, tuple[Tensor, int | None]] = {
        "masked_loss": (masked_loss.detach(), len(labels)),
        "masked_accuracy": (masked_right, len(labels)),
    }
    paired = order >= 0
    pairs = int(paired.sum())
    if not pairs:
        # Several processes wait for the gradients of all parameters, those of this head, too.
        return LossOutput(masked_loss + 0 * output.order.float().sum(), measured)
    order_loss = F.cross_entropy(output.order[paired].float(), order[paired])
    order_right = (output.order.detach().argmax(-1) == order)[paired].sum()
    measured["order_accuracy"] = order_right, pairs
    return LossOutput(masked_loss + order_loss * len(labels), measured)


def evaluate(model: AlbertForPretraining, batches: Iterable[Batch]) -> dict[str, float]:
    """Return the scores on held-out text with fixed masks.

    Returns:
        ``masked_accuracy``, ``masked_loss`` (nats), ``masked_tokens``, and, if there are pairs of
        segments, ``order_accuracy``.
    """
    sums: dict[str, float] = {"masked_accuracy": 0.0, "masked_loss": 0.0, "order_accuracy": 0.0}
    counts = dict.fromkeys(sums, 0)
    device = next(model.parameters()).device
    with torch.inference_mode():
        for batch in batches:
            inputs = {name: value.to(device) for name, value in batch.inputs.items()}
            for name, (value, count) in pretraining_loss(model, inputs).measured.items():
                sums[name] += value.item()
                counts[name] += count or 0
    if not counts["order_accuracy"]:
        del sums["order_accuracy"]
    means = {name: value / max(counts[name], 1) for name, value in sums.items()}
    return {**means, "masked_tokens": counts["masked_loss"]}
