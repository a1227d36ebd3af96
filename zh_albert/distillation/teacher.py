"""Who is matched: an encoder that is only read, in what this machine is fastest in."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from zh_albert.distillation.losses import fraction_unexplained
from zh_albert.distillation.matching import TeacherView
from zh_albert.distillation.student import CalibrationBatch
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_graph import Graph
from zh_albert.runtimes.onnx_network import onnx_model, states_of
from zh_albert.runtimes.selection import is_installed
from zh_albert.tokenization.encoding import PaddedBatch
from zh_albert.training.precision import computes_faster_in_bf16

_ROUNDING = 0.02  # share of a layer's variance that integers may miss; students miss 0.15 and more
_TRIED = 16  # texts of the sample


class Teacher(Protocol):
    """Computes what is matched, without gradients; never trained, never saved."""

    def view(self, token_ids: Tensor, mask: Tensor) -> TeacherView:
        """Read a batch.

        Args:
            token_ids: Vocabulary ids, some masked. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
        """
        ...


class LayerStates(nn.Module):
    """The states after some of an encoder's layers: what a student is asked to match.

    Args:
        encoder: Changed: layers above the last one asked for are cut off.
        layers: Counted from 1.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int]) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.plan = encoder.plan[: max(layers)]
        self.layers = tuple(layers)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return the states, one layer after the other. Shape: (batch, length, layers · hidden).

        See ``AlbertEncoder`` for the arguments.
        """
        states = self.encoder(token_ids, type_ids, mask, return_states=True).states
        return torch.cat([states[layer] for layer in self.layers], dim=-1)


def layer_states(network: LayerStates, graph: Graph) -> str:
    """Add the network to an ONNX graph; return its output."""
    states = states_of(network.encoder, graph)
    return graph.node("Concat", *(states[layer - 1] for layer in network.layers), axis=-1)


class FrozenTeacher:
    """The encoder itself, in bf16 where the hardware is faster in it.

    Args:
        encoder: Taken over, and its numbers changed.
        layers: Which layers are matched, counted from 1, in order; those above are cut off.
        attention: Also return attention.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int], *, attention: bool) -> None:
        encoder.plan = encoder.plan[: max(layers)]
        self._encoder = encoder.eval().to(
            torch.bfloat16 if computes_faster_in_bf16() else torch.float32
        )
        self._layers, self._attention = tuple(layers), attention

    def view(self, token_ids: Tensor, mask: Tensor) -> TeacherView:
        """See ``Teacher``."""
        self._encoder.to(token_ids.device)
        with torch.no_grad(), torch.autocast(token_ids.device.type, enabled=False):
            output = self._encoder(
                token_ids,
                torch.zeros_like(token_ids),  # a teacher may know but one type
                mask,
                return_states=True,
                return_attention=self._attention,
            )
        attention = output.attention or ()
        return TeacherView(
            tuple(output.states[layer] for layer in self._layers),
            tuple(attention[layer - 1] for layer in self._layers if attention),
        )


class IntegerTeacher:
    """The encoder in int8, by ONNX Runtime on a CPU; its states alone.

    Args:
        encoder: In float32; not changed but for layers above the last that is matched.
        layers: Which layers are matched, counted from 1.

    Raises:
        MissingExtraError: If onnx or onnxruntime is not installed.
    """

    def __init__(self, encoder: AlbertEncoder, layers: Sequence[int]) -> None:
        self._layers = len(layers)
        self._runtime = OnnxRuntime(
            onnx_model(LayerStates(encoder, layers), layer_states, int8=True)
        )
        self._threads = ThreadPoolExecutor(self._runtime.workers)

    def view(self, token_ids: Tensor, mask: Tensor) -> TeacherView:
        """See ``Teacher``; few rows at a time, on all threads."""
        rows = max(1, self._runtime.batch_tokens // token_ids.shape[1])
        few = zip(token_ids.split(rows), mask.split(rows), strict=True)  # type: ignore[no-untyped-call]
        parts = [
            PaddedBatch(ids.numpy(), np.zeros_like(ids.numpy()), there.numpy())
            for ids, there in few
        ]
        found = np.concatenate(list(self._threads.map(self._runtime, parts)))
        return TeacherView(torch.from_numpy(found).chunk(self._layers, dim=-1), ())


def fastest_teacher(
    encoder: AlbertEncoder, layers: Sequence[int], sample: CalibrationBatch, *, attention: bool
) -> Teacher:
    """Return the teacher in what is fastest: on a CPU integers, if ONNX Runtime is there.

    They count where attention is not matched and where they miss next to nothing of the states.
    Nothing is left to chance, so a run that is resumed has the same teacher.

    Args:
        encoder: Taken over, and its numbers may be changed.
        layers: Which layers are matched, counted from 1.
        sample: Text that the encoder has read in float32.
        attention: Whether attention is matched.
    """
    if not (attention or torch.cuda.is_available()) and is_installed("onnxruntime"):
        integers = IntegerTeacher(encoder, layers)
        tried = sample.token_ids[:_TRIED]
        everything = torch.ones_like(tried, dtype=torch.bool)
        found = integers.view(tried, everything).states
        wanted = [sample.states[layer][:_TRIED] for layer in layers]
        missed = [
            fraction_unexplained(*pair, everything) for pair in zip(found, wanted, strict=True)
        ]
        if max(missed) <= _ROUNDING:
            return integers
    return FrozenTeacher(encoder, layers, attention=attention)
