"""Contrast between classes: texts of a class are drawn together, before a head is fitted to them.

A few texts of each class make many pairs, and an encoder learns more from these than from each
text's label alone (docs/experiments/few-texts.md).

Source: Tunstall et al. 2022 (SetFit, arXiv:2209.11055), with the loss of Khosla et al. 2020
(arXiv:2004.11362), equation 2.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.errors import ConfigError
from zh_albert.model.heads import SequenceClassifier
from zh_albert.tasks.pooler_probe import Summary
from zh_albert.tasks.windows import EncodedText, collate_windows, merged_outputs
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput, train
from zh_albert.training.stages import StageMeter


@dataclass(frozen=True, kw_only=True)
class ClassContrastConfig:
    """Settings of the contrast between classes."""

    updates: int = 60
    peak_lr: float = 1e-4
    texts: int = 32  # in a batch, of as many classes as there are with at least two of each
    temperature: float = 0.1  # of the cosines

    def __post_init__(self) -> None:
        for name, least in (("updates", 1), ("texts", 4)):
            if (value := getattr(self, name)) < least:
                raise ConfigError(f"contrast.{name} must be at least {least}, got {value}")
        for name in ("peak_lr", "temperature"):
            if not 0 < (value := getattr(self, name)) < math.inf:
                raise ConfigError(f"contrast.{name} must be > 0, got {value}")


def class_contrast(vectors: Tensor, classes: Tensor, temperature: float) -> Tensor:
    """Return the cross-entropy of each text's cosines with the others of its class.

    Args:
        vectors: Shape: (texts, hidden).
        classes: Number of each text's class. Shape: (texts,).
        temperature: Divisor of the cosines.

    Returns:
        Summed over the texts; one that is alone in its class counts nothing. Shape: ().
    """
    unit = F.normalize(vectors.float(), dim=-1)
    own = torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    scores = (unit @ unit.T / temperature).masked_fill(own, -math.inf).log_softmax(-1)
    same = (classes[:, None] == classes) & ~own
    return -(scores.masked_fill(~same, 0).sum(-1) / same.sum(-1).clamp(min=1)).sum()


class _Batches:
    """Batches of some texts of some classes; a ``BatchSource`` of one epoch."""

    def __init__(
        self,
        texts: Sequence[EncodedText],
        classes: Sequence[int],
        config: ClassContrastConfig,
        train: TrainConfig,
        pad: int,
    ) -> None:
        self._texts, self._config, self._train, self._pad = texts, config, train, pad
        self._of_class: dict[int, list[int]] = defaultdict(list)
        for number, one in enumerate(classes):
            self._of_class[one].append(number)

    def plan(self, epoch: int) -> list[int]:  # noqa: ARG002
        """Return the seed of each batch."""
        rng = random.Random(self._train.seed)
        return [rng.getrandbits(32) for _ in range(self._config.updates)]

    def load(self, item: int) -> Batch:
        """Draw classes, and of each as many texts."""
        rng, wanted = random.Random(item), self._config.texts
        drawn = rng.sample(sorted(self._of_class), min(len(self._of_class), wanted // 2))
        each = wanted // len(drawn)
        chosen = [
            (number, one)
            for one in drawn
            for number in rng.sample(self._of_class[one], min(each, len(self._of_class[one])))
        ]
        room = self._train.batch_tokens // len(chosen)  # a window of each at least
        texts = [self._texts[number].drawn(room, rng) for number, _ in chosen]
        classes = torch.tensor([one for _, one in chosen])
        inputs = collate_windows(texts, self._pad) | {"classes": classes}
        return Batch(inputs, weight=len(texts), tokens=sum(text.tokens for text in texts))


def draw_together(
    module: SequenceClassifier,
    texts: Sequence[EncodedText],
    classes: Sequence[int],
    config: ClassContrastConfig,
    train_config: TrainConfig,
    *,
    pad: int,
    progress: Observer,
) -> None:
    """Train a classifier's encoder by ``class_contrast`` of its texts' summaries.

    Args:
        module: Changed in place; its head and pooler are not.
        texts: Training texts.
        classes: Number of each one's class.
        config: Settings of the contrast.
        train_config: The job's; tokens of a batch, seed and precision are taken from it.
        pad: Id of the padding token.
        progress: Progress observer.
    """
    settings = TrainConfig(
        epochs=1,
        peak_lr=config.peak_lr,
        batch_tokens=train_config.batch_tokens,
        precision=train_config.precision,
        seed=train_config.seed,
    )
    meter = StageMeter("updates by contrast between classes", config.updates, progress)

    def objective(network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        vectors = merged_outputs(network, inputs, len(inputs["classes"]))
        return LossOutput(class_contrast(vectors, inputs["classes"], config.temperature))

    train(
        Summary(module),
        objective,
        _Batches(texts, classes, config, settings, pad),
        settings,
        on_update=lambda update, _total: meter.advance() if update else None,
        leaves_unused=True,  # the head's and the pooler's
    )
    meter.advance()
    module.eval()
