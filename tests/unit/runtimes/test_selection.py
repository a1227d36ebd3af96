"""Which runtime is taken."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.helpers.exported_networks import CONFIG, heads
from zh_albert.errors import ConfigError, ZhAlbertError
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.runtimes.selection import choose_runtime


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
