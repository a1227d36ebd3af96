"""Which runtime runs a network: what was exported, what was asked for, or what is fastest here."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from importlib.util import find_spec
from typing import Literal, get_args

from torch import nn

from zh_albert.errors import ConfigError, nearest
from zh_albert.hardware import is_bf16_faster
from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.libraries import OnnxRuntime, OpenVinoRuntime
from zh_albert.runtimes.onnx_network import GraphOutputs, onnx_model
from zh_albert.runtimes.runtime import Precision, Runtime, TorchRuntime

RuntimeName = Literal["auto", "torch", "onnxruntime", "openvino"]

Watch = Callable[[int], Callable[[int], None]]
"""Told of how many tokens work is that begins; returns what is told of those that are done."""

_MANY_OPERATIONS = 1e11  # done in about the time that OpenVINO takes to start


class Runtimes:
    """A runtime for a few texts and one for many; each is opened when it is first needed.

    Args:
        few: Opens the one that answers soonest.
        many: Opens the one that answers most texts a second; None: the same.
        many_tokens: How many are many.
    """

    def __init__(
        self,
        few: Callable[[], Runtime],
        many: Callable[[], Runtime] | None = None,
        *,
        many_tokens: int = 0,
    ) -> None:
        self._openers, self._many_tokens = (few, many or few), many_tokens
        self.watch: Watch = _unwatched
        self._opened: dict[Callable[[], Runtime], Runtime] = {}

    def of(self, tokens: int) -> Runtime:
        """Return the runtime for work of so many tokens."""
        opener = self._openers[tokens >= self._many_tokens]
        if opener not in self._opened:
            self._opened[opener] = opener()
        return self._opened[opener]

    def for_few(self) -> Runtimes:
        """Return the runtime for a few texts, for any number of them."""
        return Runtimes(lambda: self.of(0)).watched(self.watch)

    def watched(self, watch: Watch) -> Runtimes:
        """Return the same runtimes, whose work is told of."""
        same = copy(self)
        same.watch = watch
        return same


def _unwatched(_: int) -> Callable[[int], None]:
    return lambda _: None


def plain_runtimes(network: nn.Module) -> Runtimes:
    """Return PyTorch in fp32 for everything: what training and evaluation compute with."""
    return Runtimes(partial(TorchRuntime, network))


def choose_runtimes(
    network: nn.Module,
    outputs: GraphOutputs | None,
    *,
    runtime: RuntimeName = "auto",
    precision: Precision | None = None,
) -> Runtimes:
    """Return runtimes for a network in memory.

    ``auto``, by measurement (docs/inference.md): ONNX Runtime answers a single text soonest, and
    many texts in fp32. They are answered by OpenVINO in bf16 where that is faster; where
    neither is installed by PyTorch.

    Args:
        network: In fp32.
        outputs: See ``onnx_model``; None: the network runs in PyTorch alone.
        runtime: One by name, or ``auto``.
        precision: ``fp32`` for exact answers, ``bf16``; None: the fastest of both.

    Raises:
        ConfigError: If runtime or precision are unknown, or the runtime cannot compute so.
        MissingExtraError: If the runtime that was asked for is not installed.
    """
    refuse_unknown_names(runtime, precision)
    if precision == "int8":
        raise ConfigError(
            "int8 changes answers, so it is checked first: zh-albert export --precision int8 "
            "writes a folder to load"
        )
    if runtime == "onnxruntime" and precision == "bf16":
        raise ConfigError("onnxruntime has no bf16 on a CPU; ask for fp32, or for openvino")
    fast = precision or ("bf16" if is_bf16_faster() else "fp32")
    openers: dict[str, Callable[[], Runtime]] = {
        "torch": partial(TorchRuntime, network, fast),
        "onnxruntime": partial(_onnxruntime, network, outputs),
        "openvino": partial(_openvino, network, outputs, fast),
    }
    if runtime != "auto":
        runtimes = Runtimes(openers[runtime])
        runtimes.of(0)  # what is missing is said now
        return runtimes
    found = [name for name in ("onnxruntime", "openvino") if outputs and is_installed(name)]
    if precision == "bf16":
        found = [name for name in found if name != "onnxruntime"]
    if fast == "fp32":
        found = found[:1]
    found = found or ["torch"]
    few, many = openers[found[0]], openers[found[-1]]
    return Runtimes(few, many, many_tokens=round(_MANY_OPERATIONS / _operations(network)))


def refuse_unknown_names(runtime: str, precision: str | None) -> None:
    """Check the names of a runtime and of a precision (None: the fastest).

    Raises:
        ConfigError: Naming the nearest.
    """
    if runtime not in get_args(RuntimeName):
        raise ConfigError(
            f"unknown runtime {runtime!r}; {nearest(str(runtime), get_args(RuntimeName))}"
        )
    if precision is not None and precision not in get_args(Precision):
        raise ConfigError(
            f"unknown precision {precision!r}; {nearest(str(precision), get_args(Precision))}"
        )


def _operations(network: nn.Module) -> int:
    """Return about how many multiplications and additions a token takes, with short texts."""
    config = getattr(network.encoder, "config", None)
    assert isinstance(config, AlbertConfig)
    matrices = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    return 2 * config.num_hidden_layers * matrices


def _onnxruntime(network: nn.Module, outputs: GraphOutputs | None) -> Runtime:
    return OnnxRuntime(_graph(network, outputs))


def _openvino(network: nn.Module, outputs: GraphOutputs | None, precision: Precision) -> Runtime:
    return OpenVinoRuntime(_graph(network, outputs), precision)


def _graph(network: nn.Module, outputs: GraphOutputs | None) -> bytes:
    if outputs is None:
        raise ConfigError(f"{type(network).__name__} runs in PyTorch alone; leave runtime out")
    return onnx_model(network, outputs)


def is_installed(name: str) -> bool:
    """Say whether a runtime's library is there, and onnx, which it gets its networks in."""
    return find_spec("onnx") is not None and find_spec(name) is not None
