"""Runtime selection: by an explicit request, or the fastest one on this machine."""

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
"""Called with the total number of tokens; returns a callback for the number of tokens done."""

_MANY_OPERATIONS = 1e11  # take about as long as OpenVINO takes to start


class Runtimes:
    """A runtime for few texts and one for many; each is opened when it is first needed.

    Args:
        few: Opens the runtime with the lowest latency.
        many: Opens the runtime with the highest throughput; None: the same.
        many_tokens: Number of tokens from which on ``many`` is used.
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
        """Return the runtime for inputs of this number of tokens in total."""
        opener = self._openers[tokens >= self._many_tokens]
        if opener not in self._opened:
            self._opened[opener] = opener()
        return self._opened[opener]

    def for_few(self) -> Runtimes:
        """Return runtimes that use the runtime for few texts for any number of them."""
        return Runtimes(lambda: self.of(0)).watched(self.watch)

    def watched(self, watch: Watch) -> Runtimes:
        """Return the same runtimes with progress reported to ``watch``."""
        same = copy(self)
        same.watch = watch
        return same


def _unwatched(_: int) -> Callable[[int], None]:
    return lambda _: None


def plain_runtimes(network: nn.Module) -> Runtimes:
    """Return PyTorch in fp32 for all inputs, as training and evaluation use it."""
    return Runtimes(partial(TorchRuntime, network))


def choose_runtimes(
    network: nn.Module,
    outputs: GraphOutputs | None,
    *,
    runtime: RuntimeName = "auto",
    precision: Precision | None = None,
) -> Runtimes:
    """Return runtimes for a network in memory.

    ``auto`` follows measurements (docs/inference.md): ONNX Runtime for single texts, and for many
    texts in fp32; OpenVINO for many texts in bf16 where that is faster; PyTorch if neither is
    installed.

    Args:
        network: A network in fp32.
        outputs: See ``onnx_model``; None: the network runs only in PyTorch.
        runtime: Name of a runtime, or ``auto``.
        precision: ``fp32`` for exact answers, or ``bf16``; None: the faster of the two.

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
        runtimes.of(0)  # raises now if the runtime cannot be opened
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


def _operations(network: nn.Module) -> int:
    """Return the approximate multiplications and additions for a token of a short text."""
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
    """Return whether a runtime's library is installed, and onnx, which networks are built with."""
    return find_spec("onnx") is not None and find_spec(name) is not None
