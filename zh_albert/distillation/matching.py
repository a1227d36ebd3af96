"""Matching of a teacher's insides, term by term, beside whatever loss a job has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.distillation.comparison import (
    PARTS,
    compared_attention,
    compared_vectors,
    parts_of,
    vectors_of,
)
from zh_albert.distillation.losses import divergence
from zh_albert.distillation.match_terms import VECTORS, MatchTerm, layer_pairs
from zh_albert.distillation.observation import Observed, observing
from zh_albert.distillation.shared_projections import SharedProjections
from zh_albert.distillation.soft_targets import refuse_other_tokens
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.encoder import AlbertEncoder, encoder_of
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.loop import UNITS, LossOutput, Objective
from zh_albert.training.method import Beside, Method

ObservedTeacher = Callable[[Mapping[str, Tensor]], Observed]
"""Reads a student's batch and computes what is matched; never trained and never saved."""


class Matching(Method):
    """The losses of match terms, added to an objective's.

    Args:
        terms: What is matched.
        student: An encoder, or a network with an ``encoder`` and a ``masked_lm``.
        teacher: Computes what the terms read.
        teacher_layers: Number of its layers.
        teacher_width: Its hidden size.
        only: The terms are the whole loss; the objective is computed but not counted.
        projections: Initial projections by the names of ``projection_name``; those missing are
            drawn at random, but for those of ``weight_projections``, which have to be given.

    Raises:
        ConfigError: If terms do not fit the layers.
    """

    adds_to_loss = True

    def __init__(
        self,
        terms: Sequence[MatchTerm],
        student: Any,
        teacher: ObservedTeacher,
        *,
        teacher_layers: int,
        teacher_width: int,
        only: bool = False,
        projections: Mapping[str, nn.Module] | None = None,
    ) -> None:
        self._student, self._teacher, self._only = student, teacher, only
        self.leaves_unused = only
        encoder = encoder_of(student)
        own_layers = encoder.config.num_hidden_layers
        self._pairs = [(term, term.pairs(own_layers, teacher_layers)) for term in terms]
        for term in terms:
            if PARTS.get(term.what) == "queries":
                refuse_lstm(encoder.config, f"match.what = {term.what!r}")
        self._parts = parts_of(terms)
        self._progress = 0.0
        width = encoder.config.hidden_size
        self._projections: dict[str, nn.Module] = dict(projections or {})
        for number, (term, pairs) in enumerate(self._pairs):
            if term.what in VECTORS and (term.projection or width != teacher_width):
                for own, _ in pairs:
                    name = projection_name(number, own)
                    if name not in self._projections:
                        self._projections[name] = nn.Linear(width, teacher_width)

    def around(self, network: nn.Module) -> nn.Module:
        """Return the network with the projections, if there are any."""
        if not self._projections:
            return network
        return Beside(network, projections=nn.ModuleDict(self._projections))

    def on_update(self, update: int, total: int) -> None:
        """See ``Method``: weights change with time."""
        self._progress = update / max(total - 1, 1)

    def objective(self, objective: Objective) -> Objective:
        """Return the objective with the terms' losses; each is in the log by its name."""

        def with_terms(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
            with observing(self._student, self._parts) as ours:
                loss, measured = objective(module, inputs)
            with torch.no_grad():
                theirs = self._teacher(inputs) if self._parts else Observed()
            units, told = inputs[UNITS], dict(measured)
            total = loss.new_zeros(()) if self._only else loss
            for number, (term, pairs) in enumerate(self._pairs):
                found = torch.stack(
                    [self._distance(number, term, pair, ours, theirs, inputs) for pair in pairs]
                )
                total = total + units * term.weight_at(self._progress) * found.mean()
                same = [other for other, _ in self._pairs[:number] if other.what == term.what]
                name = f"{term.what}_{len(same) + 1}" if same else term.what
                told[name] = found.detach().mean() * units, None
                if len(pairs) > 1:
                    told[f"{name}_top"] = found.detach()[-1] * units, None
            return LossOutput(total, told)

        return with_terms

    def _distance(
        self,
        number: int,
        term: MatchTerm,
        layers: tuple[int, int],
        ours: Observed,
        theirs: Observed,
        inputs: Mapping[str, Tensor],
    ) -> Tensor:
        """Return how far the student is from the teacher by one term and one pair of layers."""
        mask = inputs["mask"]
        if term.what == "weights":
            distance: Tensor = self._projections[projection_name(number, 0)]()
            return distance
        if term.what == "masked_lm":
            assert ours.masked is not None
            assert theirs.masked is not None
            return divergence(ours.masked.float(), theirs.masked.float(), term.temperature).mean()
        if term.what not in VECTORS:
            return compared_attention(term, ours, theirs, layers, mask)
        own, other = layers
        vectors = vectors_of(term, ours, own, mask)
        if (name := projection_name(number, own)) in self._projections:
            vectors = self._projections[name](vectors)
        wanted = vectors_of(term, theirs, other, mask)
        there = mask if wanted.shape[1] == mask.shape[1] else torch.ones_like(mask[:, :1])
        assert term.loss is not None
        return compared_vectors(term.loss, vectors, wanted, there)


def projection_name(term: int, layer: int) -> str:
    """Return the name of the projection of a term, counted from 0, for a student's layer."""
    return f"{term}_{layer}"


def weight_projections(
    terms: Sequence[MatchTerm], student: AlbertEncoder, teacher: AlbertEncoder, top: int
) -> dict[str, nn.Module]:
    """Return the projections of the terms that match weights, for ``Matching``.

    Args:
        terms: All terms.
        student: With its first weights.
        teacher: In float32.
        top: The last of the teacher's layers to match.

    Raises:
        ConfigError: See ``SharedProjections`` and ``layer_pairs``.
    """
    return {
        projection_name(number, 0): SharedProjections(
            student,
            teacher,
            layer_pairs(term.layers, student.config.num_hidden_layers, top),
            term.direction,
        )
        for number, term in enumerate(terms)
        if term.what == "weights"
    }


class LiveTeacher:
    """A frozen network that reads each batch beside its student.

    Args:
        network: An encoder, or one with its masked-LM head.
        terms: What will be asked for.
    """

    def __init__(self, network: nn.Module, terms: Sequence[MatchTerm]) -> None:
        self._network = network.eval().requires_grad_(False)
        self._parts = parts_of(terms)

    def __call__(self, inputs: Mapping[str, Tensor]) -> Observed:
        """See ``ObservedTeacher``."""
        batch = [inputs[name] for name in INPUT_NAMES]
        self._network.to(batch[0].device)
        with torch.no_grad(), observing(self._network, self._parts) as found:
            self._network(*batch)
        return found


class _Student(Protocol):
    module: Any
    tokenizer: Tokenizer


def task_matching(
    terms: Sequence[MatchTerm], teacher: Path, student: _Student, *, only: bool
) -> Matching:
    """Return the matching of a task's student with the encoder of its teacher.

    Args:
        terms: What is matched; masked LM is not, for a task has none.
        teacher: Its folder.
        student: A task's model.
        only: See ``Matching``.

    Raises:
        CheckpointError: If the teacher has other tokens, or fewer layers.
        ConfigError: If the student reads first tokens alone, so that its last states are not made,
            or terms do not fit.
    """
    if any(term.what == "masked_lm" for term in terms):
        raise ConfigError("match.what = 'masked_lm' is for encoders; a task has no masked tokens")
    if parts_of(terms) and getattr(student.module, "pooling", "mean") == "first":
        raise ConfigError(
            'teacher.states and match need model.pooling = "mean": "first" makes no states'
        )
    refuse_other_tokens(teacher, student.tokenizer)
    theirs = open_encoder(teacher)
    if "queries" in parts_of(terms):
        refuse_lstm(theirs.config, f"match with {teacher.name}")
    ours, found = (one.config.num_hidden_layers for one in (student.module.encoder, theirs))
    if ours > found:
        raise CheckpointError(
            f"{teacher}: expected a teacher with at least as many layers, found "
            f"num_hidden_layers {found}, the student's {ours}"
        )
    return Matching(
        terms,
        student.module,
        LiveTeacher(theirs, terms),
        teacher_layers=found,
        teacher_width=theirs.config.hidden_size,
        only=only,
        projections=weight_projections(terms, student.module.encoder, theirs, found),
    )
