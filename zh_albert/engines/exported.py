"""Networks written to disk for an engine: what is beside them, and opening them again.

An exported folder is a model folder with two or three files more: the network in the engine's own
format, and ``export.json``, which says what it is and of which weights.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, TypeVar, get_args

from torch import nn

from zh_albert.checkpoints.files import WEIGHTS
from zh_albert.engines.choice import EngineName, Engines, choose_engines
from zh_albert.engines.engine import Precision
from zh_albert.engines.onnx_graph import onnx_model
from zh_albert.engines.runtimes import OnnxRuntimeEngine, OpenVinoEngine
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError

Format = Literal["onnx", "openvino"]
FACTS = "export.json"
_ONNX, _OPENVINO = "model.onnx", "openvino.xml"
_PRECISIONS: dict[Format, tuple[Precision, ...]] = {
    "onnx": ("fp32", "int8"),
    "openvino": ("fp32", "bf16"),
}


def network_files(network: nn.Module, form: Format, precision: Precision) -> dict[str, bytes]:
    """Return a network in an engine's format; file name to content.

    OpenVINO's numbers are stored in 16 bits where it computes in bf16.

    Raises:
        ConfigError: If the format has no such precision.
        CheckpointError: If there is no graph for such a network.
        MissingExtraError: If a library is not installed.
    """
    if precision not in _PRECISIONS[form]:
        raise ConfigError(
            f"{form}: expected a precision of {' or '.join(_PRECISIONS[form])}, found {precision}"
        )
    content = onnx_model(network, int8=precision == "int8")
    if form == "onnx":
        return {_ONNX: content}
    try:
        import openvino  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("openvino", "openvino") from None
    model = openvino.Core().read_model(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _OPENVINO
        openvino.save_model(model, path, compress_to_fp16=precision == "bf16")
        return {file.name: file.read_bytes() for file in (path, path.with_suffix(".bin"))}


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a model folder's weights, by which an export is known to be theirs."""
    path = folder / WEIGHTS
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def exported_engines(folder: Path) -> Engines | None:
    """Return what was exported into a model folder, for any work; None if nothing was.

    It is opened when it is first used.

    Raises:
        CheckpointError: If it is damaged, or of other weights than the folder's.
    """
    facts = _read_facts(folder)
    if facts is None:
        return None
    if facts["weights_sha256"] != weights_digest(folder):
        raise CheckpointError(
            f"{folder}: {FACTS} is of other weights than {WEIGHTS}; run zh-albert export again, "
            f"or delete {FACTS}"
        )
    if facts["format"] == "onnx":
        return Engines(partial(OnnxRuntimeEngine, folder / _ONNX, facts["precision"]))
    return Engines(partial(OpenVinoEngine, folder / _OPENVINO, facts["precision"]))


class EngineSettings(TypedDict, total=False):
    """How a model is to be run; see ``with_engines``."""

    engine: EngineName
    precision: Precision | None


class RunByEngines(Protocol):
    """A model whose network engines can run."""

    module: Any
    engines: Engines


Model = TypeVar("Model", bound=RunByEngines)


def with_engines(
    model: Model,
    folder: Path,
    *,
    engine: EngineName = "auto",
    precision: Precision | None = None,
) -> Model:
    """Give a model that was opened from a folder the engines that answer fastest.

    An export is taken unless another engine or precision is asked for; else see
    ``choose_engines``.

    Returns:
        The model itself.

    Raises:
        CheckpointError: If the export is damaged, or of other weights.
        ConfigError: If the engine is unknown or cannot compute so.
        MissingExtraError: If the engine is not installed.
    """
    facts = _read_facts(folder)
    if facts and engine == "auto" and precision in (None, facts["precision"]):
        model.engines.of(0)  # what is missing is said now
    else:
        model.engines = choose_engines(model.module, engine=engine, precision=precision)
    return model


def _read_facts(folder: Path) -> dict[str, Any] | None:
    path = folder / FACTS
    try:
        facts = json.loads(path.read_bytes())
        known = facts["format"] in get_args(Format) and facts["precision"] in get_args(Precision)
        if not known or not isinstance(facts["weights_sha256"], str):
            raise ValueError
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(
            f"{path}: expected format, precision and weights_sha256; run zh-albert export again"
        ) from None
    result: dict[str, Any] = facts
    return result
