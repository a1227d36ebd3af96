"""Learning-rate schedule: pure functions of the update number."""

from __future__ import annotations

from zh_albert.training.config import TrainConfig


def learning_rate(config: TrainConfig, update: int, total: int) -> float:
    """Return the learning rate of one update: linear warm-up to the peak, then decay to zero.

    Args:
        config: Uses ``peak_lr``, ``warmup``, ``decay`` and ``decay_power``.
        update: Counted from 0; the first one already changes the weights.
        total: Number of updates of the whole run.

    >>> config = TrainConfig(peak_lr=1.0, warmup=0.2)
    >>> [round(learning_rate(config, u, 10), 2) for u in range(10)]
    [0.5, 1.0, 1.0, 0.88, 0.75, 0.62, 0.5, 0.38, 0.25, 0.12]
    """
    warmup = round(config.warmup * total)
    if update < warmup:
        return config.peak_lr * (update + 1) / warmup
    if config.decay == "constant":
        return config.peak_lr
    left = max(0.0, (total - update) / max(1, total - warmup))
    power = config.decay_power if config.decay == "polynomial" else 1.0
    return float(config.peak_lr * left**power)
