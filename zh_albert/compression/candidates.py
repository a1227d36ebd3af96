"""Smaller networks that a model could become: shapes, size of their files, arithmetic, recipes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zh_albert.checkpoints.int8_weights import to_int8
from zh_albert.checkpoints.stored_model import named_tensors
from zh_albert.compression.recipe import CutConfig, PruneConfig, Recipe, Stage, StoreConfig
from zh_albert.compression.record import LENGTH
from zh_albert.compression.surgery import kept_layers
from zh_albert.configio import merged
from zh_albert.model import sharing
from zh_albert.model.config import AlbertConfig
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.model.rounding import is_rounded
from zh_albert.model.size import macs_per_token
from zh_albert.tasks.task import Task

_SHARES = ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (0.5, 0.5), (0.5, 0.25))  # of heads, of neurons
_BITS: dict[int, int | None] = {8: None, 6: None, 5: None, 4: None, 3: 32}  # bits: their groups
_TRAINED_BITS = 5  # from here on, rounding after training costs points
_TABLE = "embeddings.word.weight"
_SAMPLE = 1 << 18  # numbers of a matrix that are deflated to learn how small they become
_NAMING = 96  # bytes for each tensor in the header of a file
# Points of accuracy that halving costs, and rounding: docs/experiments/compression.md, TNEWS.
_HALVING = {"layers": 1.6, "heads": 0.2, "neurons": 0.2, "blocks": 4.0, "words": 4.0}
_ROUNDING = {8: 0.0, 6: 0.0, 5: 0.0, 4: 0.1, 3: 0.2}
_WITH_TEACHER = ("teacher", "match", "match_only", "booster", "replace")  # a teacher's settings
_TRAIN: dict[str, Any] = {"epochs": 2, "peak_lr": 2e-4, "batch_tokens": 2048}
_TEACHER = {"weight": 0.7, "temperature": 2.0}
TAUGHT: dict[str, Any] = {
    "teacher": _TEACHER,
    "match": [{"what": "states", "weight": 1.0}],
    "train": _TRAIN,
}
"""Settings of a training after a cut, under those of the command."""
ROUNDED: dict[str, Any] = {
    "teacher": _TEACHER,
    "quantize": {"bits": _TRAINED_BITS},
    "train": {**_TRAIN, "epochs": 1, "peak_lr": 1e-4},
}
"""Likewise of one with rounded weights."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What stays of a network; every block keeps the same shares.

    Attributes:
        layers: Number of layers, evenly spaced.
        heads: Share of the attention heads.
        neurons: Share of the feed-forward neurons.
        blocks: Blocks that the layers share.
        words: Width of the word table.
    """

    layers: int
    heads: float
    neurons: float
    blocks: int
    words: int


@dataclass(frozen=True, kw_only=True)
class Candidate(Shape):
    """A smaller network and how it is stored.

    Attributes:
        bits: Of a stored weight.
        bytes: Estimated size of the model folder.
        parameters: Their number.
        macs: Multiplications for a token of a text of 32.
        ms: For one text, with random weights; None: not measured.
    """

    bits: int
    bytes: int
    parameters: int
    macs: int
    ms: float | None = None

    @property
    def name(self) -> str:
        """Of its folder, and in tables."""
        shares = f"{self.heads:.0%}-heads-{self.neurons:.0%}-neurons".replace("%", "")
        return (
            f"{self.layers}-layers-{shares}-{self.blocks}-blocks-{self.words}-wide-{self.bits}-bits"
        )

    @property
    def group(self) -> int | None:
        """Weights of a row that share a scale; None: all."""
        return _BITS[self.bits]

    def expected_loss(self, whole: Candidate) -> float:
        """Return roughly how many points it loses against the whole model; for an order only."""
        unmerged = {**vars(whole), "blocks": min(whole.blocks, self.layers)}
        halvings = {name: math.log2(unmerged[name] / getattr(self, name)) for name in _HALVING}
        return sum(_HALVING[name] * n for name, n in halvings.items()) + _ROUNDING[self.bits]


def candidates(
    task: Task, model: Any, settings: Mapping[str, Any], *, besides: int
) -> list[Candidate]:
    """Return the networks that a model can be cut and pruned to, the whole one first.

    Args:
        task: Of the model.
        model: The whole model, opened.
        settings: The task's part of its ``config.json``.
        besides: Bytes of the folder besides the weights.

    Raises:
        ConfigError: If its layers are LSTMs, which cannot be cut or pruned.
    """
    refuse_lstm(model.config, "a budget")
    rates = {bits: _Rates(model.module, bits, group) for bits, group in _BITS.items()}
    found = []
    # Layers that share blocks add no tensors, so many shapes have the same.
    known: dict[Any, tuple[int, dict[int, int]]] = {}
    for shape in shapes(model.config):
        config = shaped(model.config, shape)
        key = sharing.heads_of(config), sharing.neurons_of(config), shape.words
        if key not in known:
            with torch.device("meta"):
                network = task.model.network(config, settings)
            tensors = named_tensors(network)
            count = sum(parameter.numel() for parameter in network.parameters())
            known[key] = count, {bits: rate.size(tensors) for bits, rate in rates.items()}
        parameters, sizes = known[key]
        macs = macs_per_token(config, LENGTH)
        found += [
            Candidate(
                **vars(shape), bits=bits, bytes=besides + size, parameters=parameters, macs=macs
            )
            for bits, size in sizes.items()
        ]
    return found


def shapes(config: AlbertConfig) -> Iterator[Shape]:
    """Yield the shapes that a network can be given, the one it has first."""
    total = config.num_hidden_layers
    most = (
        [total * part // 12 for part in (12, 9, 8, 6, 4, 3)] if total > 6 else range(total, 0, -1)
    )
    width = config.embedding_size
    widths = [width]
    if config.embedding_layout == "google":
        widths += [size for size in (width * 3 // 4, width // 2) if size >= 8]
    for layers in dict.fromkeys(number for number in most if number):
        left = _left(config, layers)
        own = len(dict.fromkeys(sharing.plan_of(left)))
        grouped = [own, -(-own // 2), 1] if _groupable(left) else [own]
        for (heads, neurons), blocks, words in itertools.product(
            _SHARES, dict.fromkeys(grouped), widths
        ):
            if heads == 1 or min(sharing.heads_of(left)) > 1:
                yield Shape(layers=layers, heads=heads, neurons=neurons, blocks=blocks, words=words)


def shaped(config: AlbertConfig, shape: Shape) -> AlbertConfig:
    """Return the sizes of a network of that shape."""
    left, blocks = _left(config, shape.layers), shape.blocks
    own = [*dict.fromkeys(sharing.plan_of(left))]
    if blocks < len(own):  # which of them become one makes no difference to sizes
        merged_to = {pair: number * blocks // len(own) for number, pair in enumerate(own)}
        plan = tuple((merged_to[pair],) * 2 for pair in sharing.plan_of(left))
        left = replace(
            left,
            plan=plan,
            block_heads=left.block_heads[:blocks],
            block_neurons=left.block_neurons[:blocks],
        )
    if shape.heads < 1:
        kept = tuple(max(1, round(shape.heads * count)) for count in sharing.heads_of(left))
        left = replace(left, head_size=sharing.head_size_of(left), block_heads=kept)
    if shape.neurons < 1:
        kept = tuple(max(1, round(shape.neurons * count)) for count in sharing.neurons_of(left))
        left = replace(left, block_neurons=kept)
    return replace(left, embedding_size=shape.words)


def _left(config: AlbertConfig, layers: int) -> AlbertConfig:
    kept = kept_layers(layers, "even", config.num_hidden_layers)
    return sharing.config_of_layers(config, [layer - 1 for layer in kept])


def _groupable(config: AlbertConfig) -> bool:
    """Whether blocks may become one: attention goes with feed-forward, all in one size."""
    pairs = dict.fromkeys(sharing.plan_of(config))
    return (
        all(pair.attention == pair.ffn for pair in pairs)
        and len({*sharing.heads_of(config)}) == 1
        and len({*sharing.neurons_of(config)}) == 1
    )


class _Rates:
    """How many bytes the numbers of a trained model take in a file, at a number of bits."""

    def __init__(self, network: nn.Module, bits: int, group: int | None) -> None:
        self._bits, self._group = bits, group
        counts, sizes = {True: 0, False: 0}, {True: 0, False: 0}
        for name, tensor in named_tensors(network).items():
            if tensor.dim() == 2 and is_rounded(name):
                rows = max(1, tensor.shape[0] * tensor.shape[1] // _SAMPLE)
                sample = tensor.detach()[::rows]
                stored = to_int8({name: sample}, bits=bits, group=group)
                counts[name.endswith(_TABLE)] += sample.numel()
                sizes[name.endswith(_TABLE)] += stored[name].numel()
        self._per_number = {table: sizes[table] / max(1, counts[table]) for table in counts}

    def size(self, tensors: Mapping[str, Tensor]) -> int:
        """Return the bytes of a file with tensors of these names and shapes."""
        total = 0.0
        for name, tensor in tensors.items():
            total += _NAMING
            if tensor.dim() < 2:
                total += 4 * tensor.numel()
            elif not is_rounded(name):
                total += 2 * tensor.numel()
            else:
                rows, columns = tensor.shape
                scales = math.ceil(columns / self._group) if self._group else 1
                of_scale = 4 if self._bits == 8 and self._group is None else 2
                total += tensor.numel() * self._per_number[name.endswith(_TABLE)]
                total += rows * scales * of_scale + _NAMING
        return math.ceil(total)


def best_by_capacity(fitting: Sequence[Candidate], whole: Candidate, most: int) -> list[Candidate]:
    """Return what is worth training: of the candidates that no other one has all of, the best few.

    One has all of another if it has at least its layers, heads, neurons, blocks, width and bits.

    Args:
        fitting: Those within the budget.
        whole: The whole model, for the order.
        most: How many are returned.
    """
    sizes = np.array([[getattr(one, name) for name in (*_HALVING, "bits")] for one in fitting])
    having_all = (sizes[:, None] >= sizes).all(-1).sum(0)  # of each, it among them
    front = [one for one, count in zip(fitting, having_all, strict=True) if count == 1]
    return sorted(front, key=lambda one: one.expected_loss(whole))[:most]


def recipe_for(
    candidate: Candidate, config: AlbertConfig, settings: Mapping[str, Any], *, plain: bool = False
) -> Recipe:
    """Return the stages that make a candidate: cut, taught, pruned, taught, rounded, stored.

    Args:
        candidate: What is to come out.
        config: Of the whole model.
        settings: Over those of every training.
        plain: Without a teacher: the same student and updates, plainly fine-tuned.
    """

    def tuned(taught: Mapping[str, Any]) -> dict[str, Any]:
        values = merged(taught, settings)
        return {k: v for k, v in values.items() if not plain or k not in _WITH_TEACHER}

    own = len(dict.fromkeys(sharing.plan_of(_left(config, candidate.layers))))
    cut: dict[str, Any] = {
        "layers": candidate.layers if candidate.layers < config.num_hidden_layers else None,
        "groups": candidate.blocks if candidate.blocks < own else None,
        "embedding_size": candidate.words if candidate.words < config.embedding_size else None,
    }
    stages = []
    if any(cut.values()):
        stages.append(Stage(name="student", cut=CutConfig(**cut)))
        stages.append(Stage(name="teach", tune=tuned(TAUGHT)))
    if candidate.heads < 1 or candidate.neurons < 1:
        removed = PruneConfig(heads=candidate.heads, neurons=candidate.neurons)
        stages.append(Stage(name="remove", prune=removed))
        stages.append(Stage(name="learn", tune=tuned(TAUGHT)))
    if candidate.bits <= _TRAINED_BITS:
        rounding = {"bits": candidate.bits, "group": candidate.group}
        stages.append(Stage(name="round", tune=tuned({**ROUNDED, "quantize": rounding})))
    stored = StoreConfig(bits=candidate.bits, group=candidate.group)
    return Recipe(
        name="plan",
        title="Made to a budget" + ", plainly fine-tuned" * plain,
        family="pipeline",
        source="zh-albert compress plan",
        stages=(*stages, Stage(name="file", store=stored)),
    )
