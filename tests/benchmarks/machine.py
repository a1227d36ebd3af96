"""The class of this CPU, and how fast one thread of it multiplies matrices.

Run: python tests/benchmarks/machine.py --json

Rates of other benchmarks mean little on another CPU; their share of what the same thread can do at
most means more. Limits are of the products of a layer of ``tiny``, over 512 tokens: fp32 and bf16
in PyTorch, int8 as ``MatMulInteger`` in ONNX Runtime; the fastest of several rounds that alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch

from zh_albert.model.config import PRESETS
from zh_albert.runtimes.without_telemetry import import_onnxruntime

TOKENS = 512
FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile")
_ROUNDS, _TIMES = 12, 20


def cpu_class() -> str:
    """Return the CPU's maker, family and model, and what it has for products."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(re.findall(r"^(vendor_id|cpu family|model|flags)\s*: (.*)$", text, re.MULTILINE))
    flags = found.get("flags", "").split()
    has = [name for name in FEATURES if name in flags]
    family = f"family {found.get('cpu family')} model {found.get('model')}"
    return f"{found.get('vendor_id', platform.machine())} {family}: {', '.join(has) or 'no AVX2'}"


def layer_shapes() -> list[tuple[int, int]]:
    """Return the inputs and outputs of the matrices of one layer."""
    hidden, wide = PRESETS["tiny"].hidden_size, PRESETS["tiny"].intermediate_size
    return [(hidden, hidden)] * 4 + [(hidden, wide), (wide, hidden)]


def limits() -> dict[str, float]:
    """Return multiplications per second of one thread in each precision, in 10⁹."""
    torch.set_num_threads(1)
    products = {name: _by_torch(dtype) for name, dtype in _TYPES.items()}
    with suppress(ImportError):
        products["int8"] = _by_onnxruntime()
    best = dict.fromkeys(products, float("inf"))
    for _ in range(_ROUNDS):
        for name, product in products.items():
            began = time.process_time()
            for _ in range(_TIMES):
                product()
            best[name] = min(best[name], (time.process_time() - began) / _TIMES)
    work = TOKENS * sum(rows * columns for rows, columns in layer_shapes())
    return {name: round(work / seconds / 1e9, 1) for name, seconds in best.items()}


_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def _by_torch(dtype: torch.dtype) -> Callable[[], object]:
    pairs = [
        (torch.randn(TOKENS, rows, dtype=dtype), torch.randn(columns, rows, dtype=dtype))
        for rows, columns in layer_shapes()
    ]

    def product() -> None:
        with torch.inference_mode():
            for inputs, matrix in pairs:
                torch.nn.functional.linear(inputs, matrix)

    return product


def _by_onnxruntime() -> Callable[[], object]:
    import onnx

    library = import_onnxruntime()
    rng, nodes, matrices = np.random.default_rng(0), [], []
    for number, (rows, columns) in enumerate(layer_shapes()):
        matrix = rng.integers(-63, 64, (rows, columns)).astype(np.int8)
        matrices.append(onnx.numpy_helper.from_array(matrix, f"matrix{number}"))
        nodes.append(
            onnx.helper.make_node(
                "MatMulInteger", [f"inputs{rows}", f"matrix{number}"], [f"product{number}"]
            )
        )
    sizes = sorted({rows for rows, _ in layer_shapes()})
    graph = onnx.helper.make_graph(
        nodes,
        "layer",
        [
            onnx.helper.make_tensor_value_info(f"inputs{n}", onnx.TensorProto.UINT8, [TOKENS, n])
            for n in sizes
        ],
        [
            onnx.helper.make_tensor_value_info(
                f"product{number}", onnx.TensorProto.INT32, [TOKENS, columns]
            )
            for number, (_, columns) in enumerate(layer_shapes())
        ],
        matrices,
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10
    )
    options = library.SessionOptions()
    options.intra_op_num_threads = 1
    session = library.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    inputs = {f"inputs{n}": rng.integers(0, 256, (TOKENS, n)).astype(np.uint8) for n in sizes}
    return lambda: session.run(None, inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result: dict[str, Any] = {"cpu": cpu_class(), "limits_gmac_per_second": limits()}
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
