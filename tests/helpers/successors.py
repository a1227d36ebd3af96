"""A made-up language in which each token is mostly followed by the next."""

from __future__ import annotations

import numpy as np


def documents(count: int, seed: int) -> list[np.ndarray]:
    """Token ``t`` is mostly followed by ``t + 1``, within a circle of 40."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        steps = rng.choice([1, 2, 17], p=[0.8, 0.1, 0.1], size=60)
        made.append(((np.cumsum(steps) + rng.integers(40)) % 40 + 5).astype(np.uint16))
    return made
