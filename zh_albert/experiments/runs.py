"""Runs of arms and their results, kept by what determines them and never computed twice.

``OUT/runs/KEY.json`` is the result of one run, ``KEY.npy`` the outcome of each example, and
``KEY.failed.json`` the error of a run that failed. While a run is computed, its process holds
``KEY.lock`` with a lock of the operating system, so that processes, also on several machines with
a shared disk, divide the runs among themselves, and a killed one leaves nothing to clean up.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import numbers
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.experiments.arms import run_key
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.files.textio import atomic_write, results_json
from zh_albert.training.events import Observer, Warned
from zh_albert.training.stages import StageMeter

_POLL_S = 0.5  # between looks at runs that other processes compute


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run has measured.

    Args:
        metrics: Finite numbers by name: scores, parameters, bytes, milliseconds.
        per_example: What each example of the dev set contributes to a score, in a fixed order: 0
            or 1 for wrong or right, or any number. Shape: (examples,).
    """

    metrics: Mapping[str, float]
    per_example: NDArray[Any] | None = None


RunFunction = Callable[[Mapping[str, Any], int], Outcome]
"""A run of the settings of an arm with a seed."""


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run of ``arm`` with ``seed``; ``inputs`` and ``version`` as in ``run_key``."""

    arm: str
    settings: Mapping[str, Any]
    seed: int
    inputs: str
    version: int

    @property
    def key(self) -> str:
        """Name of its result."""
        return run_key(self.settings, self.seed, inputs=self.inputs, version=self.version)


def complete(
    planned: Sequence[PlannedRun], run: RunFunction, out: Path, progress: Observer
) -> dict[str, Outcome | str]:
    """Compute the runs that have no result yet, in this order, and return all results.

    A run that another process computes meanwhile is skipped and returned to. One that fails is
    told as ``Warned`` and recorded, and the others go on; the next call tries it again.

    Returns:
        The outcome, or the error as one line, by the runs' keys.

    Raises:
        DataError: If the file of a result is damaged.
    """
    folder = out / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    left = {one.key: one for one in planned}
    total = len(left)
    earlier = {key: _failure(folder, key) for key in left}
    results: dict[str, Outcome | str] = {}
    for key in list(left):
        if (found := read_outcome(folder, key)) is not None:
            results[key] = found
            del left[key]
    meter = StageMeter("runs", total, progress, done=len(results))
    while left:
        for key, one in left.items():
            settled = _settle(one, run, folder, earlier[key])
            if settled is not None:
                break
        else:
            time.sleep(_POLL_S)
            continue
        results[key] = settled
        del left[key]
        if isinstance(settled, str):
            text = f"{one.arm}, seed {one.seed} failed: {settled}; the same command tries it again"
            progress(Warned(update=len(results), text=text))
        meter.advance()
    return results


def read_outcome(folder: Path, key: str) -> Outcome | None:
    """Read a result; None if there is none.

    Raises:
        DataError: If one of its files is damaged.
    """
    path = folder / f"{key}.json"
    content = _read_record(path)
    if content is None:
        return None
    try:
        identity = {name: content[name] for name in ("inputs", "version")}
        metrics, digest = content["metrics"], content["per_example_sha256"]
        if run_key(content["settings"], content["seed"], **identity) != key:
            raise ValueError("another run")
        if not all(type(value) in (int, float) for value in metrics.values()):
            raise ValueError("metrics that are no numbers")
        if digest is None:
            return Outcome(metrics)
        path = folder / f"{key}.npy"
        stored = read_plain(path, limited=False)
        if hashlib.sha256(stored).hexdigest() != digest:
            raise ValueError("another content")
        return Outcome(metrics, np.load(io.BytesIO(stored), allow_pickle=False))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path) from None


def _settle(
    one: PlannedRun, run: RunFunction, folder: Path, earlier: tuple[str, float] | None
) -> Outcome | str | None:
    """Return the outcome or the error of a run; None while another process computes it."""
    lock_file = folder / f"{one.key}.lock"
    lock = FileLock(lock_file, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        return None
    try:
        found: Outcome | str | None = read_outcome(folder, one.key)
        if found is None:
            failed = _failure(folder, one.key)
            tried = failed is not None and failed != earlier  # in another process, since the start
            found = failed[0] if failed and tried else _computed(one, run, folder)
        if isinstance(found, Outcome):
            # Whoever gets the lock from now on finds the result, so the file is needed no more.
            with contextlib.suppress(OSError):
                lock_file.unlink()
        return found
    finally:
        lock.release()


def _computed(one: PlannedRun, run: RunFunction, folder: Path) -> Outcome | str:
    identity = {
        "settings": one.settings,
        "seed": one.seed,
        "inputs": one.inputs,
        "version": one.version,
    }
    failed = folder / f"{one.key}.failed.json"
    started = time.perf_counter()
    try:
        outcome = _checked(run(one.settings, one.seed))
    except Exception as error:
        text = " ".join(str(error).split())
        text = (
            text
            if isinstance(error, ZhAlbertError)
            else f"{type(error).__name__}: {text}".removesuffix(": ")
        )
        record = {**identity, "error": text, "traceback": traceback.format_exc()}
        _write_record(failed, {**record, "failed_at": time.time()})
        return text
    digest = None
    if outcome.per_example is not None:
        content = io.BytesIO()
        np.save(content, outcome.per_example, allow_pickle=False)
        with atomic_write(folder / f"{one.key}.npy") as file:
            file.write(content.getvalue())
        digest = hashlib.sha256(content.getvalue()).hexdigest()
    record = {**identity, "metrics": outcome.metrics, "per_example_sha256": digest}
    record["seconds"] = time.perf_counter() - started
    _write_record(folder / f"{one.key}.json", record)
    failed.unlink(missing_ok=True)
    return outcome


def _checked(outcome: Outcome) -> Outcome:
    """Return it with Python's own numbers.

    Raises:
        DataError: If they are not finite, or the outcomes of examples not one row.
    """
    metrics: dict[str, float] = {}
    value: Any  # NumPy's numbers, too
    for name, value in outcome.metrics.items():
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise DataError(f"expected a finite number as {name!r}, found {value!r}")
        metrics[name] = int(value) if isinstance(value, numbers.Integral) else float(value)
    if outcome.per_example is None:
        return Outcome(metrics)
    per_example = np.asarray(outcome.per_example)
    if per_example.ndim != 1 or per_example.dtype.kind not in "buif" or not len(per_example):
        raise DataError(
            "expected one number for each example, found an array of shape "
            f"{per_example.shape} and type {per_example.dtype}"
        )
    if not np.isfinite(per_example).all():
        raise DataError("expected finite outcomes of examples, found NaN or infinity")
    return Outcome(metrics, per_example)


def _failure(folder: Path, key: str) -> tuple[str, float] | None:
    """Return the error of the last try and its time, in seconds since 1970."""
    path = folder / f"{key}.failed.json"
    content = _read_record(path)
    if content is None:
        return None
    try:
        return str(content["error"]), float(content["failed_at"])
    except (KeyError, TypeError, ValueError):
        raise _damaged(path) from None


def _read_record(path: Path) -> dict[str, Any] | None:
    try:
        content = parse_json(read_plain(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(content, dict):
        raise _damaged(path)
    return content


def _write_record(path: Path, record: Mapping[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(results_json(record, indent=2, ascii_only=True).encode() + b"\n")


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{path}: damaged: expected the result of a run as it was written; delete the file, and "
        "the run is made again"
    )
