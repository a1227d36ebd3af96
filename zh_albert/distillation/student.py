"""Initialization of a student from its teacher's weights and a few thousand tokens of text.

A student as wide as its teacher gets copies of selected layers, or averages of several. A narrower
one gets the same after width reduction: projected onto the directions in which the teacher's states
vary most. Each head's query-key and value-output products are cut to the student's rank, the most
important feed-forward neurons are kept, and norms restore each direction's mean and spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.distillation.width_reduction import (
    average,
    mean_weights,
    read_attention,
    read_feed_forward,
    reduced_attention,
    reduced_feed_forward,
    write_linears,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig, is_pruned
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.fitted_norm import fit_norm
from zh_albert.model.layer_map import layer_map
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.sharing import head_size_of

LayerInit = Literal["chosen", "averaged"]
_RIDGE = 1e-3
_ROW_STD = 0.1  # of word vectors; a norm follows, so it affects only gradients and logits


class CalibrationBatch:
    """A sample of the corpus with the hidden states that the teacher computes for it.

    Args:
        teacher: In float32.
        token_ids: Texts of equal length, without padding. Shape: (texts, length).
    """

    def __init__(self, teacher: AlbertEncoder, token_ids: Tensor) -> None:
        self.token_ids = token_ids
        self.mask = torch.ones_like(token_ids, dtype=torch.bool)[:, None, None, :]
        """Attention mask, all True. Shape: (texts, 1, 1, length)."""
        self.attended: list[Tensor] = []
        """Output of each layer's attention block. Shape of each: (texts, length, hidden)."""
        with torch.no_grad():
            hidden = teacher.embeddings(token_ids, torch.zeros_like(token_ids))
            self.states = [hidden]
            """Output of the embeddings and each layer. Shape of each: (texts, length, hidden)."""
            for blocks in teacher.plan:
                between, _ = teacher.attention[blocks.attention](hidden, self.mask)
                hidden = teacher.ffn[blocks.ffn](between)
                self.attended.append(between)
                self.states.append(hidden)


def refuse_larger(config: AlbertConfig, teacher: AlbertConfig) -> None:
    """Check that a student is neither wider nor deeper than its teacher.

    Raises:
        ConfigError: If it is.
    """
    for name in ("hidden_size", "intermediate_size", "embedding_size"):
        if (size := getattr(config, name)) > (theirs := getattr(teacher, name)):
            raise ConfigError(
                f"a student must not be wider than its teacher: {name} {size}, the teacher's "
                f"{theirs}; set encoder.{name}, or pretrain the student instead"
            )
    if config.num_hidden_layers > teacher.num_hidden_layers:
        raise ConfigError(
            f"a student must not be deeper than its teacher: {config.num_hidden_layers} layers, "
            f"the teacher has {teacher.num_hidden_layers}"
        )


def student_config(config: AlbertConfig, teacher: AlbertConfig) -> AlbertConfig:
    """Return a student's config with its teacher's activation, norm epsilon and positions.

    Raises:
        ConfigError: If such a student cannot be initialized from that teacher.
    """
    refuse_larger(config, teacher)
    if config.num_attention_heads != teacher.num_attention_heads:
        raise ConfigError(
            f"a student needs as many heads as its teacher ({teacher.num_attention_heads}), got "
            f"{config.num_attention_heads}; set encoder.num_attention_heads"
        )
    refuse_lstm(teacher, "a teacher of layers")
    if any(one.plan or is_pruned(one) for one in (config, teacher)):
        raise ConfigError(
            "a student initialized from its teacher needs blocks of one size, as the teacher does; "
            "pruned encoders and plans cannot be taken"
        )
    for who, one in (("student", config), ("teacher", teacher)):
        if one.embedding_layout != "google" or one.norm_position != "post":
            raise ConfigError(
                f"a {who} needs the google layout and post-norm, this one has the "
                f"{one.embedding_layout} layout and {one.norm_position}-norm; take another"
            )
    return replace(
        config,
        hidden_act=teacher.hidden_act,
        layer_norm_eps=teacher.layer_norm_eps,
        max_position_embeddings=teacher.max_position_embeddings,
    )


def initialize_student(
    teacher: AlbertEncoder,
    config: AlbertConfig,
    calibration: CalibrationBatch,
    frequencies: Tensor,
    *,
    layers: LayerInit,
    top: int,
) -> AlbertForPretraining:
    """Return a student initialized from its teacher.

    Args:
        teacher: In float32, over the student's vocabulary.
        config: The student's, from ``student_config``.
        calibration: Sample of the corpus.
        frequencies: Relative frequency of each token in the corpus, above 0. Shape: (vocab,).
        layers: Whether a block is initialized from the middle one of the teacher's layers that it
            replaces, or from their average.
        top: The teacher's last layer that is replaced.
    """
    student = AlbertForPretraining(config)
    encoder = student.encoder
    basis = _basis(calibration.states, config.hidden_size)  # (teacher hidden, hidden)
    init = _Initialization(encoder, teacher, calibration, basis)
    with torch.no_grad():
        init.embeddings(frequencies)
        for kind, init_block in (("attention", init.attention), ("ffn", init.feed_forward)):
            for block in range(len(getattr(encoder, kind))):
                teacher_layers = _teacher_layers(encoder, kind, block, top)
                if layers == "chosen":
                    teacher_layers = [teacher_layers[(len(teacher_layers) - 1) // 2]]
                init_block(block, teacher_layers)
        init.last_norms(top)
        student.masked_lm.bias.copy_(frequencies.log())
    return student


def narrow_embeddings(
    narrow: AlbertEncoder,
    wide: AlbertEncoder,
    calibration: CalibrationBatch,
    frequencies: Tensor,
) -> None:
    """Fill the embeddings of an encoder from wider ones, for the same hidden size; in place.

    Args:
        narrow: In google's layout, as ``wide``.
        wide: In float32.
        calibration: Texts with the states of ``wide``.
        frequencies: See ``initialize_student``.
    """
    basis = torch.eye(wide.config.hidden_size)
    with torch.no_grad():
        _Initialization(narrow, wide, calibration, basis).embeddings(frequencies)


def fitted_projections(
    encoder: AlbertEncoder, calibration: CalibrationBatch, pairs: Sequence[tuple[int, int]]
) -> list[nn.Module]:
    """Return the least-squares projections from a student's states to its teacher's, for each pair.

    Args:
        encoder: The student's.
        calibration: Text with the teacher's states.
        pairs: Matched layers of student and teacher, counted from 1.
    """
    token_ids, teacher_width = calibration.token_ids, calibration.states[0].shape[-1]
    width = encoder.config.hidden_size
    types, mask = torch.zeros_like(token_ids), torch.ones_like(token_ids).bool()
    projections: list[nn.Module] = []
    with torch.no_grad():
        states = encoder(token_ids, types, mask, return_states=True).states
        for layer, teacher_layer in pairs:
            projection = nn.Linear(width, teacher_width)
            _fit_linear(projection, states[layer], calibration.states[teacher_layer])
            projections.append(projection)
    return projections


def _teacher_layers(encoder: AlbertEncoder, kind: str, block: int, top: int) -> list[int]:
    """Return the teacher's layers, from 0, that a block of the student replaces."""
    total = len(encoder.plan)
    run_by = [layer for layer, blocks in enumerate(encoder.plan) if getattr(blocks, kind) == block]
    first, last = run_by[0] * top // total, -(-(run_by[-1] + 1) * top // total)
    return list(range(first, max(last, first + 1)))


def _basis(states: Sequence[Tensor], width: int) -> Tensor:
    """Return the principal directions of states, as columns. Shape: (hidden, width).

    Every layer has equal weight, whatever its scale. The columns are rotated at random, so that
    all have about the same variance, as the norm that follows expects.
    """
    hidden = states[0].shape[-1]
    if width == hidden:
        return torch.eye(hidden)
    together = torch.zeros(hidden, hidden)
    for state in states:
        flat = state.flatten(0, 1)
        together += flat.T @ flat / flat.square().sum()  # not centred: the mean is kept, too
    turn = torch.randn(width, width, generator=torch.Generator().manual_seed(0))
    main = torch.linalg.eigh(together).eigenvectors[:, -width:]
    basis: Tensor = main @ torch.linalg.qr(turn).Q
    return basis


class _Initialization(NamedTuple):
    """The initialization of one student's encoder, part by part."""

    student: AlbertEncoder
    teacher: AlbertEncoder
    calibration: CalibrationBatch
    basis: Tensor
    """Directions that the student keeps. Shape: (teacher hidden, hidden)."""

    def embeddings(self, frequencies: Tensor) -> None:
        """Fill the embedding tables from the principal directions of the teacher's embeddings.

        The tables are summed before a norm. So words are taken at the average position, positions
        and types as the change that they cause on average, and the projection is fitted to the
        teacher's embeddings of real text.
        """
        theirs, ours = self.teacher.embeddings, self.student.embeddings
        width = self.student.config.embedding_size
        position = theirs.position.weight.mean(0)
        kind = theirs.token_type.weight[0]
        words = theirs.norm(theirs.word.weight + position + kind)
        weights = frequencies.sqrt()[:, None] / frequencies.sqrt().sum()
        middle = (words * weights).sum(0)
        spread = ((words - middle) * weights).T @ (words - middle)
        common = theirs.word.weight[frequencies.topk(min(500, len(frequencies))).indices]
        usual = theirs.norm(common + position + kind)
        places, kinds = (
            torch.stack([(theirs.norm(common + row + other) - usual).mean(0) for row in rows])
            for rows, other in (
                (theirs.position.weight, kind),
                (theirs.token_type.weight, position),
            )
        )
        # Half of a pair's tokens are of the second type: it is a direction to keep, like a word.
        spread += kinds.T @ kinds / 4
        directions = torch.linalg.eigh(spread).eigenvectors[:, -width:]
        narrow = (words - middle) @ directions
        scale = _ROW_STD / narrow.square().mul(weights).sum().div(width).sqrt()
        ours.word.weight.copy_(narrow * scale)
        ours.word.weight[self.student.config.pad_token_id] = 0
        ours.position.weight.copy_(places @ directions * scale)
        ours.token_type.weight.copy_(kinds @ directions * scale)
        token_ids = self.calibration.token_ids
        types = _as_pairs(token_ids, len(kinds))
        places = ours.position.weight[: token_ids.shape[1]]
        embedded = ours.norm(ours.word.weight[token_ids] + places + ours.token_type.weight[types])
        _fit_linear(ours.projection, embedded, theirs(token_ids, types) @ self.basis)

    def attention(self, block: int, teacher_layers: Sequence[int]) -> None:
        """Fill an attention block from the teacher's layers."""
        student, teacher, calibration, basis = self
        ours: Any = student.attention[block]
        theirs = [teacher.attention[teacher.plan[n].attention] for n in teacher_layers]
        if basis.shape[0] == basis.shape[1]:
            average(ours, theirs)
            return
        wide, sizes = mean_weights([*map(read_attention, theirs)]), student.config
        narrow = reduced_attention(
            wide, basis, heads=sizes.num_attention_heads, head_size=head_size_of(sizes)
        )
        write_linears(ours, narrow)
        pairs = []
        for n in teacher_layers:
            attended, _ = ours(calibration.states[n] @ basis, calibration.mask)
            pairs.append((attended, calibration.attended[n] @ basis))
        _fit_norm(ours.norm, pairs)

    def feed_forward(self, block: int, teacher_layers: Sequence[int]) -> None:
        """Fill a feed-forward block from the teacher's layers."""
        student, teacher, calibration, basis = self
        ours: Any = student.ffn[block]
        weights = mean_weights(
            [read_feed_forward(teacher.ffn[teacher.plan[n].ffn]) for n in teacher_layers]
        )
        neurons = student.config.intermediate_size
        if basis.shape[0] > basis.shape[1] or neurons < len(weights.up):
            inputs = calibration.attended[teacher_layers[len(teacher_layers) // 2]].flatten(0, 1)
            weights = reduced_feed_forward(weights, basis, inputs, ours.activation, neurons=neurons)
        write_linears(ours, weights)

    def last_norms(self, top: int) -> None:
        """Fit the last norm of each layer to the teacher's state that the layer should reach.

        Each layer of the student receives the teacher's state below it. A block that several layers
        share is fitted to all of them.
        """
        student, _, calibration, basis = self
        reached = [0, *(theirs for _, theirs in layer_map(len(student.plan), top))]
        for number, block in enumerate(student.ffn):
            pairs = []
            for layer, blocks in enumerate(student.plan):
                if blocks.ffn != number:
                    continue
                below = calibration.states[reached[layer]] @ basis
                between, _ = student.attention[blocks.attention](below, calibration.mask)
                pairs.append((block(between), calibration.states[reached[layer + 1]] @ basis))
            _fit_norm(block.norm, pairs)  # type: ignore[arg-type]


def _as_pairs(token_ids: Tensor, kinds: int) -> Tensor:
    """Return types of tokens as of pairs, in every second text. Shape in and out: (texts, length).

    The second half of such a text is of the last type.
    """
    types = torch.zeros_like(token_ids)
    types[::2, token_ids.shape[1] // 2 :] = kinds - 1
    return types


def _fit_linear(linear: nn.Linear, inputs: Tensor, target: Tensor) -> None:
    """Fit weights and bias by ridge regression. Shape of both: (texts, length, width)."""
    inputs, target = inputs.flatten(0, 1), target.flatten(0, 1)
    mean_in, mean_out = inputs.mean(0), target.mean(0)
    centred = inputs - mean_in
    gram = centred.T @ centred
    ridge = _RIDGE * gram.diagonal().mean() * torch.eye(len(gram))
    matrix = torch.linalg.solve(gram + ridge, centred.T @ (target - mean_out)).T
    linear.weight.copy_(matrix)
    linear.bias.copy_(mean_out - matrix @ mean_in)


def _fit_norm(norm: nn.LayerNorm, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Fit a freshly made norm to several pairs of its outputs and their targets; see ``fit_norm``.

    Args:
        norm: With gain 1 and offset 0.
        pairs: Shape of each: (texts, length, hidden).
    """
    outputs = torch.cat([output.flatten(0, 1) for output, _ in pairs])
    fit_norm(norm, outputs, torch.cat([target.flatten(0, 1) for _, target in pairs]))
