"""Random texts for benchmarks."""

from __future__ import annotations

import random

from zh_albert.tokenization.vocab import default_vocabulary


def sample_texts(count: int, seed: int = 0, length: int | None = None) -> list[str]:
    """Return texts of frequent characters.

    Args:
        count: Number of texts.
        seed: Of the random numbers.
        length: Characters of each text; None: lognormal, median 25, 95th percentile about 120.
    """
    rng = random.Random(seed)
    chinese = [row for row in default_vocabulary().tokens if "一" <= row <= "鿿"][:3000]
    return [
        "".join(rng.choices(chinese, k=length or min(510, max(3, round(drawn)))))
        for drawn in (rng.lognormvariate(3.22, 0.95) for _ in range(count))
    ]
