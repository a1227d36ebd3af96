"""Arms of a comparison: settings under a name, and what a source has published about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zh_albert.errors import ConfigError, nearest

Direction = Literal["higher", "lower"]


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One of the things that are compared.

    Args:
        name: Shown in tables and pictures; it does not influence the result.
        settings: Whatever determines the result besides seed and inputs, as for JSON. Arms with
            equal settings share their runs.
        against: Name of the arm it is compared with.
        expected: Direction of the difference to ``against`` that a source has published.
        published: The source's numbers, as text for a table.

    Raises:
        ConfigError: If the settings cannot be written as JSON, or ``expected`` is another word or
            has nothing to be compared with.
    """

    name: str
    settings: Mapping[str, Any]
    against: str | None = None
    expected: Direction | None = None
    published: str = ""

    def __post_init__(self) -> None:
        try:
            _canonical(self.settings)
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"arm {self.name!r}: expected settings of finite numbers, texts, lists and tables, "
                f"because they identify a result; {error}"
            ) from None
        if self.expected not in ("higher", "lower", None):
            raise ConfigError(
                f"arm {self.name!r}: expected = 'higher' or 'lower', found {self.expected!r}"
            )
        if self.expected and self.against is None:
            raise ConfigError(
                f"arm {self.name!r} is expected to be {self.expected}, but not said than what: "
                "add against = the name of another arm"
            )


def refuse_unclear(arms: Sequence[Arm], seeds: Sequence[int]) -> None:
    """Check that arms differ in name and find what they are compared with, and that seeds differ.

    Raises:
        ConfigError: For the first that does not.
    """
    names = [arm.name for arm in arms]
    for arm in arms:
        if names.count(arm.name) > 1:
            raise ConfigError(f"expected one arm of each name, found {arm.name!r} more than once")
        others = [name for name in names if name != arm.name]
        if arm.against is not None and arm.against not in others:
            raise ConfigError(
                f"arm {arm.name!r}: expected another arm after 'against', found {arm.against!r}; "
                f"{nearest(arm.against, others)}"
            )
    if not arms or not seeds or len(set(seeds)) < len(seeds):
        raise ConfigError(
            f"expected at least one arm and one seed, each seed once, found {len(arms)} arms and "
            f"the seeds {list(seeds)}"
        )


def run_key(settings: Mapping[str, Any], seed: int, *, inputs: str, version: int) -> str:
    """Return the name of a run's result: a digest of everything that determines it.

    Args:
        settings: See ``Arm``; the order of their keys does not matter.
        seed: Of the run.
        inputs: A digest of whatever the run reads: data, start model.
        version: Of the procedure; raise it whenever the same settings should give other results.

    >>> run_key({"bits": 8}, 1, inputs="", version=1)[:12]
    '87984c0cc136'
    """
    content = {"settings": settings, "seed": seed, "inputs": inputs, "version": version}
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def _canonical(value: Any) -> str:
    """Return one text for equal values; it is ASCII, so that lone surrogates are no problem."""
    plain = _plain(value)
    text = json.dumps(plain, sort_keys=True, allow_nan=False, separators=(",", ":"))
    if (again := json.loads(text)) != plain:
        raise ValueError(f"as JSON they would become {again}")  # 1 and "1" are equal keys there
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
