"""Which runtime is taken."""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.helpers.exported_networks import CONFIG, heads
from zh_albert.errors import CheckpointError, ConfigError, ZhAlbertError
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.runtimes.selection import LazyRuntime, choose_runtime


def test_a_network_without_a_graph_is_refused_and_auto_takes_torch() -> None:
    network = AlbertForPretraining(CONFIG).eval()
    for runtime in ("onnxruntime", "openvino"):
        with pytest.raises(ConfigError, match="AlbertForPretraining runs in PyTorch alone; leave"):
            choose_runtime(network, None, runtime=runtime)  # type: ignore[arg-type]
    assert choose_runtime(network, None).open().name.startswith("torch")


def test_auto_takes_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    network, outputs = heads()["first"]

    def name(*installed: str, **settings: Any) -> str:
        monkeypatch.setattr(
            "zh_albert.runtimes.selection.is_installed", lambda name: name in installed
        )
        return choose_runtime(network, outputs, **settings).open().name

    assert name() == "torch fp32"
    assert name("onnxruntime", "openvino") == "onnxruntime fp32"
    assert name("openvino") == "openvino fp32"
    # Without bf16 in the CPU, fp32 is what it computes in.
    asked = name("onnxruntime", "openvino", precision="bf16")
    assert asked in ("openvino bf16", "openvino fp32")
    assert name("onnxruntime", precision="bf16") == "torch bf16"
    assert name("onnxruntime", runtime="torch") == "torch fp32"


def test_threads_that_ask_first_at_the_same_time_share_a_runtime() -> None:
    opened = []

    def opener() -> TorchRuntime:
        opened.append(TorchRuntime(heads()["first"][0]))
        time.sleep(0.05)  # the others come meanwhile
        return opened[-1]

    lazy = LazyRuntime(opener)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda one: one.open(), [lazy, copy.deepcopy(lazy)] * 2))
    assert len(opened) == 1
    assert found == opened * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork with threads
def test_a_process_forked_while_a_thread_opens_a_runtime_opens_its_own() -> None:
    parent, begun, end = os.getpid(), threading.Event(), threading.Event()

    def opener() -> TorchRuntime:
        if os.getpid() == parent:
            begun.set()
            end.wait()
        return TorchRuntime(heads()["first"][0])

    lazy = LazyRuntime(opener)
    thread = threading.Thread(target=lazy.open)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a process that waits for the parent's thread
        code = 1
        try:
            lazy.open()
            code = 0
        finally:
            os._exit(code)
    end.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_runtime_that_cannot_be_opened_is_tried_again() -> None:
    failures = [CheckpointError("not yet")]

    def opener() -> TorchRuntime:
        if failures:
            raise failures.pop()
        return TorchRuntime(heads()["first"][0])

    lazy = LazyRuntime(opener)
    with pytest.raises(CheckpointError, match="not yet"):
        lazy.open()
    assert lazy.open().name == "torch fp32"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runtime": "onnxruntim"}, "unknown runtime 'onnxruntim'; did you mean 'onnxruntime'"),
        ({"precision": "fp8"}, "unknown precision 'fp8'; known: bf16, fp16, fp32, int8"),
        ({"precision": "int8"}, "zh-albert export --precision int8"),
        ({"precision": "fp16"}, "zh-albert export --precision fp16"),
        ({"runtime": "onnxruntime", "precision": "bf16"}, "no bf16"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        choose_runtime(*heads()["first"], **settings)


@pytest.mark.parametrize("library", ["onnx", "onnxruntime", "openvino"])
def test_a_missing_library_is_named_with_its_extra(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    runtime: Any = "openvino" if library == "openvino" else "onnxruntime"
    with pytest.raises(ZhAlbertError, match=rf"{library} is not installed.*zh-albert\["):
        choose_runtime(*heads()["first"], runtime=runtime)
