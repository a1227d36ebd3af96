"""ONNX Runtime and OpenVINO, imported so that they report nothing to their makers.

By default the first sends events to ``mobile.events.data.microsoft.com`` from its import on and
keeps an identifier of the device under the user's cache; the second sends one to
``www.google-analytics.com`` when it is imported and keeps an identifier in ``~/intel``. All of this
package imports them here (the linter refuses other places), so nothing of the kind happens.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zh_albert.errors import MissingExtraError

_ONNX_RUNTIME_SWITCH = "ORT_DISABLE_TELEMETRY"


def import_onnxruntime() -> Any:
    """Import ONNX Runtime with its telemetry off.

    It reads the switch when it is imported, and never again: a program that imported it before
    has to have set it, and is warned if not. Whoever sets the switch to 0 is not overruled.

    Raises:
        MissingExtraError: If it is not installed.
    """
    if "onnxruntime" in sys.modules and _ONNX_RUNTIME_SWITCH not in os.environ:
        warnings.warn(
            "onnxruntime was imported before zh_albert and reports its use to Microsoft; set "
            f"{_ONNX_RUNTIME_SWITCH}=1 before that import to turn this off",
            stacklevel=2,
        )
    os.environ.setdefault(_ONNX_RUNTIME_SWITCH, "1")
    try:
        library = importlib.import_module("onnxruntime")
    except ImportError:
        raise MissingExtraError.of("onnxruntime", "onnx") from None
    if os.environ[_ONNX_RUNTIME_SWITCH] != "0":
        library.disable_telemetry_events()  # what Windows heeds instead of the variable
    return library


def import_openvino() -> Any:
    """Import OpenVINO with its telemetry off.

    Its package of telemetry has no switch but a file in the user's home. Where that package is not
    installed, OpenVINO reports nothing; so it is hidden during the import.

    Raises:
        MissingExtraError: If OpenVINO is not installed.
    """
    try:
        if sys.modules.get("openvino"):
            return importlib.import_module("openvino")
        with _hidden("openvino_telemetry"):
            return importlib.import_module("openvino")
    except ImportError:
        raise MissingExtraError.of("openvino", "openvino") from None


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Let imports of a module fail as if it was not installed."""
    known = {name: sys.modules[name]} if name in sys.modules else {}
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        sys.modules.update(known)
