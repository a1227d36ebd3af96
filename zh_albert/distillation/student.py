"""A student's first weights, computed from its teacher's and from a few thousand tokens.

A student as wide as its teacher gets copies of chosen layers, or means of several. A narrower one
gets the same, seen through the directions in which the teacher's states vary most: each head's
query-key and value-output products at the student's rank, the feed-forward neurons that matter
most, and norms that restore each direction's mean and spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from zh_albert.distillation.width_reduction import (
    mean_weights,
    read_attention,
    read_feed_forward,
    reduced_attention,
    reduced_feed_forward,
)
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.layer_map import layer_map
from zh_albert.model.pretraining_heads import AlbertForPretraining

Layers = Literal["chosen", "averaged"]
_RIDGE = 1e-3
_ROW_STD = 0.1  # of word vectors: a norm follows, so only learning and logits feel it


class CalibrationBatch:
    """Some real text as the teacher reads it.

    Args:
        teacher: In float32.
        token_ids: Texts of one length, without padding. Shape: (texts, length).
    """

    def __init__(self, teacher: AlbertEncoder, token_ids: Tensor) -> None:
        self.token_ids = token_ids
        self.everything = torch.ones_like(token_ids, dtype=torch.bool)[:, None, None, :]
        """The mask of attention. Shape: (texts, 1, 1, length)."""
        self.attended: list[Tensor] = []
        """Inside each layer, after attention. Shape of each: (texts, length, hidden)."""
        with torch.no_grad():
            hidden = teacher.embeddings(token_ids, torch.zeros_like(token_ids))
            self.states = [hidden]
            """After the embeddings and each layer. Shape of each: (texts, length, hidden)."""
            for blocks in teacher.plan:
                between, _ = teacher.attention[blocks.attention](hidden, self.everything)
                hidden = teacher.ffn[blocks.ffn](between)
                self.attended.append(between)
                self.states.append(hidden)


def fitting(config: AlbertConfig, teacher: AlbertConfig) -> AlbertConfig:
    """Return a student's config with what it takes over: activation, norm, positions.

    Raises:
        ConfigError: If such a student cannot be made from that teacher.
    """
    for name in ("hidden_size", "intermediate_size", "embedding_size"):
        if (size := getattr(config, name)) > (theirs := getattr(teacher, name)):
            raise ConfigError(
                f"a student must not be wider than its teacher: {name} {size}, the teacher's "
                f"{theirs}; set encoder.{name}, or pretrain the student"
            )
    if config.num_hidden_layers > teacher.num_hidden_layers:
        raise ConfigError(
            f"a student must not be deeper than its teacher: {config.num_hidden_layers} layers, "
            f"the teacher has {teacher.num_hidden_layers}"
        )
    if config.num_attention_heads != teacher.num_attention_heads:
        raise ConfigError(
            f"a student needs as many heads as its teacher ({teacher.num_attention_heads}), got "
            f"{config.num_attention_heads}; set encoder.num_attention_heads"
        )
    if config.embedding_layout != "google" or config.norm_position != "post":
        raise ConfigError("a student needs the google layout and post-norm")
    if teacher.embedding_layout != "google" or teacher.norm_position != "post":
        raise ConfigError(
            f"a teacher needs the google layout and post-norm, this one has the "
            f"{teacher.embedding_layout} layout and {teacher.norm_position}-norm; take another"
        )
    return replace(
        config,
        hidden_act=teacher.hidden_act,
        layer_norm_eps=teacher.layer_norm_eps,
        max_position_embeddings=teacher.max_position_embeddings,
    )


def begin_student(
    teacher: AlbertEncoder,
    config: AlbertConfig,
    sample: CalibrationBatch,
    shares: Tensor,
    *,
    layers: Layers,
    top: int,
) -> AlbertForPretraining:
    """Make a student.

    Args:
        teacher: In float32, over the student's vocabulary.
        config: The student's, from ``fitting``.
        sample: Of the corpus.
        shares: Share of each token in the corpus, above 0. Shape: (vocab,).
        layers: A group of layers begins as the middle one of the teacher's layers it stands for,
            or as their mean.
        top: The last of the teacher's layers that is stood for.
    """
    student = AlbertForPretraining(config)
    encoder = student.encoder
    basis = _basis(sample.states, config.hidden_size)  # (teacher hidden, hidden)
    with torch.no_grad():
        _begin_embeddings(encoder, teacher, sample, shares, basis)
        for kind, begin in (("attention", _begin_attention), ("ffn", _begin_feed_forward)):
            for block in range(len(getattr(encoder, kind))):
                teacher_layers = _teacher_layers(encoder, kind, block, top)
                if layers == "chosen":
                    teacher_layers = [teacher_layers[(len(teacher_layers) - 1) // 2]]
                begin(encoder, teacher, sample, block, teacher_layers, basis)
        _fit_last_norms(encoder, sample, basis, top)
        student.masked_lm.bias.copy_(shares.log())
    return student


def fitted_projections(
    encoder: AlbertEncoder, sample: CalibrationBatch, pairs: Sequence[tuple[int, int]]
) -> list[nn.Module]:
    """Return the maps from a student's states to its teacher's that fit best on real text.

    Args:
        encoder: The student's.
        sample: As the teacher reads it.
        pairs: Layers of both that belong together, counted from 1.

    Returns:
        For each pair ``nn.Linear``; ``nn.Identity`` where widths are the same.
    """
    width, wanted = encoder.config.hidden_size, sample.states[0].shape[-1]
    if width == wanted:
        return [nn.Identity() for _ in pairs]
    types, mask = torch.zeros_like(sample.token_ids), torch.ones_like(sample.token_ids).bool()
    projections: list[nn.Module] = []
    with torch.no_grad():
        states = encoder(sample.token_ids, types, mask, return_states=True).states
        for layer, of_teacher in pairs:
            found, target = states[layer], sample.states[of_teacher]
            matrix, offset = _fitted(found.flatten(0, 1), target.flatten(0, 1))
            projection = nn.Linear(width, wanted)
            projection.weight.copy_(matrix)
            projection.bias.copy_(offset)
            projections.append(projection)
    return projections


def _teacher_layers(encoder: AlbertEncoder, kind: str, block: int, top: int) -> list[int]:
    """Return the teacher's layers, from 0, that a block of the student does the work of."""
    total = len(encoder.plan)
    run_by = [layer for layer, blocks in enumerate(encoder.plan) if getattr(blocks, kind) == block]
    first, last = run_by[0] * top // total, -(-(run_by[-1] + 1) * top // total)
    return list(range(first, max(last, first + 1)))


def _basis(states: Sequence[Tensor], width: int) -> Tensor:
    """Return the directions in which states vary most, as columns. Shape: (hidden, width).

    Each layer counts alike, whatever its scale. The columns are turned at random among
    themselves, so that all vary about alike, as a norm over them expects.
    """
    hidden = states[0].shape[-1]
    if width == hidden:
        return torch.eye(hidden)
    together = torch.zeros(hidden, hidden)
    for state in states:
        flat = state.flatten(0, 1)
        together += flat.T @ flat / flat.square().sum()  # the mean must be written, too
    turn = torch.randn(width, width, generator=torch.Generator().manual_seed(0))
    main = torch.linalg.eigh(together).eigenvectors[:, -width:]
    basis: Tensor = main @ torch.linalg.qr(turn).Q
    return basis


def _begin_embeddings(
    encoder: AlbertEncoder,
    teacher: AlbertEncoder,
    sample: CalibrationBatch,
    shares: Tensor,
    basis: Tensor,
) -> None:
    """Narrow tables from the principal directions of the teacher's embeddings.

    Tables add before a norm; so words are taken at an average position, positions as what they
    change on average, and the projection is fitted to what the teacher makes of real text.
    """
    theirs, ours = teacher.embeddings, encoder.embeddings
    width = encoder.config.embedding_size
    position = theirs.position.weight.mean(0)
    kind = theirs.token_type.weight[0]
    words = theirs.norm(theirs.word.weight + position + kind)
    weights = shares.sqrt()[:, None] / shares.sqrt().sum()
    middle = (words * weights).sum(0)
    spread = ((words - middle) * weights).T @ (words - middle)
    directions = torch.linalg.eigh(spread).eigenvectors[:, -width:]
    narrow = (words - middle) @ directions
    scale = _ROW_STD / narrow.square().mul(weights).sum().div(width).sqrt()
    ours.word.weight.copy_(narrow * scale)
    ours.word.weight[encoder.config.pad_token_id] = 0
    common = theirs.word.weight[shares.topk(min(500, len(shares))).indices]
    changes = [
        (theirs.norm(common + row + kind) - theirs.norm(common + position + kind)).mean(0)
        for row in theirs.position.weight
    ]
    ours.position.weight.copy_(torch.stack(changes) @ directions * scale)
    ours.token_type.weight.zero_()
    places = ours.position.weight[: sample.token_ids.shape[1]]
    read = ours.norm(ours.word.weight[sample.token_ids] + places)
    matrix, offset = _fitted(read.flatten(0, 1), (sample.states[0] @ basis).flatten(0, 1))
    ours.projection.weight.copy_(matrix)
    ours.projection.bias.copy_(offset)


def _fitted(inputs: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return the best linear map and offset. Shape: (outputs, inputs) and (outputs,)."""
    mean_in, mean_out = inputs.mean(0), wanted.mean(0)
    centred = inputs - mean_in
    gram = centred.T @ centred
    ridge = _RIDGE * gram.diagonal().mean() * torch.eye(len(gram))
    matrix = torch.linalg.solve(gram + ridge, centred.T @ (wanted - mean_out)).T
    return matrix, mean_out - matrix @ mean_in


def _begin_attention(
    encoder: AlbertEncoder,
    teacher: AlbertEncoder,
    sample: CalibrationBatch,
    block: int,
    teacher_layers: Sequence[int],
    basis: Tensor,
) -> None:
    ours = encoder.attention[block]
    assert isinstance(ours, AttentionBlock)
    wide = mean_weights(
        [read_attention(teacher.attention[teacher.plan[n].attention]) for n in teacher_layers]
    )
    narrow = wide
    if basis.shape[0] > basis.shape[1]:
        heads = encoder.config.num_attention_heads
        width = encoder.config.hidden_size // heads
        narrow = reduced_attention(wide, basis, heads=heads, head_width=width)
    for linear, (matrix, bias) in zip(
        (ours.query, ours.key, ours.value, ours.dense), narrow.linears(), strict=True
    ):
        linear.weight.copy_(matrix)
        linear.bias.copy_(bias)
    if narrow is wide:
        ours.norm.weight.copy_(wide.gain)
        ours.norm.bias.copy_(wide.offset)
        return
    pairs = [
        (ours(sample.states[n] @ basis, sample.everything)[0], sample.attended[n] @ basis)
        for n in teacher_layers
    ]
    _fit_norm(ours.norm, pairs)


def _begin_feed_forward(
    encoder: AlbertEncoder,
    teacher: AlbertEncoder,
    sample: CalibrationBatch,
    block: int,
    teacher_layers: Sequence[int],
    basis: Tensor,
) -> None:
    ours = encoder.ffn[block]
    assert isinstance(ours, FeedForwardBlock)
    weights = mean_weights(
        [read_feed_forward(teacher.ffn[teacher.plan[n].ffn]) for n in teacher_layers]
    )
    neurons = encoder.config.intermediate_size
    if basis.shape[0] > basis.shape[1] or neurons < len(weights.up):
        inputs = sample.attended[teacher_layers[len(teacher_layers) // 2]].flatten(0, 1)
        weights = reduced_feed_forward(weights, basis, inputs, ours.activation, neurons=neurons)
    for linear, (matrix, bias) in zip((ours.up, ours.down), weights.linears(), strict=True):
        linear.weight.copy_(matrix)
        linear.bias.copy_(bias)


def _fit_last_norms(
    encoder: AlbertEncoder, sample: CalibrationBatch, basis: Tensor, top: int
) -> None:
    """Fit the norm that ends each layer to the state that the layer should reach.

    Each of the student's layers is given what its teacher has below it, so a block that several
    layers share is fitted to all of them.
    """
    reached = [0, *(theirs for _, theirs in layer_map(len(encoder.plan), top))]
    for number, block in enumerate(encoder.ffn):
        pairs = []
        for layer, blocks in enumerate(encoder.plan):
            if blocks.ffn != number:
                continue
            below = sample.states[reached[layer]] @ basis
            between, _ = encoder.attention[blocks.attention](below, sample.everything)
            pairs.append((block(between), sample.states[reached[layer + 1]] @ basis))
        _fit_norm(block.norm, pairs)  # type: ignore[arg-type]


def _fit_norm(norm: nn.LayerNorm, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Fit gain and offset, each dimension by itself, so that outputs come near what is wanted.

    Args:
        norm: As it is freshly made, gain 1 and offset 0.
        pairs: Its outputs so far, and what is wanted. Shape of each: (texts, length, hidden).
    """
    found = torch.cat([output.flatten(0, 1) for output, _ in pairs])
    wanted = torch.cat([target.flatten(0, 1) for _, target in pairs])
    middle = found.mean(0)
    gain = ((found - middle) * wanted).mean(0) / (found - middle).square().mean(0).clamp(min=1e-6)
    norm.weight.copy_(gain)
    norm.bias.copy_(wanted.mean(0) - gain * middle)
