"""Networks written to disk for an engine: what is beside them, and opening them again.

An exported folder is a model folder with two or three files more: the network in the engine's own
format, and ``export.json``, which says what it is and of which weights. In the format "zh_albert"
there is no file of the network: the folder's weights are in 8 bits, and the graph is made of them
when it is opened.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, TypeVar, get_args

from torch import nn

from zh_albert.checkpoints.files import EXPORT_FACTS, WEIGHTS
from zh_albert.engines.choice import EngineName, Engines, choose_engines, is_installed
from zh_albert.engines.engine import Precision
from zh_albert.engines.onnx_graph import MATRIX_BITS
from zh_albert.engines.onnx_network import onnx_model
from zh_albert.engines.runtimes import OnnxRuntimeEngine, OpenVinoEngine
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError

Format = Literal["onnx", "openvino", "zh_albert"]
_ONNX, _OPENVINO = "model.onnx", "openvino.xml"
# So many tokens of a pool are worth a scale shared with other texts.
_MANY_TOKENS = 20_000
_PRECISIONS: dict[Format, tuple[Precision, ...]] = {
    "onnx": ("fp32", "int8"),
    "openvino": ("fp32", "bf16"),
    "zh_albert": ("int8",),
}


def network_files(network: nn.Module, form: Format, precision: Precision) -> dict[str, bytes]:
    """Return a network in an engine's format; file name to content.

    OpenVINO's numbers are stored in 16 bits where it computes in bf16. "zh_albert" has no file.

    Raises:
        ConfigError: If the format has no such precision.
        CheckpointError: If there is no graph for such a network.
        MissingExtraError: If a library is not installed.
    """
    if precision not in _PRECISIONS[form]:
        raise ConfigError(
            f"{form}: expected a precision of {' or '.join(_PRECISIONS[form])}, found {precision}"
        )
    if form == "zh_albert":
        return {}
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


def exported_precision(folder: Path) -> Precision | None:
    """Return what a model folder's export is computed in here.

    Returns:
        None if nothing was exported, or a folder in 8 bits finds no ONNX Runtime to make its graph
        for: then its weights are computed as any other's.

    Raises:
        CheckpointError: If ``export.json`` is damaged.
    """
    facts = _read_facts(folder)
    if facts is None:
        return None
    precision: Precision = facts["precision"]
    return precision if facts["format"] != "zh_albert" or is_installed("onnxruntime") else None


def exported_engines(folder: Path, network: nn.Module) -> Engines | None:
    """Return what was exported into a model folder, for any work.

    It is opened when it is first used. In int8 a few texts are run one by one, so that each is
    answered as it is alone; many share batches, and what enters a matrix its scale.

    Args:
        folder: The model's.
        network: With the folder's weights.

    Returns:
        None where ``exported_precision`` is.

    Raises:
        CheckpointError: If it is damaged, or of other weights than the folder's.
    """
    facts = _read_facts(folder)
    if facts is None:
        return None
    if facts["weights_sha256"] != weights_digest(folder):
        raise CheckpointError(
            f"{folder}: {EXPORT_FACTS} is of other weights than {WEIGHTS}; run zh-albert export "
            f"again, or delete {EXPORT_FACTS}"
        )
    precision = exported_precision(folder)
    if precision is None:
        return None
    if facts["format"] == "openvino":
        return Engines(partial(OpenVinoEngine, folder / _OPENVINO, precision))
    if facts["format"] == "zh_albert":
        return _int8_engines(lambda: onnx_model(network, int8=True))
    if precision == "int8":
        return _int8_engines(lambda: folder / _ONNX)
    return Engines(partial(OnnxRuntimeEngine, folder / _ONNX, precision))


def _int8_engines(model: Callable[[], bytes | Path]) -> Engines:
    @cache
    def opened() -> OnnxRuntimeEngine:
        return OnnxRuntimeEngine(model(), "int8")

    return Engines(lambda: opened().one_by_one(), opened, many_tokens=_MANY_TOKENS)


class EngineSettings(TypedDict, total=False):
    """How a model is to be run; see ``with_engines``."""

    engine: EngineName
    precision: Precision | None
    alone: bool


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
    alone: bool = False,
) -> Model:
    """Give a model that was opened from a folder the engines that answer fastest.

    An export is taken, unless another engine or precision is asked for; else see
    ``choose_engines``.

    Args:
        model: Without an engine of its own.
        folder: Where it is from.
        engine: See ``choose_engines``.
        precision: See there.
        alone: Answer each text as it is answered alone, however many are at hand.

    Returns:
        The model itself.

    Raises:
        CheckpointError: If the export is damaged, or of other weights.
        ConfigError: If the engine is unknown or cannot compute so.
        MissingExtraError: If the engine is not installed.
    """
    model.engines = _engines(model.module, folder, engine, precision)
    if alone:
        model.engines = model.engines.for_few()
    return model


def _engines(
    network: nn.Module, folder: Path, engine: EngineName, precision: Precision | None
) -> Engines:
    found = exported_precision(folder)
    wanted = engine == "auto" and precision in (None, found)
    if wanted and (exported := exported_engines(folder, network)):
        exported.of(0)  # what is missing is said now
        return exported
    facts = _read_facts(folder)
    if precision == "int8" and facts and facts["precision"] == "int8" and found is None:
        raise MissingExtraError.of("onnxruntime", "onnx")
    return choose_engines(network, engine=engine, precision=precision)


def _read_facts(folder: Path) -> dict[str, Any] | None:
    path = folder / EXPORT_FACTS
    try:
        facts = json.loads(path.read_bytes())
        known = facts["format"] in get_args(Format) and facts["precision"] in get_args(Precision)
        if not known or not isinstance(facts["weights_sha256"], str):
            raise ValueError
        # Integers of 8 bits, of versions before, overflow on many CPUs.
        if facts["precision"] == "int8" and facts["matrix_bits"] != MATRIX_BITS:
            raise ValueError
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(
            f"{path}: expected format, precision, weights_sha256 and, for int8, matrix_bits = "
            f"{MATRIX_BITS}; run zh-albert export again"
        ) from None
    result: dict[str, Any] = facts
    return result
