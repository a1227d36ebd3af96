"""Random numbers by their position."""

from __future__ import annotations

import numpy as np

from zh_albert.pretraining.counter_rng import below, draw, keys, uniform


def test_random_bits_are_the_published_ones() -> None:
    # splitmix64 seeded with 0: its first outputs, as in the reference implementation.
    from zh_albert.pretraining.counter_rng import mix

    states = np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    assert [hex(value) for value in mix(states).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_draws_are_even_and_streams_apart() -> None:
    own = keys(1, 0, np.arange(20_000))
    shares = uniform(draw(own, 0))
    numbers = below(draw(own, 1), 7)

    assert abs(shares.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(shares, uniform(draw(own, 1)))[0, 1]) < 0.03
    assert abs(np.corrcoef(shares[1:], shares[:-1])[0, 1]) < 0.03
    assert set(numbers.tolist()) == set(range(7))
    assert np.bincount(numbers).min() > 2_600
