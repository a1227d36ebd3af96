"""Builder of an ONNX graph: operators, and tensors that are each stored once.

An initializer has the name of the parameter it holds, so layers that share a block refer to the
same one. Only standard operators are used, so any runtime that supports the graph's opset can read
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from zh_albert.errors import CheckpointError

Opset = Literal[17, 23]
"""Version of the standard operators: 23 is the first with ``Attention``; 17, the first with
``LayerNormalization``, is read by older runtimes, too."""
OPSET: Opset = 23
"""The default."""
GraphPrecision = Literal["fp32", "fp16", "int8"]
"""How a graph stores matrices and tables; of fp16 it computes in fp32."""
INPUTS = ("input_ids", "token_type_ids", "attention_mask")  # as ``transformers`` names them
FLOAT, BOOL = 1, 9  # values of onnx.TensorProto.DataType

# Bits of a matrix's integers, including the sign. CPUs without VNNI instructions add two products
# in 16 bits: 2 * 255 * 63 still fits, so every CPU computes the same.
MATRIX_BITS = 7
_LARGEST = 2 ** (MATRIX_BITS - 1) - 1
SCALES = "token"
"""What has a scale of its own in the input of a product of integers."""
CALIBRATED = "calibrated"
"""The same, of scales that are fixed by calibration."""
# The integer that means 0 in an input: of numbers of both signs, and of numbers that are hardly
# ever negative.
_MIDDLE, _NEAR_ZERO = 128, 16
_TINY = 1e-9


class Output(NamedTuple):
    """An output of a graph, in fp32.

    Attributes:
        name: Its name.
        shape: Its sizes; the names ``batch`` and ``length`` stand for sizes of the input.
    """

    name: str
    shape: tuple[str | int, ...]


class Graph:
    """A graph under construction; each method returns the name of what it adds.

    Attributes:
        int8: Whether matrices are stored and multiplied as integers.
        opset: The operators' version.
        nodes: Operator, inputs, outputs and attributes of each node.
        tensors: The stored tensors by name.
        outputs: The outputs, in order.
        names: Names of the network's modules, and of parts of modules that are stored separately.

    Args:
        network: Of the graph.
        precision: See ``GraphPrecision``.
        opset: See ``Opset``.
        ranges: Of what int8 products read, see ``calibration``: scales are then fixed, and larger
            numbers clipped. None: each token has a scale of its own.
    """

    def __init__(
        self,
        network: nn.Module,
        precision: GraphPrecision,
        opset: Opset,
        ranges: Mapping[str, float] | None = None,
    ) -> None:
        self.int8, self._fp16 = precision == "int8", precision == "fp16"
        self.opset = opset
        self.nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = []
        self.tensors: dict[str, NDArray[Any]] = {}
        self.outputs: list[Output] = []
        # A block shared by several layers is one object and therefore has one name.
        self.names = {part: name for name, part in network.named_modules()}
        self._quantized: dict[str, list[str]] = {}
        self._restored: dict[str, str] = {}
        self._ones: list[str] = []
        self._uses: dict[str, int] = {}
        self._ranges, self._reads = ranges, Counter[str]()

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operator with one output."""
        return self._add(kind, inputs, [output or f"{kind}_{len(self.nodes)}"], attributes)[0]

    def split(self, states: str, parts: int, *, axis: int = -1) -> list[str]:
        """Split a tensor into equal parts."""
        names = [f"Split_{len(self.nodes)}_{part}" for part in range(parts)]
        # Before opset 18 the number of outputs was not repeated.
        number = {"num_outputs": parts} if self.opset >= 18 else {}
        return self._add("Split", [states], names, {"axis": axis, **number})

    def constant(self, value: ArrayLike, dtype: type = np.int64) -> str:
        """Store a small constant, once for each value."""
        array: NDArray[Any] = np.asarray(value, dtype=dtype)
        return self.store(f"constant_{array.dtype}_{array.tolist()}", array)

    def output(self, value: str, shape: tuple[str | int, ...], name: str = "logits") -> None:
        """Declare an output; see ``Output``."""
        self.node("Identity", value, output=name)
        self.outputs.append(Output(name, shape))

    def weight(self, module: nn.Module, kind: str = "weight") -> str:
        """Store a parameter of a module."""
        return self._parameter(f"{self.names[module]}.{kind}", numbers_of(getattr(module, kind)))

    def table(self, table: nn.Embedding, rows: str) -> str:
        """Look up rows of an embedding table."""
        if self._fp16:  # the rows are converted, not the table
            name = f"{self.names[table]}.weight"
            half = self.store(name, _halves(name, numbers_of(table.weight)))
            return self.node("Cast", self.node("Gather", half, rows), to=FLOAT)
        if not self.int8:
            return self.node("Gather", self.weight(table), rows)
        small, scale = (self.node("Gather", part, rows) for part in self._table_integers(table))
        return self.node("Mul", self.node("Cast", small, to=FLOAT), scale)

    def whole_table(self, table: nn.Embedding) -> str:
        """Return an embedding table in fp32. Shape: (rows, width)."""
        if not self.int8:
            return self.weight(table)
        numbers, scales = self._table_integers(table)
        return self.node("Mul", self.node("Cast", numbers, to=FLOAT), scales)

    def matrix(self, layer: nn.Linear, factor: float = 1.0) -> str:
        """Return the matrix that ``linear`` multiplies by, in fp32. Shape: (in, out)."""
        matrix = numbers_of(layer.weight).T * np.float32(factor)
        return self._parameter(f"{self.names[layer]}.weight", matrix)

    def linear(
        self,
        states: str,
        layer: nn.Linear,
        *,
        factor: float = 1.0,
        int8: bool | None = None,
        bias: NDArray[np.float32] | Literal["own"] | None = "own",
        lowest: float | None = None,
    ) -> str:
        """Multiply by a matrix, and by ``factor``; add the bias.

        Args:
            states: Name of the input. Shape: (…, in); if integers are multiplied, (rows, in).
            layer: The linear layer with the matrix and bias.
            factor: Folded into the stored weights, so it costs nothing at run time.
            int8: Whether to multiply integers; by default as in the whole graph.
            bias: Added in place of the layer's own; None: nothing is.
            lowest: A bound that no number of the input falls below, if there is one near 0: in int8
                the numbers above get the rest of the range.
        """
        name = self.names[layer]
        if self.int8 if int8 is None else int8:
            matrix = numbers_of(layer.weight).T * np.float32(factor)
            product = self._integer_product(states, f"{name}.weight", matrix, lowest)
        else:
            product = self.node("MatMul", states, self.matrix(layer, factor))
        if isinstance(bias, str):
            bias = None if layer.bias is None else numbers_of(layer.bias)
        if bias is None:
            return product
        return self.node("Add", product, self.store(f"{name}.bias", bias * np.float32(factor)))

    def norm(self, states: str, layer: nn.LayerNorm) -> str:
        """Normalise the last axis."""
        scale, bias = self.weight(layer), self.weight(layer, "bias")
        return self.node("LayerNormalization", states, scale, bias, epsilon=layer.eps)

    def _integer_product(
        self, states: str, name: str, matrix: NDArray[np.float32], lowest: float | None
    ) -> str:
        """Multiply integers; each row of the input has a scale of its own. Shape: (rows, out).

        So a token's result depends on no other token, and a token with outliers spoils no other's
        precision. Nothing is clipped.
        """
        matrix_name = name.removesuffix(".weight")
        use = f"{matrix_name}@{self._reads[matrix_name]}"
        self._reads[matrix_name] += 1
        if states not in self._quantized:  # query, key and value read the same input
            self._quantized[states] = (
                self._quantized_rows(states, lowest)
                if self._ranges is None
                else self._quantized_in(states, lowest, self._ranges[use])
            )
        numbers, scale, zero = self._quantized[states]
        stored, scales = f"{name}.int8", f"{name}.scale"
        if stored not in self.tensors:  # not yet stored by another layer with the same block
            self.tensors[stored], self.tensors[scales] = _integers(matrix, axis=0, largest=_LARGEST)
        product = self.node("MatMulInteger", numbers, stored, zero, self.constant(0, dtype=np.int8))
        if self._ranges is not None:
            both = self.store(f"{use}.scale", self.tensors[scales] * self.tensors[scale])
            columns = self.node("Mul", self._one(INPUTS[2], both), both)
            return self.node("Mul", self.node("Cast", product, to=FLOAT), columns)
        columns = self.node("Mul", self._one(scale, scales), scales)
        sums = self.node("Mul", self.node("Cast", product, to=FLOAT), columns)
        return self.node("Mul", sums, scale)

    def _quantized_rows(self, states: str, lowest: float | None) -> list[str]:
        """Return rows of integers from 0 to 255, the rows' scales, and the integer that means 0."""
        zero = _MIDDLE if lowest is None else _NEAR_ZERO * (lowest < 0)
        # The floor keeps the lowest number in the range, and the scale of a row of zeros above 0.
        floor = max(_TINY, -(lowest or 0) / max(zero, 1) * (255 - zero))
        distances = self.node("Abs", states) if lowest is None else states
        if self.opset >= 18:
            largest = self.node("ReduceMax", distances, self.constant([-1]), keepdims=1)
        else:
            largest = self.node("ReduceMax", distances, axes=[-1], keepdims=1)
        bounded = self.node("Max", largest, self.constant(floor, dtype=np.float32))
        scale = self.node("Mul", bounded, self.constant(1 / (255 - zero), dtype=np.float32))
        means_zero = self.constant(zero, dtype=np.uint8)
        each = self.node("Reshape", scale, self.constant([-1]))
        zeros = self.node("Expand", means_zero, self.node("Shape", each))
        numbers = self.node("QuantizeLinear", states, each, zeros, axis=0)
        return [numbers, scale, means_zero]

    def _quantized_in(self, states: str, lowest: float | None, largest: float) -> list[str]:
        """Return integers from 0 to 255 with one scale, the scale, and the integer for zero."""
        zero = _MIDDLE if lowest is None else _NEAR_ZERO * (lowest < 0)
        floor = max(_TINY, -(lowest or 0) / max(zero, 1) * (255 - zero))
        scale = self.constant(max(largest, floor) / (255 - zero), dtype=np.float32)
        means_zero = self.constant(zero, dtype=np.uint8)
        return [self.node("QuantizeLinear", states, scale, means_zero), scale, means_zero]

    def _one(self, numbers: str, use: str) -> str:
        """Return a 1 that is known only at run time, another one for each use of the same name.

        ONNX Runtime fuses a product with the scales of its columns if they are times a number that
        it cannot know before, and if no other product reads the outcome.

        Args:
            numbers: Positive numbers known only at run time, or the name of an input.
            use: A name.
        """
        self._uses[use] = self._uses.get(use, 0) + 1
        if len(self._ones) < self._uses[use]:
            if numbers in INPUTS:
                numbers = self.node("Cast", numbers, to=FLOAT)
            first = self.node("ReduceMax", numbers, keepdims=0)
            self._ones.append(self.node("Div", first, first))
        return self._ones[self._uses[use] - 1]

    def _table_integers(self, table: nn.Embedding) -> tuple[str, str]:
        """Store a table as integers; return these, and the rows' scales."""
        name = f"{self.names[table]}.weight"
        numbers, scales = _integers(numbers_of(table.weight), axis=1, largest=127)
        return self.store(f"{name}.int8", numbers), self.store(f"{name}.scale", scales)

    def matrices(self, name: str, numbers: NDArray[np.float32]) -> str:
        """Store stacked matrices; return their numbers in fp32. In int8 each row has its own scale.

        A runtime computes them once, when it opens the graph. Shape: (matrices, rows, columns).
        """
        if not self.int8:
            return self._parameter(name, numbers)
        integers, scales = _integers(numbers, axis=2, largest=127)
        stored, scale = self.store(f"{name}.int8", integers), self.store(f"{name}.scale", scales)
        return self.node("Mul", self.node("Cast", stored, to=FLOAT), scale)

    def _parameter(self, name: str, numbers: NDArray[np.float32]) -> str:
        """Store a parameter; return its numbers in fp32. In fp16, matrices are stored so.

        A runtime computes the conversion of what is stored once, when it opens the graph.
        """
        if not self._fp16 or numbers.ndim < 2:
            return self.store(name, numbers)
        if name not in self._restored:
            half = self.store(name, _halves(name, numbers))
            self._restored[name] = self.node("Cast", half, to=FLOAT)
        return self._restored[name]

    def store(self, name: str, array: NDArray[Any]) -> str:
        """Store an array unless one of that name is already stored."""
        self.tensors.setdefault(name, np.array(array, order="C"))
        return name

    def _add(
        self, kind: str, inputs: Sequence[str], outputs: list[str], attributes: dict[str, Any]
    ) -> list[str]:
        self.nodes.append((kind, list(inputs), outputs, attributes))
        return outputs


def numbers_of(tensor: Tensor) -> NDArray[np.float32]:
    """Return a tensor as a NumPy array in fp32."""
    result: NDArray[np.float32] = tensor.detach().float().cpu().numpy()
    return result


def _halves(name: str, numbers: NDArray[np.float32]) -> NDArray[np.float16]:
    """Round to fp16.

    Raises:
        CheckpointError: If a number is too large.
    """
    largest = np.abs(numbers).max(initial=0)
    if largest > np.finfo(np.float16).max:
        raise CheckpointError(
            f"{name}: expected numbers up to 65504, which fp16 can hold, found {largest:.6g}; "
            "export in fp32"
        )
    return numbers.astype(np.float16)


def _integers(
    numbers: NDArray[np.float32], *, axis: int, largest: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round to integers so that the largest along ``axis`` becomes ``largest``; return also scales.

    Shape of the scales: that of ``numbers`` with 1 in place of ``axis`` (for the columns of a
    matrix: without it).
    """
    scales = np.abs(numbers).max(axis=axis, keepdims=axis != 0) / np.float32(largest)
    scales = np.where(scales > 0, scales, np.float32(1))
    return np.rint(numbers / scales).astype(np.int8), scales.astype(np.float32)
