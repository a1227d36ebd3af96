"""A budget, and a plan to meet it as it stands in a file."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from zh_albert.compression.candidates import Candidate
from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write, results_json

_PLAIN = ", plain"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a model may need.

    Attributes:
        max_mb: Megabytes (10⁶ bytes) of the model folder's files.
        max_ms: Milliseconds of CPU time of one thread for one text.
        min_score: The least score on dev.

    Raises:
        ConfigError: If nothing is limited, or a limit is not above 0 or the score not finite.
    """

    max_mb: float | None = None
    max_ms: float | None = None
    min_score: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_mb", "max_ms"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                option = "--" + name.replace("_", "-")
                raise ConfigError(f"{option} must be above 0, got {value:g}")
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise ConfigError(f"--min-score must be a finite number, got {self.min_score}")
        if self.max_mb is None and self.max_ms is None:
            raise ConfigError("expected a budget: --max-mb, --max-ms or both, found neither")

    def excess(self, size: float, ms: float | None) -> float:
        """Return by what factor a size or a time is over the budget; at most 1: it holds."""
        over = [size / 1e6 / self.max_mb] if self.max_mb is not None else []
        over += [ms / self.max_ms] if self.max_ms is not None and ms is not None else []
        return max(over, default=0.0)

    def __str__(self) -> str:
        limits = [f"{self.max_mb:g} MB"] if self.max_mb is not None else []
        limits += [f"{self.max_ms:g} ms"] if self.max_ms is not None else []
        return " and ".join(limits)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What became of a candidate that was trained: as it is stored, and on dev.

    Attributes:
        name: The candidate's.
        score: On dev, with the engine.
        bytes: Of the folder.
        ms: For one text; None: nothing limits it.
        int8: Whether the network runs in int8, which is then written down in the folder.
        holds: Whether it is within the budget of size and time.
    """

    name: str
    score: float
    bytes: int
    ms: float | None
    int8: bool
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Candidates, and what came of training some.

    Attributes:
        candidates: All.
        chosen: Names of those that are trained.
        seconds: Estimate of the time that takes.
        tried: Those that have been.
        best: Name of the one that was written; None: none yet.
        beside: The best one's shape plainly fine-tuned, if that was asked for.
    """

    candidates: tuple[Candidate, ...]
    chosen: tuple[str, ...]
    seconds: float
    tried: tuple[Tried, ...] = ()
    best: str | None = None
    beside: Tried | None = None

    def table(self, metric: str) -> list[str]:
        """Return lines: what the trained ones were estimated to need, need, and score."""
        width = max(map(len, self.chosen)) + len(_PLAIN)
        lines = [f"{'':<{width}} {'estimated':>9} {'MB':>6} {'ms':>7} {metric:>9}"]
        estimated = {one.name: one.bytes / 1e6 for one in self.candidates}
        beside = [] if self.beside is None else [(self.beside, _PLAIN)]
        for one, plain in [*((one, "") for one in self.tried), *beside]:
            ms = "" if one.ms is None else f"{one.ms:.3g}"
            said = "" if one.holds else "  over the budget"
            said += "  best" if one.name == self.best and not plain else ""
            lines.append(
                f"{one.name + plain:<{width}} {estimated[one.name]:>9.3g} {one.bytes / 1e6:>6.3g} "
                f"{ms:>7} {one.score:>9.4f}{said}"
            )
        return lines


def read_plan(path: Path) -> Plan | None:
    """Read a plan; None if there is none.

    Raises:
        ConfigError: If the file is damaged.
    """
    if not path.is_file():
        return None
    try:
        return build(Plan, json.loads(path.read_text("utf-8")), source=str(path))
    except (ValueError, ConfigError):
        raise ConfigError(
            f"{path}: damaged: expected a plan as it was written; delete it, and the candidates "
            "are found again"
        ) from None


def write_plan(path: Path, known: Plan) -> None:
    """Write a plan, whole or not at all."""
    with atomic_write(path) as file:
        file.write((results_json(asdict(known), indent=1) + "\n").encode())
