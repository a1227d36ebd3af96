"""ONNX Runtime and OpenVINO report nothing, and a program's own choices stay as they are."""

from __future__ import annotations

import os
import sys
import types

import pytest

from zh_albert.runtimes.without_telemetry import import_onnxruntime, import_openvino

SWITCH = "ORT_DISABLE_TELEMETRY"


def test_the_switch_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    monkeypatch.delenv(SWITCH)
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    import_onnxruntime()
    assert os.environ[SWITCH] == "1"


def test_a_program_that_imported_it_before_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    import_onnxruntime()
    monkeypatch.delenv(SWITCH)
    with pytest.warns(UserWarning, match=f"set {SWITCH}=1 before that import"):
        import_onnxruntime()
    import_onnxruntime()  # once is enough


def test_whoever_wants_to_report_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    import_onnxruntime()
    assert os.environ[SWITCH] == "0"


def test_openvino_is_without_telemetry_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = types.ModuleType("openvino_telemetry")
    monkeypatch.setitem(sys.modules, "openvino_telemetry", theirs)
    library = import_openvino()
    assert sys.modules["openvino_telemetry"] is theirs
    stub = library.tools.ovc.telemetry_utils.tm
    assert stub.__name__ == "openvino.tools.ovc.telemetry_stub"
