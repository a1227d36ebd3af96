"""Faults at a chosen step of what a process writes: a kill, or an error of the disk.

A step is a call of ``os.rename``, ``os.replace``, ``os.fsync``, ``os.unlink`` or ``os.rmdir``, or
a write to a file, which the fault leaves half done. Actions run in forked children, so what takes
long to import is imported once. A process that forks must not have used threads before.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import importlib
import io
import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from zh_albert.errors import ZhAlbertError

Fault = Literal["kill", "error"]
CALLS = ("rename", "replace", "fsync", "unlink", "rmdir")


class Step(NamedTuple):
    """The ``number``-th call of a kind, from 1."""

    kind: str
    number: int


class Faults:
    """Counter of the steps of this process, which has a fault at one of them."""

    def __init__(self, step: Step | None, fault: Fault) -> None:
        self.step, self.fault = step, fault
        self.counts: Counter[str] = Counter()

    def install(self) -> None:
        """Replace the functions by which files are written, in this process for good."""
        for name in CALLS:
            setattr(os, name, self._counted(name, getattr(os, name)))
        io.open = builtins.open = self._opened(io.open)  # type: ignore[assignment]

    def due(self, kind: str) -> bool:
        self.counts[kind] += 1
        return self.step == (kind, self.counts[kind])

    def strike(self) -> None:
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        assert self.step is not None
        number = errno.ENOSPC if self.step.kind == "write" else errno.EIO
        raise OSError(number, os.strerror(number))

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            if self.due(name):
                self.strike()
            return call(*given, **named)

        return counted

    def _opened(self, call: Callable[..., Any]) -> Callable[..., Any]:
        faults = self

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                if faults.due("write"):
                    super().write(memoryview(data).cast("B")[: len(data) // 2])
                    faults.strike()
                return super().write(data)

        def opened(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            if not {*mode} & {*"wxa"} or "+" in mode:
                return call(file, mode, buffering, encoding, errors, newline, closefd, opener)
            raw = File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            buffered = io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            return io.TextIOWrapper(buffered, encoding, errors, newline)

        return opened


def count_steps(action: Callable[[], object]) -> Counter[str]:
    """Run an action in a child without a fault; return how many steps of each kind it takes.

    What it imported is imported here, so that later children find it.
    """
    reading, writing = os.pipe()
    known = set(sys.modules)

    def counted() -> None:
        faults = Faults(None, "kill")
        faults.install()
        action()
        counts, new = dict(faults.counts), [*sys.modules.keys() - known]
        with os.fdopen(writing, "w") as file:
            json.dump([counts, new], file)

    child = _started(counted)
    os.close(writing)
    with os.fdopen(reading) as file:
        counts, new = json.load(file)
    assert _ended(child) == 0
    for name in sorted(new):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return Counter(counts)


def run_with_fault(action: Callable[[], object], step: Step, fault: Fault) -> str:
    """Run an action in a child; return what came of it.

    Returns:
        ``killed``, ``done``, ``told`` (an error that a user understands) or ``crashed``.
    """

    def faulty() -> None:
        Faults(step, fault).install()
        action()

    status = _ended(_started(faulty))
    return {-signal.SIGKILL: "killed", 0: "done", 2: "told"}.get(status, "crashed")


def run(action: Callable[[], object]) -> None:
    """Run an action in a child."""
    assert _ended(_started(action)) == 0


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _started(action: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        action()
        code = 0
    except (ZhAlbertError, OSError):  # the command line shows both in one line
        code = 2
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)
