"""Networks of every head as ``.onnx`` files, run by ONNX Runtime without this library.

python -m tests.interop.onnx_alone
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from tests.helpers.exported_networks import batch, heads
from tests.interop.row import THERE, Row, print_rows
from zh_albert.runtimes.libraries import feeds
from zh_albert.runtimes.onnx_graph import GraphPrecision, Opset
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.runtimes.without_telemetry import import_onnxruntime

PRECISIONS: tuple[GraphPrecision, ...] = ("fp32", "fp16")


def rows() -> Iterator[Row]:
    """Yield the system, the head, the direction, and the largest difference from PyTorch in fp32.

    Each head is on a small encoder with random weights. They are those of a saved folder, rounded
    to fp16, so a file in fp16 has to give the same as one in fp32. Of a network with several
    outputs, the largest difference of all.
    """
    onnxruntime = import_onnxruntime()
    inputs = batch()
    for opset in sorted(get_args(Opset), reverse=True):
        for precision in PRECISIONS:
            for head, (network, outputs) in heads().items():
                network.half().float()
                content = onnx_model(network, outputs, precision=precision, opset=opset)
                session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
                found = session.run(None, feeds(inputs))
                expected = TorchRuntime(network).outputs(inputs)
                apart = max(
                    float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True)
                )
                yield Row(f"onnxruntime, opset {opset}, {precision}", head, THERE, apart)


if __name__ == "__main__":
    print_rows(rows())
