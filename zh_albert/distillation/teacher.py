"""Teachers of hidden states: frozen encoders, run in the fastest precision of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.matching import TeacherStates
from zh_albert.distillation.student import CalibrationBatch
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_encoder import states_of
from zh_albert.runtimes.onnx_graph import Graph
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.selection import is_installed
from zh_albert.tokenization.encoding import PaddedBatch
from zh_albert.training.precision import computes_faster_in_bf16

_INT8_ERROR = 0.02  # fraction of variance that int8 may lose; students lose 0.15 and more
_CHECKED = 16  # texts on which the error is measured


class StateTeacher(Protocol):
    """Computes the hidden states to match, without gradients; never trained and never saved."""

    def states(self, token_ids: Tensor, mask: Tensor) -> TeacherStates:
        """Encode a batch.

        Args:
            token_ids: Vocabulary ids, some masked. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
        """
        ...


class LayerStates(nn.Module):
    """Network that returns the hidden states after some of an encoder's layers.

    Args:
        encoder: Modified in place: layers above the last one returned are removed.
        layers: Counted from 1.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int]) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.plan = encoder.plan[: max(layers)]
        self.layers = tuple(layers)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the states of all layers, concatenated. Shape: (batch, length, layers · hidden).

        See ``AlbertEncoder`` for the arguments.
        """
        states = self.encoder(token_ids, type_ids, mask, return_states=True).states
        return torch.cat([states[layer] for layer in self.layers], dim=-1)


def layer_states(network: LayerStates, graph: Graph) -> None:
    """Add the network to an ONNX graph."""
    states = states_of(network.encoder, graph)
    joined = graph.node("Concat", *(states[layer - 1] for layer in network.layers), axis=-1)
    width = len(network.layers) * network.encoder.config.hidden_size
    graph.output(joined, ("batch", "length", width))


class TorchTeacher:
    """The encoder itself, in bf16 where the hardware is faster in it.

    Args:
        encoder: Modified in place: precision, and layers above the last matched one are removed.
        layers: The matched layers, counted from 1, in order.
        attention: Also return attention probabilities.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int], *, attention: bool) -> None:
        encoder.plan = encoder.plan[: max(layers)]
        self._encoder = encoder.eval().to(
            torch.bfloat16 if computes_faster_in_bf16() else torch.float32
        )
        self._layers, self._attention = tuple(layers), attention

    def states(self, token_ids: Tensor, mask: Tensor) -> TeacherStates:
        """See ``StateTeacher``."""
        self._encoder.to(token_ids.device)
        with torch.no_grad(), torch.autocast(token_ids.device.type, enabled=False):
            output = self._encoder(
                token_ids,
                torch.zeros_like(token_ids),  # a teacher may have a single token type
                mask,
                return_states=True,
                return_attention=self._attention,
            )
        attention = output.attention or ()
        return TeacherStates(
            tuple(output.states[layer] for layer in self._layers),
            tuple(attention[layer - 1] for layer in self._layers if attention),
        )


class Int8Teacher:
    """The encoder in int8 on ONNX Runtime and a CPU; hidden states only, no attention.

    Args:
        encoder: In float32; layers above the last matched one are removed in place.
        layers: The matched layers, counted from 1.

    Raises:
        MissingExtraError: If onnx or onnxruntime is not installed.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int]) -> None:
        self._layers = len(layers)
        self._runtime = OnnxRuntime(
            onnx_model(LayerStates(encoder, layers), layer_states, precision="int8")
        )
        self._threads = ThreadPoolExecutor(self._runtime.workers)

    def states(self, token_ids: Tensor, mask: Tensor) -> TeacherStates:
        """See ``StateTeacher``; a few rows at a time, on all threads."""
        rows = max(1, self._runtime.batch_tokens // token_ids.shape[1])
        chunks = zip(token_ids.split(rows), mask.split(rows), strict=True)  # type: ignore[no-untyped-call]
        batches = [
            PaddedBatch(ids.numpy(), np.zeros_like(ids.numpy()), real.numpy())
            for ids, real in chunks
        ]
        states = np.concatenate(list(self._threads.map(self._runtime, batches)))
        return TeacherStates(torch.from_numpy(states).chunk(self._layers, dim=-1), ())


def fastest_teacher(
    encoder: AlbertEncoder, layers: Sequence[int], calibration: CalibrationBatch, *, attention: bool
) -> StateTeacher:
    """Return the teacher in its fastest form: int8 on a CPU with ONNX Runtime, else PyTorch.

    int8 is used if attention is not matched and the states lose next to nothing. The choice is
    deterministic, so a resumed run has the same teacher.

    Args:
        encoder: May be modified in place, see the two classes.
        layers: The matched layers, counted from 1.
        calibration: Text with the encoder's states in float32.
        attention: Whether attention is matched.
    """
    if not (attention or torch.cuda.is_available()) and is_installed("onnxruntime"):
        int8 = Int8Teacher(encoder, layers)
        token_ids = calibration.token_ids[:_CHECKED]
        mask = torch.ones_like(token_ids, dtype=torch.bool)
        exact = [calibration.states[layer][:_CHECKED] for layer in layers]
        pairs = zip(int8.states(token_ids, mask).states, exact, strict=True)
        if max(fraction_unexplained(*pair, mask) for pair in pairs) <= _INT8_ERROR:
            return int8
    return TorchTeacher(encoder, layers, attention=attention)
