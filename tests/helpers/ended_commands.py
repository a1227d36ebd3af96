"""Commands on folders that are wrong in some way: how each ends, in one process of its own.

The commands run one after another in that process, so its peak of memory shows the worst of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert.checkpoints.manifest import MANIFEST
from zh_albert.checkpoints.resolve import resolve_model

MORE_MB = 400  # than an honest folder takes
LONGEST_S = 30
HONEST = "honest"  # name of the folder that the others are made from

RUN = f"""
import contextlib, io, json, resource, signal, sys, time
from zh_albert.cli.app import main

def late(*_):
    raise TimeoutError

def ran(arguments):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    began = time.monotonic()
    sys.argv = ["zh-albert", *arguments]
    signal.signal(signal.SIGALRM, late)
    signal.alarm({2 * LONGEST_S})
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            code = repr(error)
    signal.alarm(0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return code, err.getvalue().strip(), peak, time.monotonic() - began

for name, arguments in json.load(sys.stdin).items():
    print(json.dumps([name, *ran(arguments)]), file=sys.__stdout__, flush=True)
"""


class Case(NamedTuple):
    """A copy of a bundled model's folder with something wrong in it.

    Attributes:
        write: Makes it so.
        says: Part of the error.
        may_answer: Whether it may also be taken: nothing shows what is wrong.
        checked: Whether the copy has a manifest and an export, as the original; else nothing but
            the content of its files tells.
    """

    write: Callable[[Path], Any]
    says: str = ""
    may_answer: bool = False
    checked: bool = False


class End(NamedTuple):
    """How a command ended.

    Attributes:
        code: Exit code, or an exception that nothing caught, or "died".
        error: What it wrote on standard error.
        peak_mb: Peak memory of the process so far.
        seconds: How long it took.
    """

    code: Any
    error: str
    peak_mb: float
    seconds: float


def replace(path: Path, content: bytes) -> None:
    """Write a file that may be a link into the package."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def ends(root: Path, cases: Mapping[str, Case]) -> dict[str, End]:
    """Make the folders, and run ``predict`` with each: the honest one first, then each case."""
    (root / "texts.txt").write_text("很好\n", encoding="utf-8")
    asked = {}
    for name, case in {HONEST: Case(lambda _: None), **cases}.items():
        folder = root / name.replace("/", " ")
        folder.mkdir()
        for path in resolve_model("sentiment").iterdir():
            if case.checked or path.name not in (MANIFEST, "export.json"):
                (folder / path.name).symlink_to(path)
        case.write(folder)
        asked[name] = ["predict", str(folder), str(root / "texts.txt")]
    return dict(_ended(asked))


def problem(case: Case, end: End, honest: End) -> str | None:
    """Return what is wrong with an end: it should be one line, soon, and without much memory."""
    if end.peak_mb > honest.peak_mb + MORE_MB:
        return f"took {end.peak_mb:.0f} MB"
    if end.seconds > LONGEST_S:
        return f"took {end.seconds:.0f} s"
    if case.may_answer and end.code == 0:
        return None
    one_line = end.error.startswith("error: ") and "\n" not in end.error
    if end.code != 2 or not one_line or case.says not in end.error:
        return f"ended with {end.code} and {end.error!r:.500}, expected {case.says!r}"
    return None


def _ended(asked: Mapping[str, list[str]]) -> Iterator[tuple[str, End]]:
    left = dict(asked)
    while left:
        ran = subprocess.run(
            [sys.executable, "-c", RUN],
            input=json.dumps(left),
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        for line in ran.stdout.splitlines():
            name, *end = json.loads(line)
            del left[name]
            yield name, End(*end)
        if ran.returncode:  # it died of the next one
            name = next(iter(left))
            del left[name]
            yield name, End("died", ran.stderr[-500:], 0, 0)
