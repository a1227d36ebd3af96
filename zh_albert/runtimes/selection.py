"""Runtime selection: by an explicit request, or the fastest one that is installed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from copy import copy
from functools import partial
from importlib.util import find_spec
from typing import Literal, get_args

from torch import nn

from zh_albert.errors import ConfigError, nearest
from zh_albert.runtimes.libraries import OnnxRuntime, OpenVinoRuntime
from zh_albert.runtimes.onnx_network import GraphOutputs, onnx_model
from zh_albert.runtimes.runtime import Precision, Runtime, TorchRuntime

RuntimeName = Literal["auto", "torch", "onnxruntime", "openvino"]

Watch = Callable[[int], Callable[[int], None]]
"""Called with the total number of tokens; returns a callback for the number of tokens done."""


class LazyRuntime:
    """A runtime that is opened when it is first needed.

    A forked process opens its own, because a library's threads stay behind in its parent.

    Args:
        opener: Opens it.
    """

    def __init__(self, opener: Callable[[], Runtime]) -> None:
        # The parent's runtime is kept by a forked process: closing it would wait for its threads.
        opened: dict[int, Runtime] = {}
        locks: dict[int, threading.Lock] = {}  # one for each process: a fork may copy a held one

        def open_once(process: int) -> Runtime:
            if process not in opened:
                # Else each of several threads that ask first would open a runtime.
                with locks.setdefault(process, threading.Lock()):
                    if process not in opened:
                        opened[process] = opener()
            return opened[process]

        self._opener = open_once  # a function: copies of a model share it
        self.watch: Watch = _unwatched

    def open(self) -> Runtime:
        """Return the runtime itself, always the same in a process."""
        return self._opener(os.getpid())

    def watched(self, watch: Watch) -> LazyRuntime:
        """Return the same runtime with progress reported to ``watch``."""
        same = copy(self)
        same.watch = watch
        return same


def _unwatched(_: int) -> Callable[[int], None]:
    return lambda _: None


def plain_runtime(network: nn.Module) -> LazyRuntime:
    """Return PyTorch in fp32, as training and evaluation use it."""
    return LazyRuntime(partial(TorchRuntime, network))


def choose_runtime(
    network: nn.Module,
    outputs: GraphOutputs | None,
    *,
    runtime: RuntimeName = "auto",
    precision: Precision | None = None,
) -> LazyRuntime:
    """Return a runtime for a network in memory, for any number of texts.

    ``auto`` follows measurements (docs/inference.md): ONNX Runtime in fp32, OpenVINO in bf16, where
    they are installed; else PyTorch.

    Args:
        network: A network in fp32.
        outputs: See ``onnx_model``; None: the network runs only in PyTorch.
        runtime: Name of a runtime, or ``auto``.
        precision: ``fp32``, or ``bf16``, which is faster on some CPUs (``is_bf16_faster``) and less
            exact; None: ``fp32``.

    Raises:
        ConfigError: If the runtime or precision is unknown, or they do not go together.
        MissingExtraError: If the requested runtime is not installed.
    """
    refuse_unknown_names(runtime, precision)
    if precision == "int8":
        raise ConfigError(
            "int8 changes answers, so it is checked first: zh-albert export --precision int8 "
            "writes a folder to load"
        )
    if precision == "fp16":
        raise ConfigError(
            "fp16 is a form of files, computed with in fp32: zh-albert export --precision fp16 "
            "writes a folder to load"
        )
    if runtime == "onnxruntime" and precision == "bf16":
        raise ConfigError("onnxruntime has no bf16 on a CPU; ask for fp32, or for openvino")
    precision = precision or "fp32"
    openers: dict[str, Callable[[], Runtime]] = {
        "onnxruntime": partial(_onnxruntime, network, outputs),
        "openvino": partial(_openvino, network, outputs, precision),
        "torch": partial(TorchRuntime, network, precision),
    }
    if runtime != "auto":
        chosen = LazyRuntime(openers[runtime])
        chosen.open()  # raises now if the runtime cannot be opened
        return chosen
    installed = [name for name in ("onnxruntime", "openvino") if outputs and is_installed(name)]
    if precision == "bf16" and "onnxruntime" in installed:
        installed.remove("onnxruntime")
    return LazyRuntime(openers[[*installed, "torch"][0]])


def refuse_unknown_names(runtime: str, precision: str | None) -> None:
    """Check the names of a runtime and of a precision (None: the fastest one).

    Raises:
        ConfigError: If a name is unknown; the error suggests the nearest one.
    """
    if runtime not in get_args(RuntimeName):
        raise ConfigError(
            f"unknown runtime {runtime!r}; {nearest(str(runtime), get_args(RuntimeName))}"
        )
    if precision is not None and precision not in get_args(Precision):
        raise ConfigError(
            f"unknown precision {precision!r}; {nearest(str(precision), get_args(Precision))}"
        )


def _onnxruntime(network: nn.Module, outputs: GraphOutputs | None) -> Runtime:
    return OnnxRuntime(_graph(network, outputs))


def _openvino(network: nn.Module, outputs: GraphOutputs | None, precision: Precision) -> Runtime:
    return OpenVinoRuntime(_graph(network, outputs), precision)


def _graph(network: nn.Module, outputs: GraphOutputs | None) -> bytes:
    if outputs is None:
        raise ConfigError(f"{type(network).__name__} runs in PyTorch alone; leave runtime out")
    return onnx_model(network, outputs)


def is_installed(name: str) -> bool:
    """Return whether a runtime's library is installed, and onnx, which networks are built with."""
    return find_spec("onnx") is not None and find_spec(name) is not None
