"""Errors that a user can cause, each with one sentence: expected, found, where, and what to do.

The command line prints the sentence and exits with code 2, without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ZhAlbertError(Exception):
    """Base of all errors with a message for the user."""


class ConfigError(ZhAlbertError, ValueError):
    """A setting, or a combination of settings, is invalid."""


class DataError(ZhAlbertError, ValueError):
    """The content of a file or an argument does not have the expected form."""

    @classmethod
    def at(cls, path: Path | str, line: int, problem: str, *, hint: str = "") -> DataError:
        """Return an error with file and line; a plain message, so it can be pickled by a worker."""
        end = "" if hint.endswith("?") else "."
        return cls(f"{path}, line {line}: {problem}." + (f" {hint}{end}" if hint else ""))


class CheckpointError(ZhAlbertError, RuntimeError):
    """A model folder or file cannot be read; all weights that do not fit are listed."""


class TrainingError(ZhAlbertError, RuntimeError):
    """A training run cannot continue."""


class MissingExtraError(ZhAlbertError, ImportError):
    """An optional library is not installed."""

    @classmethod
    def of(cls, library: str, extra: str) -> MissingExtraError:
        """Return an error that names the library and the pip extra that installs it."""
        return cls(f"{library} is not installed; run: pip install 'zh-albert[{extra}]'")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the nearest known one, or the list of all.

    >>> nearest("peak_lrr", ["peak_lr", "epochs"])
    "did you mean 'peak_lr'?"
    >>> nearest("x", ["peak_lr", "epochs"])
    'known: epochs, peak_lr'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
