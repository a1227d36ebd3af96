"""Networks exported for a runtime: their files in a model folder, and how these are opened.

An exported folder is a model folder with two or three additional files: the network in the
runtime's own format, and ``export.json`` with its format, its precision and the digest of the
weights it was made from. The format "zh_albert" has no network file: the folder's weights are
stored in 8 bits, and the graph is built from them when the folder is opened.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, TypeVar, get_args

from torch import nn

from zh_albert.checkpoints.files import EXPORT_METADATA, WEIGHTS
from zh_albert.checkpoints.folder import finish_save
from zh_albert.checkpoints.verified import verified_digest
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.runtimes.calibration import Ranges
from zh_albert.runtimes.libraries import OnnxRuntime, OpenVinoRuntime
from zh_albert.runtimes.onnx_graph import CALIBRATED, MATRIX_BITS, OPSET, SCALES, Graph, Opset
from zh_albert.runtimes.onnx_network import GraphOutputs, onnx_model
from zh_albert.runtimes.runtime import Precision, Runtime
from zh_albert.runtimes.selection import LazyRuntime, RuntimeName, choose_runtime, is_installed
from zh_albert.runtimes.without_telemetry import import_openvino

Format = Literal["onnx", "openvino", "zh_albert"]
_ONNX, _OPENVINO = "model.onnx", "openvino.xml"
_PRECISIONS: dict[Format, tuple[Precision, ...]] = {
    "onnx": ("fp32", "fp16", "int8"),
    "openvino": ("fp32", "bf16"),
    "zh_albert": ("int8",),
}


def network_files(
    network: nn.Module,
    outputs: GraphOutputs,
    form: Format,
    precision: Precision,
    opset: Opset = OPSET,
    ranges: Ranges | None = None,
) -> dict[str, bytes]:
    """Return a network in a runtime's format, as a mapping from file name to content.

    OpenVINO's weights are stored in 16 bits if it computes in bf16. "zh_albert" has no file.

    Args:
        network: See ``onnx_model``.
        outputs: See there.
        form: The format.
        precision: The precision in which the runtime computes; fp16 is stored, and computed with
            in fp32.
        opset: See ``onnx_model``; other formats have the default alone.
        ranges: See there; of the format onnx in int8 alone.

    Raises:
        ConfigError: If the format has no such precision or opset.
        MissingExtraError: If a library is not installed.
        CheckpointError: If a weight is too large for fp16.
    """
    if opset not in get_args(Opset):
        raise ConfigError(
            f"expected an opset of {' or '.join(map(str, get_args(Opset)))}, found {opset}"
        )
    if form != "onnx" and opset != OPSET:
        raise ConfigError(f"an opset is of the format onnx; leave it out for {form}")
    if precision not in _PRECISIONS[form]:
        raise ConfigError(
            f"{form}: expected a precision of {' or '.join(_PRECISIONS[form])}, found {precision}"
        )
    if ranges is not None and (form, precision) != ("onnx", "int8"):
        raise ConfigError(
            f"calibration fixes the scales of onnx in int8; leave it out for {form} {precision}"
        )
    if form == "zh_albert":
        return {}
    stored = "fp32" if precision == "bf16" else precision
    content = onnx_model(network, outputs, precision=stored, opset=opset, ranges=ranges)
    if form == "onnx":
        return {_ONNX: content}
    openvino = import_openvino()
    model = openvino.Core().read_model(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _OPENVINO
        openvino.save_model(model, path, compress_to_fp16=precision == "bf16")
        return {file.name: file.read_bytes() for file in (path, path.with_suffix(".bin"))}


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a model folder's weights; it links an export to its weights."""
    if known := verified_digest(folder, WEIGHTS):
        return known
    path = folder / WEIGHTS
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def exported_precision(folder: Path) -> Precision | None:
    """Return the precision in which a model folder's export computes on this machine.

    Returns:
        None if nothing was exported, or if a folder in 8 bits finds no ONNX Runtime: its network
        then runs like any other.

    Raises:
        CheckpointError: If ``export.json`` is damaged.
    """
    metadata = _read_metadata(folder)
    if metadata is None:
        return None
    precision: Precision = metadata["precision"]
    return precision if metadata["format"] != "zh_albert" or is_installed("onnxruntime") else None


def exported_runtime(folder: Path, network: nn.Module, outputs: GraphOutputs) -> LazyRuntime | None:
    """Return the runtime of the network that was exported into a model folder.

    The network is opened when it is first used.

    Args:
        folder: The model folder.
        network: The network with the folder's weights.
        outputs: See ``onnx_model``.

    Returns:
        None if ``exported_precision`` returns None.

    Raises:
        CheckpointError: If the export is damaged, or was made from other weights than the folder's.
    """
    metadata = _read_metadata(folder)
    if metadata is None:
        return None
    if metadata["weights_sha256"] != weights_digest(folder):
        raise CheckpointError(
            f"{folder}: {EXPORT_METADATA} is of other weights than {WEIGHTS}; run zh-albert export "
            f"again, or delete {EXPORT_METADATA}"
        )
    precision = exported_precision(folder)
    if precision is None:
        return None
    if metadata["format"] == "openvino":
        return LazyRuntime(_unchanged(OpenVinoRuntime, folder / _OPENVINO, precision))
    if metadata["format"] == "zh_albert":
        return LazyRuntime(
            lambda: OnnxRuntime(onnx_model(network, outputs, precision="int8"), "int8")
        )
    return LazyRuntime(_unchanged(OnnxRuntime, folder / _ONNX, precision))


def _unchanged(
    opened: Callable[[Path, Precision], Runtime], path: Path, precision: Precision
) -> Callable[[], Runtime]:
    """Return what opens a network, also after a fork, if the file is still the one of now."""
    path = path.resolve()

    def state() -> tuple[int, int, int]:
        about = path.stat()
        return about.st_ino, about.st_size, about.st_mtime_ns

    before = state() if path.is_file() else None

    def opening() -> Runtime:
        if before is not None and (not path.is_file() or state() != before):
            raise CheckpointError(
                f"{path}: it is another file than when the model was loaded; load the model again"
            )
        return opened(path, precision)

    return opening


class RuntimeSettings(TypedDict, total=False):
    """Arguments that choose a model's runtime; see ``with_runtime``."""

    runtime: RuntimeName
    precision: Precision | None


class HasRuntime(Protocol):
    """A model whose network a runtime runs."""

    module: Any
    runtime: LazyRuntime

    @staticmethod
    def outputs(network: Any, graph: Graph) -> None:
        """See ``GraphOutputs``."""
        ...


Model = TypeVar("Model", bound=HasRuntime)


def with_runtime(
    model: Model,
    folder: Path,
    *,
    runtime: RuntimeName = "auto",
    precision: Precision | None = None,
) -> Model:
    """Set the runtime of a model that was opened from a folder.

    An export is used unless another runtime or precision is requested; otherwise see
    ``choose_runtime``.

    Args:
        model: The model; its ``runtime`` is replaced.
        folder: The folder it was opened from.
        runtime: See ``choose_runtime``.
        precision: See there.

    Returns:
        The model itself.

    Raises:
        CheckpointError: If the export is damaged, or was made from other weights.
        ConfigError: If the runtime is unknown or does not support the precision.
        MissingExtraError: If the runtime is not installed.
    """
    model.runtime = _runtime(model, folder, runtime, precision)
    return model


def _runtime(
    model: HasRuntime, folder: Path, runtime: RuntimeName, precision: Precision | None
) -> LazyRuntime:
    found = exported_precision(folder)
    own = {"onnx": "onnxruntime", "zh_albert": "onnxruntime", "openvino": "openvino"}
    metadata = _read_metadata(folder)
    named = runtime == "auto" or (metadata and runtime == own[metadata["format"]])
    wanted = named and precision in (None, found)
    if wanted and (exported := exported_runtime(folder, model.module, model.outputs)):
        exported.open()  # raises now if the runtime cannot be opened
        return exported
    if precision == "int8" and metadata and metadata["precision"] == "int8" and found is None:
        raise MissingExtraError.of("onnxruntime", "onnx")
    return choose_runtime(model.module, model.outputs, runtime=runtime, precision=precision)


def _read_metadata(folder: Path) -> dict[str, Any] | None:
    finish_save(folder)
    path = folder / EXPORT_METADATA
    try:
        metadata = parse_json(read_plain(path))
        known = metadata["format"] in get_args(Format) and metadata["precision"] in get_args(
            Precision
        )
        if not known or not isinstance(metadata["weights_sha256"], str):
            raise ValueError
        # Matrices of 8 bits, as earlier versions wrote them, overflow on many CPUs.
        if metadata["precision"] == "int8" and metadata["matrix_bits"] != MATRIX_BITS:
            raise ValueError
        # In graphs of earlier versions all tokens of a batch share a scale.
        is_graph = metadata["precision"] == "int8" and metadata["format"] == "onnx"
        if is_graph and metadata["scales"] not in (SCALES, CALIBRATED):
            raise ValueError
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise CheckpointError(
            f"{path}: expected format, precision, weights_sha256 and, for int8, matrix_bits = "
            f"{MATRIX_BITS} and scales = {SCALES}; run zh-albert export again"
        ) from None
    result: dict[str, Any] = metadata
    return result
