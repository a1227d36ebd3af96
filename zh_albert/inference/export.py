"""Export of a model folder to a runtime's own format, checked before it is put in place."""

from __future__ import annotations

import copy
import json
import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zh_albert.checkpoints.files import EXPORT_METADATA, WEIGHTS
from zh_albert.checkpoints.folder import replace_folder, write_file
from zh_albert.checkpoints.sentence_transformers import MODULES
from zh_albert.checkpoints.shared_ngrams import with_own_ngrams
from zh_albert.checkpoints.sidecar_files import read_sidecar_files
from zh_albert.checkpoints.store import read_folder, save_model
from zh_albert.checkpoints.stored_model import StoredModel, build_model
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import EncoderOutputs, Pretrained
from zh_albert.runtimes.calibration import Ranges, measuring_ranges
from zh_albert.runtimes.exported import (
    Format,
    exported_runtime,
    network_files,
    weights_digest,
)
from zh_albert.runtimes.onnx_graph import CALIBRATED, MATRIX_BITS, OPSET, SCALES, Opset
from zh_albert.runtimes.onnx_network import GraphOutputs, encoder_outputs
from zh_albert.runtimes.runtime import Precision, Runtime, TorchRuntime
from zh_albert.runtimes.selection import is_installed, plain_runtime
from zh_albert.tasks.catalog import network_of, task_of
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import spread
from zh_albert.tokenization.encoding import PaddedBatch
from zh_albert.training.events import Observer
from zh_albert.training.run_folder import refuse_foreign, refuse_trained
from zh_albert.training.stages import silent

# Largest allowed difference from the network in fp32, as a fraction of its largest output.
_TOLERANCE: dict[Precision, float] = {"fp32": 1e-4, "fp16": 0.01, "bf16": 0.05, "int8": 0.25}
# Runtimes add up in other orders than PyTorch, some in longer chains: where a network magnifies
# roundings, ONNX Runtime on a CPU with AVX2 alone lost 21 times as much as PyTorch.
_ROUNDINGS = 50
# Bytes for each parameter on average; more would mean that something is stored twice.
_BYTES: dict[Precision, float] = {"fp32": 4.2, "fp16": 2.2, "bf16": 2.2, "int8": 2.0}
_DESCRIPTION_BYTES = 200_000  # of the graph itself
_CALIBRATED_ON = 256  # examples
_ALLOWED_LOSS = 0.5  # points of the task's score that int8 may cost
_FEWER_BITS = re.compile(r"int[2-7]\b")
_GO_ALONG = (
    "config.json",
    "*.safetensors*",
    "*.npz",
    "vocab.txt",
    "spiece.model",
    "*_config.json",
    "*.md",
)


def export(
    source: Path,
    out: Path,
    *,
    form: Format,
    precision: Precision = "fp32",
    opset: Opset = OPSET,
    dev: Path | None = None,
    calibration: Path | None = None,
    progress: Observer = silent,
) -> dict[str, Any]:
    """Write a model folder with its network in another format, completely or not at all.

    Args:
        source: A model folder: of a task, or of a pretrained encoder.
        out: Folder to write; may be ``source``.
        form: The runtime's format. ``zh_albert``: the folder's own weights are stored in 8 bits
            (or stay in fewer), and the network is built from them when the folder is loaded.
        precision: The precision in which the runtime computes; fp16 is stored, and computed with
            in fp32.
        opset: Version of an ``.onnx`` file's operators; see ``Opset``.
        dev: Labelled examples of a task. Both networks are scored on them; int8 is refused if it
            loses more than half a point.
        calibration: Labelled examples (a training file) on which the scales of onnx in int8 are
            fixed: faster than a scale for each token, and less exact.
        progress: Observer of the scoring.

    Returns:
        The content of ``export.json``.

    Raises:
        CheckpointError: If the file gives other answers than the network, is larger than its
            weights, or loses too much; or the folder cannot be read or written.
        ConfigError: If the format has no such precision or opset, an encoder no such format or a
            ``dev``, or ``out`` holds another model that is no export.
        DataError: If ``dev`` cannot be read.
        MissingExtraError: If a library is not installed; int8 is checked by ONNX Runtime.
    """
    refuse_trained(out, source=source)
    _refuse_other_model(out, source)
    if out.resolve() != source.resolve():
        refuse_foreign(out)
    with verified(source):
        stored = read_folder(source)
        files = _files_of(source, stored)
        files = with_own_ngrams(source, stored.task, files)
    task = None if stored.task.get("name") in (None, "encoder") else task_of(source, stored.task)
    if task is None:
        _refuse_for_encoders(source, form, dev or calibration)
    network, outputs = _network(stored, task)
    ranges = _ranges(source, task, calibration) if task and calibration else None
    exported = network_files(network, outputs, form, precision, opset, ranges)
    if precision == "int8" and not is_installed("onnxruntime"):
        raise MissingExtraError.of("onnxruntime", "onnx")  # needed for the check
    exported = exported or _rounded(network, stored, files)
    size, parameters = sum(map(len, exported.values())), _count(network)
    if size > _BYTES[precision] * parameters + _DESCRIPTION_BYTES:
        raise CheckpointError(
            f"{out}: not written: expected about {_BYTES[precision]:.0f} bytes for each of "
            f"{parameters:,} parameters, found {size:,} bytes: some are stored more than once"
        )
    with tempfile.TemporaryDirectory() as name:
        trial = Path(name)
        for file, content in files.items():
            write_file(trial / file, content)
        before = task.score(trial, dev, progress=progress) if task and dev else {}
        for file, content in exported.items():
            write_file(trial / file, content)
        metadata: dict[str, Any] = {
            "format": form,
            "precision": precision,
            "weights_sha256": weights_digest(trial),
            "parameters": parameters,
            "bytes": size,
            "in_place": out.resolve() == source.resolve(),
        }
        if form == "onnx":
            metadata["opset"] = opset
        if precision == "int8":
            metadata |= {"matrix_bits": MATRIX_BITS, "scales": CALIBRATED if ranges else SCALES}
        (trial / EXPORT_METADATA).write_text(
            json.dumps(metadata, allow_nan=False), encoding="utf-8"
        )
        runtime = exported_runtime(trial, network, outputs)
        assert runtime is not None
        measured = precision == "int8" and dev  # measured on real texts, which is more informative
        limit = math.inf if measured else _TOLERANCE[precision]
        opened = runtime.open()
        difference = _checked_difference(network, opened, stored.config, out, limit)
        metadata["largest_difference"] = difference
        if task and dev:
            after = task.score(trial, dev, progress=progress)
            # Multi-label and regression models have their own scores; the main one comes first.
            known = [name for name in ("micro_f1", task.metric) if name in before]
            metric = known[0] if known else next(iter(before))
            computed = f"{form} fp32" if opened.name.endswith("fp32") else precision
            metadata["dev"] = {"metric": metric, "fp32": before[metric], computed: after[metric]}
            if precision == "int8":
                _refuse_loss(before[metric], after[metric], task, f"{metric} on {dev}", out)
    text = json.dumps(metadata, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    replace_folder(out, {**files, **_kept(source, out), **exported, EXPORT_METADATA: text})
    return metadata


def _files_of(source: Path, stored: StoredModel) -> dict[str, bytes]:
    """Return the files that the exported folder has, too."""
    paths = [path for pattern in _GO_ALONG for path in source.glob(pattern)]
    files = {path.name: path.read_bytes() for path in paths}
    own = "zh_albert" in parse_json(files["config.json"])
    if stored.task and not own and (source / MODULES).is_file():
        raise ConfigError(
            f"{source}: what it is for stands in its modules.json, as sentence-transformers has "
            f"it; convert it first, and export that: zh-albert convert {source} DIR"
        )
    # transformers 5 saves the vocabulary in tokenizer.json alone, of a model of ours, too.
    return {**files, **read_sidecar_files(source)}


def _kept(source: Path, out: Path) -> dict[str, bytes]:
    """Return what an export into the source itself must not remove.

    Elsewhere it would name folders that are not there.
    """
    path = source / MODULES
    in_place = out.resolve() == source.resolve()
    return {MODULES: read_plain(path)} if in_place and path.is_file() else {}


def _network(stored: StoredModel, task: Task | None) -> tuple[nn.Module, GraphOutputs]:
    """Return the network to export, and what adds it to a graph."""
    network = build_model(stored, network_of).float().eval()
    if task:
        return network, task.model.outputs
    return EncoderOutputs(cast(Pretrained, network)).eval(), encoder_outputs


def _ranges(source: Path, task: Task, file: Path) -> Ranges:
    """Return the ranges of what a model's matrices read, on examples from all over a file."""
    model = task.model.load(source)
    model.runtime = plain_runtime(model.module)
    examples = task.read(file)
    with measuring_ranges(model.module) as ranges:
        task.evaluate(model, spread(examples, _CALIBRATED_ON))
    return ranges


def _refuse_for_encoders(source: Path, form: Format, dev: Path | None) -> None:
    """Refuse what only the model of a task has."""
    if dev:
        raise ConfigError(f"{source}: dev scores a task; an encoder has none: leave dev out")
    if form == "zh_albert":
        raise ConfigError(
            f"{source}: the format zh_albert is for a task's model, this is an encoder: export it "
            "as onnx or openvino"
        )


def _refuse_loss(exact: float, rounded: float, task: Task, what: str, out: Path) -> None:
    """Refuse int8 that costs half a point or more."""
    loss = (exact - rounded) * 100 / task.best_score
    if loss >= _ALLOWED_LOSS:
        raise CheckpointError(
            f"{out}: not written: int8 loses {loss:.2f} points of {what} ({exact:.4f} to "
            f"{rounded:.4f}), less than {_ALLOWED_LOSS} are allowed; export another precision"
        )


def _refuse_other_model(out: Path, source: Path) -> None:
    """Refuse to replace a model; an export of another folder may be, as it can be made again."""
    if out.resolve() == source.resolve():
        return
    is_model = (out / WEIGHTS).exists() or (out / "config.json").exists()
    if is_model and not _is_export_of_another(out):
        raise ConfigError(
            f"{out} holds a model already, which would be replaced: choose another folder"
        )


def _is_export_of_another(folder: Path) -> bool:
    """Return whether a model was exported from another folder, so that this is no only copy."""
    try:
        return not parse_json(read_plain(folder / EXPORT_METADATA)).get("in_place", False)
    except FileNotFoundError:
        return False
    except (ValueError, AttributeError):  # damaged: to export again is the advice
        return True


def _rounded(
    network: nn.Module, stored: StoredModel, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return a folder's weights in 8 bits, or in fewer as they are, and the config that says so."""
    weights = parse_json(files["config.json"]).get("zh_albert", {}).get("weights", "")
    if _FEWER_BITS.match(weights):
        return {name: files[name] for name in (WEIGHTS, "config.json")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, task = stored.config, stored.task
        save_model(folder, model=network, config=config, files=files, task=task, dtype=torch.int8)
        return {name: (folder / name).read_bytes() for name in (WEIGHTS, "config.json")}


def _checked_difference(
    network: nn.Module, runtime: Runtime, config: AlbertConfig, out: Path, limit: float
) -> float:
    """Return the largest difference between two runtimes, as a fraction of the largest output.

    Of a network with several outputs, the largest of their fractions. Random tokens can meet a
    trained network where it magnifies every rounding, so what PyTorch in fp32 loses against fp64
    widens the limit.
    """
    rng = np.random.default_rng(0)
    reference, exact = TorchRuntime(network), TorchRuntime(copy.deepcopy(network).double())
    apart = rounding = largest = np.zeros(1)
    for rows, length in ((1, 1), (1, 9), (7, 40), (3, 128)):
        length = min(length, config.max_position_embeddings)  # noqa: PLW2901
        mask = np.arange(length) < rng.integers(1, length + 1, (rows, 1))
        ids = np.where(mask, rng.integers(config.vocab_size, size=mask.shape), config.pad_token_id)
        types = rng.integers(config.type_vocab_size, size=mask.shape) * mask
        batch = PaddedBatch(ids, types, mask)
        expected, found = reference.outputs(batch), runtime.outputs(batch)
        wanted, shapes = ([output.shape for output in outputs] for outputs in (expected, found))
        if shapes != wanted:
            raise CheckpointError(
                f"{out}: not written: expected outputs of shape {_listed(wanted)}, found "
                f"{_listed(shapes)}"
            )
        apart = np.maximum(apart, _differences(found, expected))
        rounding = np.maximum(rounding, _differences(exact.outputs(batch), expected))
        largest = np.maximum(largest, [np.abs(output).max() for output in expected])
    share = float((apart / largest).max())
    limit += _ROUNDINGS * float((rounding / largest).max())
    if not share <= limit:  # so that nan is refused too
        raise CheckpointError(
            f"{out}: not written: the outputs of {runtime.name} differ from the network's by "
            f"{share:.2g} of the largest, at most {limit:.2g} is allowed; export another precision"
            + (", or measure its answers with --dev FILE" if runtime.name.endswith("int8") else "")
        )
    return float(f"{share:.3g}")


def _differences(
    first: Sequence[NDArray[np.float32]], second: Sequence[NDArray[np.float32]]
) -> list[float]:
    """Return the largest difference of each output; a nan stays one."""
    return [float(np.abs(a - b).max()) for a, b in zip(first, second, strict=True)]


def _listed(shapes: Iterable[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes))


def _count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
