"""Every error a user can cause: one sentence with what was expected, what was found, where, and
what to do. The command line prints the sentence and exits with code 2; no traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ZhAlbertError(Exception):
    """Base of all errors whose text is fit to be shown to a user."""


class ConfigError(ZhAlbertError, ValueError):
    """A setting, or two together, cannot work."""


class DataError(ZhAlbertError, ValueError):
    """A file's or an argument's content does not have the form its reader expects."""

    @classmethod
    def at(cls, path: Path | str, line: int, problem: str, *, hint: str = "") -> DataError:
        """Say where and what; a plain message, so the error survives a worker process."""
        end = "" if hint.endswith("?") else "."
        return cls(f"{path}, line {line}: {problem}." + (f" {hint}{end}" if hint else ""))


class CheckpointError(ZhAlbertError, RuntimeError):
    """A model folder or file that cannot be read; weights that do not fit are all listed."""


class TrainingError(ZhAlbertError, RuntimeError):
    """A training run that cannot go on."""


class MissingExtraError(ZhAlbertError, ImportError):
    """An optional library is not installed."""

    @classmethod
    def of(cls, library: str, extra: str) -> MissingExtraError:
        """Name the library and the pip extra that brings it."""
        return cls(f"{library} is not installed; run: pip install 'zh-albert[{extra}]'")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a remedy for an unknown name: the nearest known one, or the list of all.

    >>> nearest("peak_lrr", ["peak_lr", "epochs"])
    "did you mean 'peak_lr'?"
    >>> nearest("x", ["peak_lr", "epochs"])
    'known: epochs, peak_lr'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
