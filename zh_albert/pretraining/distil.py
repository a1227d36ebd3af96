"""The distillation job: a teacher and shards in, a smaller encoder's model folder out.

Both read the same masked text. So one forward pass of each serves all:
the student's states are compared with the teacher's, and its heads learn masked LM and sentence
order from the same corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.distillation.matching import (
    MatchingOutput,
    MatchingStudent,
)
from zh_albert.distillation.student import (
    CalibrationBatch,
    Layers,
    begin_student,
    fitted_projections,
    fitting,
)
from zh_albert.distillation.teacher import Teacher, fastest_teacher
from zh_albert.errors import ConfigError, DataError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.layer_map import layer_map
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.job import (
    Corpus,
    EncoderJobConfig,
    EncoderTrainee,
    refuse_other_vocabulary,
    refuse_too_long,
    train_encoder,
)
from zh_albert.pretraining.objective import heads_loss_output
from zh_albert.pretraining.run import EncoderConfig
from zh_albert.training.events import Observer
from zh_albert.training.loop import LossOutput
from zh_albert.training.resume import RunState, seed_torch

_SAMPLE_SPANS = 96
_COUNTED_TOKENS = 20_000_000  # of the corpus, for token frequencies


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """What each part of the loss weighs; masked LM and sentence order weigh ``heads``."""

    states: float = 1.0  # share of the teacher's variance that is missed, mean over layers
    attention: float = 0.0  # divergence of attention, mean over layers; slower
    heads: float = 1.0

    def __post_init__(self) -> None:
        values = (self.states, self.attention, self.heads)
        if min(values) < 0 or not any(values):
            raise ConfigError(f"loss weights must be >= 0 and not all 0, got {values}")


@dataclass(frozen=True, kw_only=True)
class DistilConfig(EncoderJobConfig):
    """Everything that decides a distillation run."""

    teacher: Path  # a folder that ``zh-albert convert`` wrote
    teacher_top: int | None = None  # the teacher's last layer to match; None: its last
    encoder: EncoderConfig = field(default_factory=EncoderConfig)  # the student's sizes
    layers: Layers = "chosen"  # what the student's layers begin as
    go_on_from: Path | None = None  # a student's folder: begin with it instead; its sizes count
    loss: LossConfig = field(default_factory=LossConfig)


def distil(
    config: DistilConfig, *, resume: bool = False, observers: Sequence[Observer] = ()
) -> RunState:
    """Run the job; see ``pretraining.job.train_encoder``.

    Raises:
        ConfigError: If such a student cannot be made from that teacher.
        CheckpointError: If the teacher cannot be opened, or reads other tokens than the shards.
    """

    def begin(corpus: Corpus) -> EncoderTrainee:
        return begin_distillation(config, corpus)

    began_as = [config.teacher, *([config.go_on_from] if config.go_on_from else [])]
    return train_encoder(config, begin, began_as=began_as, resume=resume, observers=observers)


def begin_distillation(config: DistilConfig, corpus: Corpus) -> EncoderTrainee:
    """Make the student and the loss that ties it to its teacher."""
    teacher = open_teacher(config.teacher, corpus)
    refuse_too_long(teacher.config, config.instances)
    top = len(teacher.plan) if config.teacher_top is None else config.teacher_top
    if not 1 <= top <= len(teacher.plan):
        raise ConfigError(
            f"teacher_top must be from 1 to {len(teacher.plan)}, the teacher's layers, got {top}"
        )
    seed_torch(config.train.seed, 0, 0)
    sample = CalibrationBatch(teacher, _spans(corpus, config.instances.length))
    student = _begin(config, corpus, teacher, sample, top)
    pairs = layer_map(len(student.encoder.plan), top)
    layers, matched = zip(*pairs, strict=True)
    projections = fitted_projections(student.encoder, sample, pairs)
    frozen = fastest_teacher(teacher, matched, sample, attention=config.loss.attention > 0)
    module = MatchingStudent(student, layers, projections)
    return EncoderTrainee(module, student, distillation_loss(frozen, config.loss))


def open_teacher(folder: Path, corpus: Corpus) -> AlbertEncoder:
    """Open a teacher's folder.

    Raises:
        CheckpointError: If it is none, or its vocabulary is not that of the shards.
    """
    config, _ = load_config(folder)
    refuse_other_vocabulary(folder, config, corpus.tokenizer)
    teacher = AlbertEncoder(config)
    load_weights(teacher, folder, new=("encoder.pooler.",), left_over="heads")
    return teacher.eval()


def distillation_loss(
    teacher: Teacher, weights: LossConfig
) -> Callable[[nn.Module, dict[str, Tensor]], LossOutput]:
    """Return the objective of ``MatchingStudent``."""

    def objective(module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        view = teacher.view(inputs["token_ids"], inputs["mask"])
        names = ("token_ids", "type_ids", "mask", "positions")
        output: MatchingOutput = module(*(inputs[name] for name in names), view)
        heads_loss, measured = heads_loss_output(output.heads, inputs)
        count = len(inputs["labels"])  # what the training loop divides by
        missed = output.fraction_unexplained.mean()
        loss = weights.heads * heads_loss + count * (
            weights.states * missed + weights.attention * output.divergence
        )
        figures = {**measured, "unexplained": (missed.detach() * count, count)}
        figures["unexplained_top"] = output.fraction_unexplained[-1].detach() * count, count
        if weights.attention:
            figures["attention"] = output.divergence.detach() * count, count
        return LossOutput(loss, figures)

    return objective


def _begin(
    config: DistilConfig, corpus: Corpus, teacher: AlbertEncoder, sample: CalibrationBatch, top: int
) -> AlbertForPretraining:
    if folder := config.go_on_from:
        sizes, _ = load_config(folder)
        refuse_other_vocabulary(folder, sizes, corpus.tokenizer)
        student = AlbertForPretraining(fitting(sizes, teacher.config))
        load_weights(student, folder)
        return student
    sizes = fitting(config.encoder.sizes(corpus.tokenizer.vocab_size), teacher.config)
    shares = token_shares(corpus)
    return begin_student(teacher, sizes, sample, shares, layers=config.layers, top=top)


def _spans(corpus: Corpus, length: int) -> Tensor:
    """Return token ids of text from all over the corpus. Shape: (texts, length)."""
    special = corpus.tokenizer.special
    bounds = corpus.shards.documents()
    starts = bounds[:-1][np.diff(bounds) >= length - 2]
    if not len(starts):
        raise DataError(f"the shards have no document of {length - 2} tokens to begin with")
    chosen = starts[np.linspace(0, len(starts) - 1, _SAMPLE_SPANS).astype(np.int64)]
    ids, _ = corpus.shards.gather(chosen, np.full(len(chosen), length - 2))
    text = torch.from_numpy(ids.astype(np.int64)).view(len(chosen), -1)
    return F.pad(F.pad(text, (1, 0), value=special.cls), (0, 1), value=special.sep)


def token_shares(corpus: Corpus) -> Tensor:
    """Return each token's share of the corpus, never 0. Shape: (vocab,)."""
    counts = torch.full((corpus.tokenizer.vocab_size,), 0.5)
    seen = 0
    for ids in corpus.shards.each_document():
        counts += torch.bincount(torch.from_numpy(ids.astype(np.int64)), minlength=len(counts))
        seen += len(ids)
        if seen >= _COUNTED_TOKENS:
            break
    return counts / counts.sum()
