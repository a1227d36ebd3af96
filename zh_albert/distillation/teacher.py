"""Teachers of hidden states: frozen encoders, run in the fastest precision of this machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.matching import ObservedTeacher
from zh_albert.distillation.observation import Observed, observing
from zh_albert.distillation.student import CalibrationBatch
from zh_albert.model.encoder import AlbertEncoder, encoder_of
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_encoder import states_of
from zh_albert.runtimes.onnx_graph import Graph
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.selection import is_installed
from zh_albert.tokenization.encoding import PaddedBatch
from zh_albert.training.precision import computes_faster_in_bf16

_INT8_ERROR = 0.02  # fraction of variance that int8 may lose; students lose 0.15 and more
_CHECKED = 16  # texts on which the error is measured


def layer_states(encoder: AlbertEncoder, graph: Graph, *, layers: Sequence[int]) -> None:
    """Add an encoder to an ONNX graph, with the states after some layers as output.

    Shape: (batch, length, layers · hidden).
    """
    states = states_of(encoder, graph)
    joined = graph.node("Concat", *(states[layer - 1] for layer in layers), axis=-1)
    graph.output(joined, ("batch", "length", len(layers) * encoder.config.hidden_size))


class TorchTeacher:
    """The network itself, in bf16 where the hardware is faster in it.

    Args:
        network: An encoder, or one with its masked-LM head. Modified in place: precision, and
            layers above the last matched one are removed, unless the head reads the top.
        layers: The matched layers, counted from 1.
        parts: What is matched, as attributes of ``Observed``.
    """

    def __init__(self, network: Any, layers: Sequence[int], parts: Collection[str]) -> None:
        if "masked" not in parts:
            encoder = encoder_of(network)
            encoder.plan = encoder.plan[: max(layers)]
        self._network = network.eval().to(
            torch.bfloat16 if computes_faster_in_bf16() else torch.float32
        )
        self._parts = parts

    def __call__(self, inputs: Mapping[str, Tensor]) -> Observed:
        """See ``ObservedTeacher``; a teacher may have a single token type."""
        token_ids, mask = inputs["token_ids"], inputs["mask"]
        self._network.to(token_ids.device)
        exact = torch.autocast(token_ids.device.type, enabled=False)
        with torch.no_grad(), exact, observing(self._network, self._parts) as found:
            encoder = encoder_of(self._network)
            hidden = encoder(token_ids, torch.zeros_like(token_ids), mask).hidden
            if "masked" in self._parts:
                self._network.masked_logits(hidden, inputs["positions"])
        return found


class Int8Teacher:
    """The encoder in int8 on ONNX Runtime and a CPU; hidden states only, no attention.

    Args:
        encoder: In float32; layers above the last matched one are removed in place.
        layers: The matched layers, counted from 1.

    Raises:
        MissingExtraError: If onnx or onnxruntime is not installed.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int]) -> None:
        self._layers = tuple(layers)
        encoder.plan = encoder.plan[: max(layers)]
        outputs = partial(layer_states, layers=self._layers)
        self._runtime = OnnxRuntime(onnx_model(encoder, outputs, precision="int8"))
        self._threads = ThreadPoolExecutor(self._runtime.workers)

    def __call__(self, inputs: Mapping[str, Tensor]) -> Observed:
        """See ``ObservedTeacher``; a few rows at a time, on all threads.

        States of layers that are not matched are empty.
        """
        token_ids, mask = inputs["token_ids"], inputs["mask"]
        rows = max(1, self._runtime.batch_tokens // token_ids.shape[1])
        chunks = zip(token_ids.split(rows), mask.split(rows), strict=True)  # type: ignore[no-untyped-call]
        batches = [
            PaddedBatch(ids.numpy(), np.zeros_like(ids.numpy()), real.numpy())
            for ids, real in chunks
        ]
        joined = np.concatenate(list(self._threads.map(self._runtime, batches)))
        states = [torch.empty(0)] * max(self._layers)
        for layer, state in zip(
            self._layers, torch.from_numpy(joined).chunk(len(self._layers), dim=-1), strict=True
        ):
            states[layer - 1] = state
        return Observed(states=states)


def fastest_teacher(
    network: Any, layers: Sequence[int], calibration: CalibrationBatch, parts: Collection[str]
) -> ObservedTeacher:
    """Return the teacher in its fastest form: int8 on a CPU with ONNX Runtime, else PyTorch.

    int8 is used if states alone are matched and they lose next to nothing. The choice is
    deterministic, so a resumed run has the same teacher.

    Args:
        network: An encoder, or one with its masked-LM head; may be modified, see both classes.
        layers: The matched layers, counted from 1.
        calibration: Text with the encoder's states in float32.
        parts: What is matched, as attributes of ``Observed``.
    """
    layers = sorted(set(layers))
    only_states = set(parts) == {"states"}
    if only_states and not torch.cuda.is_available() and is_installed("onnxruntime"):
        int8 = Int8Teacher(encoder_of(network), layers)
        token_ids = calibration.token_ids[:_CHECKED]
        mask = torch.ones_like(token_ids, dtype=torch.bool)
        found = int8({"token_ids": token_ids, "mask": mask}).states
        lost = [
            fraction_unexplained(found[layer - 1], calibration.states[layer][:_CHECKED], mask)
            for layer in layers
        ]
        if max(lost) <= _INT8_ERROR:
            return int8
    return TorchTeacher(network, layers, parts)
