"""ONNX Runtime and OpenVINO as runtimes. Each is an optional extra, imported when opened."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from zh_albert.errors import CheckpointError
from zh_albert.runtimes.onnx_graph import INPUTS
from zh_albert.runtimes.runtime import Precision
from zh_albert.runtimes.without_telemetry import import_onnxruntime, import_openvino
from zh_albert.tokenization.encoding import PaddedBatch


class OnnxRuntime:
    """ONNX Runtime on the CPU, in the precision of the file.

    Each batch uses one thread: several short batches in parallel are faster than one on all cores.

    Args:
        model: An ``.onnx`` file, or its content; see ``onnx_network``.
        precision: The precision of the file; part of the runtime's name.

    Raises:
        MissingExtraError: If onnxruntime is not installed.
        CheckpointError: If it cannot read the file.
    """

    multiple_of = 1
    equal_lengths = True  # padding changes the last bit of some answers, and costs time

    def __init__(self, model: bytes | Path, precision: Precision = "fp32") -> None:
        onnxruntime = import_onnxruntime()
        self.name = f"onnxruntime {precision}"
        self.batch_tokens = 512  # the activations of the widest layer then stay in the cache
        self.workers = torch.get_num_threads()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # errors only; its warnings concern normal operation
        options.enable_mem_pattern = False  # made for each shape, and shapes rarely repeat
        try:
            self._session = onnxruntime.InferenceSession(
                model if isinstance(model, bytes) else str(model),
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # onnxruntime raises a dozen classes of its own
            raise _unreadable(model, "onnxruntime", error) from None

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Run one batch."""
        return self.outputs(batch)[0]

    def outputs(self, batch: PaddedBatch) -> list[NDArray[np.float32]]:
        """See ``Runtime``."""
        outputs: list[NDArray[np.float32]] = self._session.run(None, feeds(batch))
        return outputs


class OpenVinoRuntime:
    """OpenVINO on the CPU.

    Args:
        model: An ``.xml`` file with its ``.bin`` next to it, or the content of an ``.onnx`` file.
        precision: The precision of the computation; int8 only if the file has integer weights.

    Raises:
        MissingExtraError: If openvino is not installed.
        CheckpointError: If it cannot read the file.
    """

    batch_tokens = 2048
    multiple_of = 8  # it compiles again for each new shape
    equal_lengths = False

    def __init__(self, model: bytes | Path, precision: Precision) -> None:
        openvino = import_openvino()
        self.workers = torch.get_num_threads()
        settings = {
            "INFERENCE_PRECISION_HINT": "f32" if precision == "fp32" else "bf16",
            "INFERENCE_NUM_THREADS": self.workers,
            "NUM_STREAMS": self.workers,
        }
        core = openvino.Core()
        try:
            read = core.read_model(model if isinstance(model, bytes) else str(model))
            self._model = core.compile_model(read, "CPU", settings)
        except Exception as error:  # RuntimeError, or an exception of one of its frontends
            raise _unreadable(model, "openvino", error) from None
        # A CPU without bf16 computes in fp32, whatever was asked for.
        kind = self._model.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        computed = "fp32" if precision == "bf16" and kind == "f32" else precision
        self.name = f"openvino {computed}"
        self._local = threading.local()

    def __call__(self, batch: PaddedBatch) -> NDArray[np.float32]:
        """Run one batch."""
        return self.outputs(batch)[0]

    def outputs(self, batch: PaddedBatch) -> list[NDArray[np.float32]]:
        """See ``Runtime``."""
        request: Any = getattr(self._local, "request", None)
        if request is None:
            request = self._local.request = self._model.create_infer_request()
        request.infer(feeds(batch), share_inputs=True)
        return [tensor.data.astype(np.float32) for tensor in request.output_tensors]


def feeds(batch: PaddedBatch) -> dict[str, NDArray[np.int64]]:
    """Return a batch as a mapping from the names of an exported network's inputs."""
    return dict(zip(INPUTS, (part.astype(np.int64, copy=False) for part in batch), strict=True))


def _unreadable(model: bytes | Path, library: str, error: Exception) -> CheckpointError:
    where = model if isinstance(model, Path) else "the exported network"
    reason = " ".join(str(error).split())[:200]
    return CheckpointError(
        f"{where}: {library} cannot open it ({reason}); export it again, or install a newer "
        f"{library}"
    )
