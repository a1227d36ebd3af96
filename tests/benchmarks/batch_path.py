"""The way of one training batch through the modules, from the task file to the update.

Run: python tests/benchmarks/batch_path.py CHECKOUT --json
A small ``classification`` is fine-tuned by a checkout's own command line (random weights, no
n-grams, one epoch) while ``sys.setprofile`` watches. The way is, in this order:

1. the reading of the training file: all calls of the frame that opens it, up to what it shares with
   the rest;
2. the frames that encoding and updates share, from the command on, then all calls of the first
   frame of encoding that updates do not share (the tokenizer is given a training text in it);
3. the frames on the way to the optimizer's step, then all calls from one step to the next, of an
   update in the middle: batch, loss, gradients. Nothing is evaluated there.

Of these calls only functions of ``zh_albert`` count that hand something on: what returns nothing, a
truth value or a number is a check or a counter beside the way, and comprehensions belong to their
function. Each function counts once, where it is called first; so neither the number of texts nor
that of layers shows.

rooms     modules that the way leads through
stays     stretches of functions in a row that are in one module
returns   stays in a module that the way had been to before: stays less rooms
climbs    calls of a function in a higher layer than the caller's, by the layers that pyproject.toml
          gives import-linter; within a layer, of one in a module that imports the caller's,
          directly or by way of others, while the caller's does not import it
"""

from __future__ import annotations

import argparse
import ast
import importlib
import itertools
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGE = "zh_albert"
TEXTS = [f"第{number}个房间{('太差了', '很干净')[number % 2]}。" for number in range(24)]
SETTINGS = {
    "model.ngrams": "false",
    "train.epochs": "1",
    "train.batch_tokens": "64",
    "train.precision": "fp32",
}
BESIDE = ("NoneType", "bool", "int", "float")
"""What a function that is no part of the way returns."""


class Watch:
    """Every call of a function of the package, with the package's frames above it."""

    def __init__(self, file: str, text: str) -> None:
        self.calls: list[tuple[int, list[int]]] = []
        """The steps of the optimizer made before it, and the stack's frames, outermost first."""
        self.names: dict[int, str] = {}
        self.returned: dict[int, str] = {}
        self.opening: list[int] = []
        self.encoding: list[int] = []
        self.stepping: list[int] = []
        self._file, self._text, self._steps = file, text, 0
        self._kept: list[FrameType] = []  # so that no two frames have the same number

    def audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See ``sys.addaudithook``."""
        if event == "open" and str(arguments[0]).endswith(self._file) and not self.opening:
            self.opening = self._stack(sys._getframe(1))

    def profiled(self, frame: FrameType, event: str, value: Any) -> None:
        """See ``sys.setprofile``."""
        number = id(frame)
        if event == "call" and _module(frame) and frame.f_code.co_name != "<module>":
            if number in self.names:  # a generator goes on
                return
            self._kept.append(frame)
            self.names[number] = f"{_module(frame)}:{frame.f_code.co_qualname}"
            stack = self._stack(frame)
            self.calls.append((self._steps, stack))
            if not self.encoding and self.opening and self._is_tokenizing(frame):
                self.encoding = stack
        elif event == "return":
            if number in self.names:
                self.returned.setdefault(number, type(value).__name__)
            elif frame.f_code.co_name == "step" and _is_optimizer(frame.f_locals.get("self")):
                self._steps += 1
                self.stepping = self._stack(frame)

    def _is_tokenizing(self, frame: FrameType) -> bool:
        """Say whether the tokenizer is given the text, alone or in a list."""
        if ".tokenization." not in self.names[id(frame)]:
            return False
        given = frame.f_locals.values()
        return any(one == self._text or _lists(one, self._text) for one in given)

    def _stack(self, frame: FrameType | None) -> list[int]:
        stack: list[int] = []
        while frame is not None:
            if id(frame) in self.names:
                stack.append(id(frame))
            frame = frame.f_back
        return stack[::-1]

    def way(self) -> list[dict[str, str]]:
        """Return functions and their callers, as called, in the order of the docstring above."""
        shared = [frame for frame in self.encoding if frame in self.stepping]
        root = next(frame for frame in reversed(shared) if frame in self.opening)
        shared = shared[shared.index(root) :]
        reading = next(frame for frame in self.opening if frame not in self.encoding)
        encoding = next(frame for frame in self.encoding if frame not in self.stepping)
        updates = [list(calls) for _, calls in itertools.groupby(self.calls, lambda call: call[0])]
        update = updates[1:-1][len(updates[1:-1]) // 2]
        ways: list[Sequence[Sequence[int]]] = [
            [[root]],
            [stack for _, stack in self.calls if reading in stack],
            _prefixes(shared),
            [stack for _, stack in self.calls if encoding in stack],
            _prefixes(self.stepping[self.stepping.index(root) :]),
            [stack for _, stack in update],
        ]
        open_frames = {*self.opening, *self.encoding, *self.stepping}
        return [
            {"function": self._name(stack[-1]), "caller": "".join(map(self._name, stack[-2:-1]))}
            for stack in itertools.chain(*ways)
            if not self.names[stack[-1]].endswith(">")  # comprehensions, lambdas
            and (stack[-1] in open_frames or self.returned.get(stack[-1]) not in BESIDE)
        ]

    def _name(self, frame: int) -> str:
        """Return ``module:function``; a comprehension is its function."""
        name = self.names[frame]
        while name.endswith(">"):
            name = name.rpartition(".<locals>.")[0]
        return name.removeprefix(f"{PACKAGE}.")


def _module(frame: FrameType) -> str:
    """Return the module of a frame of the package, not of what dataclasses make; else nothing."""
    name: str = frame.f_globals.get("__name__", "")
    code: CodeType = frame.f_code
    return name if name.startswith(f"{PACKAGE}.") and code.co_filename != "<string>" else ""


def _lists(given: object, text: str) -> bool:
    return isinstance(given, list) and text in given


def _is_optimizer(value: Any) -> bool:
    return any(kind.__name__ == "Optimizer" for kind in type(value).__mro__)


def _prefixes(stack: Sequence[int]) -> list[Sequence[int]]:
    return [stack[:end] for end in range(1, len(stack) + 1)]


def trace() -> list[dict[str, str]]:
    """Fine-tune in this process, in the folder it stands in, and return the way of a batch."""
    for name in ("train", "dev"):
        rows = [{"text": text, "label": str(n % 2)} for n, text in enumerate(TEXTS)]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ["finetune", "--train", "train.jsonl", "--dev", "dev.jsonl"]
    arguments += ["--out", "out", "--init", "random"]
    for name, value in SETTINGS.items():
        arguments += ["--set", f"{name}={value}"]
    watch = Watch("train.jsonl", TEXTS[0])
    sys.addaudithook(watch.audited)
    sys.argv = ["zh-albert", *arguments]
    for library in (
        "torch",
        "accelerate",
    ):  # watching them being loaded would take most of the time
        importlib.import_module(library)
    threading.setprofile(watch.profiled)
    sys.setprofile(watch.profiled)
    try:
        runpy.run_module(f"{PACKAGE}.cli", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
    return watch.way()


def imports_of(checkout: Path) -> dict[str, set[str]]:
    """Return the modules of the package that each one imports, but for type checkers alone."""
    files = {
        ".".join(path.relative_to(checkout / PACKAGE).with_suffix("").parts): path
        for path in (checkout / PACKAGE).rglob("*.py")
    }
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        names = set(_imported(ast.parse(path.read_text(encoding="utf-8"))))
        found[name] = {module for module in names if module in files}
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
        module = str(node.module).removeprefix(f"{PACKAGE}.")
        yield module
        yield from (f"{module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def needed_by(imports: dict[str, set[str]], module: str) -> set[str]:
    """Return the modules that a module imports, directly or by way of others."""
    found: set[str] = set()
    left = [module]
    while left:
        new = imports.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def layers_of(checkout: Path) -> dict[str, int]:
    """Return each package's or module's layer, the highest one first."""
    text = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["type"] == "layers")
    return {
        name.strip().removeprefix(f"{PACKAGE}."): number
        for number, names in enumerate(layers)
        for name in names.split("|")
    }


class Order:
    """Which modules stand above which.

    Args:
        checkout: Whose.
    """

    def __init__(self, checkout: Path) -> None:
        self._layers, imports = layers_of(checkout), imports_of(checkout)
        self._needed = {module: needed_by(imports, module) for module in imports}

    def is_climb(self, caller: str, called: str) -> bool:
        """Say whether a call leads up."""
        layers = [self._layer(module) for module in (caller, called)]
        if layers[0] != layers[1]:
            return layers[1] < layers[0]
        return caller in self._needed[called] and called not in self._needed[caller]

    def _layer(self, module: str) -> int:
        known = [name for name in self._layers if f"{module}.".startswith(f"{name}.")]
        return self._layers[max(known, key=len)]


def measured(way: Sequence[dict[str, str]], order: Order) -> dict[str, Any]:
    """Count rooms, stays, returns and climbs; see above."""
    functions = list(dict.fromkeys(call["function"] for call in way))
    stays = [
        {"module": module, "functions": [name.partition(":")[2] for name in some]}
        for module, some in itertools.groupby(functions, lambda name: name.partition(":")[0])
    ]
    rooms = list(dict.fromkeys(stay["module"] for stay in stays))
    climbs = [
        f"{caller} → {function}"
        for caller, function in _calls(way)
        if order.is_climb(caller.partition(":")[0], function.partition(":")[0])
    ]
    return {
        "rooms": len(rooms),
        "stays": len(stays),
        "returns": len(stays) - len(rooms),
        "climbs": climbs,
        "way": stays,
    }


def _calls(way: Iterable[dict[str, str]]) -> dict[tuple[str, str], None]:
    """Return each call once, in their order."""
    return {(call["caller"], call["function"]): None for call in way if call["caller"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="whose code is watched")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--trace", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.trace:
        options.trace.write_text(json.dumps(trace()), encoding="utf-8")
        return
    checkout = options.checkout.resolve()
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        traced = Path(folder) / "way.json"
        command = [sys.executable, "-P", __file__, str(checkout), "--trace", str(traced)]
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        if ran.returncode:
            raise SystemExit(
                f"error: {checkout}: the fine-tuning failed: {ran.stderr.decode()[-2000:]}"
            )
        result = measured(json.loads(traced.read_text(encoding="utf-8")), Order(checkout))
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    for number, stay in enumerate(result["way"], start=1):
        print(f"{number:>3} {stay['module']:<36} {', '.join(stay['functions'])}")
    for climb in result["climbs"]:
        print(f"climb  {climb}")
    counts = {**result, "climbs": len(result["climbs"])}
    print(", ".join(f"{counts[name]} {name}" for name in ("rooms", "stays", "climbs", "returns")))


if __name__ == "__main__":
    main()
