"""Arms say clearly what they are, and a key names exactly one run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import ConfigError
from zh_albert.experiments.arms import Arm, refuse_unclear, run_key

TEXTS = st.text(max_size=4)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(TEXTS, PLAIN, max_size=3)
SETTINGS = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(settings=SETTINGS, seed=st.integers(0, 2**32))
def test_a_key_depends_on_values_not_on_their_order(settings: dict[str, Any], seed: int) -> None:
    def key(of: dict[str, Any], seed: int, inputs: str = "data", version: int = 1) -> str:
        return run_key(of, seed, inputs=inputs, version=version)

    own = key(settings, seed)
    assert key(dict(reversed(settings.items())), seed) == own
    others = [
        key({**settings, "one more": 1}, seed),
        key(settings, seed + 1),
        key(settings, seed, inputs="data 2"),
        key(settings, seed, version=2),
    ]
    assert len({own, *others}) == 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2}, {1, 2}])
def test_settings_that_cannot_name_a_result_are_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"arm 'a': expected settings of finite numbers"):
        Arm(name="a", settings={"x": value})


def test_an_expectation_needs_another_arm_and_a_direction() -> None:
    with pytest.raises(ConfigError, match="add against"):
        Arm(name="a", settings={}, expected="higher")
    with pytest.raises(ConfigError, match="found 'better'"):
        Arm(name="a", settings={}, against="b", expected="better")  # type: ignore[arg-type]


def test_unclear_arms_and_seeds_are_refused() -> None:
    base = Arm(name="base", settings={})
    with pytest.raises(ConfigError, match="'base' more than once"):
        refuse_unclear([base, base], [1])
    with pytest.raises(ConfigError, match="found 'bse'; did you mean 'base'"):
        refuse_unclear([base, Arm(name="a", settings={}, against="bse")], [1])
    with pytest.raises(ConfigError, match="found 'a'"):
        refuse_unclear([base, Arm(name="a", settings={}, against="a")], [1])
    for arms, seeds in (([], [1]), ([base], []), ([base], [1, 1])):
        with pytest.raises(ConfigError, match="at least one arm and one seed, each seed once"):
            refuse_unclear(arms, seeds)
