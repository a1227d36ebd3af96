"""The distillation job: trains a smaller encoder to match a teacher's hidden states on a corpus.

Teacher and student read the same masked text, so one forward pass of each serves all losses: the
student's states are compared with the teacher's, and its heads learn masked LM and sentence order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM
from zh_albert.distillation.comparison import parts_of
from zh_albert.distillation.match_terms import MatchTerm
from zh_albert.distillation.matching import Matching, projection_name, weight_projections
from zh_albert.distillation.student import (
    CalibrationBatch,
    LayerInit,
    fitted_projections,
    initialize_student,
    refuse_larger,
    student_config,
)
from zh_albert.distillation.teacher import fastest_teacher
from zh_albert.errors import ConfigError, DataError
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.model.pretraining_heads import AlbertForPretraining, PretrainingOutput
from zh_albert.pretraining.job import (
    Corpus,
    EncoderJobConfig,
    EncoderJobSpec,
    Folder,
    refuse_other_vocabulary,
    refuse_too_long,
    train_encoder,
)
from zh_albert.pretraining.objective import pretraining_loss
from zh_albert.pretraining.run import EncoderConfig
from zh_albert.training.events import Observer
from zh_albert.training.loop import LossOutput
from zh_albert.training.resume import RunState, seed_torch

_CALIBRATION_TEXTS = 96
_COUNTED_TOKENS = 20_000_000  # of the corpus, for token frequencies


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """Weights of the parts of the loss; ``heads`` is that of masked LM and sentence order."""

    states: float = 1.0  # fraction of the teacher's variance unexplained, mean over layers
    attention: float = 0.0  # divergence of attention, mean over layers; slows training down
    heads: float = 1.0

    def __post_init__(self) -> None:
        values = (self.states, self.attention, self.heads)
        if min(values) < 0 or not any(values):
            raise ConfigError(f"loss weights must be >= 0 and not all 0, got {values}")


@dataclass(frozen=True, kw_only=True)
class DistilConfig(EncoderJobConfig):
    """Settings of a distillation run."""

    teacher: Folder  # a folder written by ``zh-albert convert``
    teacher_top: int | None = None  # the last of the teacher's layers to match; None: its last
    encoder: EncoderConfig = field(default_factory=EncoderConfig)  # the student's sizes
    layers: LayerInit = "chosen"  # initialization of the student's layers
    go_on_from: Folder | None = None  # a student's folder to continue; replaces ``encoder``
    loss: LossConfig = field(default_factory=LossConfig)
    match: tuple[MatchTerm, ...] = ()  # what else of the teacher is matched

    def __post_init__(self) -> None:
        super().__post_init__()
        self.refuse_changing_layers(self.terms())

    def terms(self) -> tuple[MatchTerm, ...]:
        """Return all match terms, those of ``loss`` first."""
        own = {"states": self.loss.states, "attention": self.loss.attention}
        given = [MatchTerm(what=what, weight=w) for what, w in own.items() if w]  # type: ignore[arg-type]
        return (*given, *self.match)


def distil(
    config: DistilConfig, *, resume: bool = False, observers: Sequence[Observer] = ()
) -> RunState:
    """Run the job; see ``pretraining.job.train_encoder``.

    Raises:
        ConfigError: If such a student cannot be initialized from that teacher.
        CheckpointError: If the teacher cannot be opened, or has another vocabulary than the shards.
    """
    folders = [config.teacher, *([config.go_on_from] if config.go_on_from else [])]
    return train_encoder(
        config, partial(_build, config), init_folders=folders, resume=resume, observers=observers
    )


def _build(config: DistilConfig, corpus: Corpus) -> EncoderJobSpec:
    """Return the student and the loss that compares it with its teacher."""
    terms = config.terms()
    teacher = _open_teacher(config.teacher, corpus, terms)
    encoder = teacher.encoder
    refuse_lstm(encoder.config, f"teacher {config.teacher}")
    refuse_too_long(encoder.config, config.instances)
    top = len(encoder.plan) if config.teacher_top is None else config.teacher_top
    if not 1 <= top <= len(encoder.plan):
        raise ConfigError(
            f"teacher_top must be from 1 to {len(encoder.plan)}, the teacher's layers, got {top}"
        )
    seed_torch(config.train.seed, 0, 0)
    calibration = CalibrationBatch(encoder, _calibration_texts(corpus, config.instances.length))
    student = _initial_student(config, corpus, teacher, calibration, top)
    refuse_lstm(student.encoder.config, "go_on_from")
    own_layers = len(student.encoder.plan)
    pairs = [(term, term.pairs(own_layers, top)) for term in terms]
    projections: dict[str, nn.Module] = {
        projection_name(number, own): projection
        for number, (term, matched) in enumerate(pairs)
        if term.what == "states"
        and (term.projection or student.encoder.config.hidden_size != encoder.config.hidden_size)
        for (own, _), projection in zip(
            matched, fitted_projections(student.encoder, calibration, matched), strict=True
        )
    }
    # Before ``fastest_teacher``, which may change the teacher's precision.
    projections |= weight_projections(terms, student.encoder, encoder, top)
    layers = [other for _, matched in pairs for _, other in matched] or [top]
    parts = parts_of(terms)
    matching = Matching(
        terms,
        student,
        fastest_teacher(teacher, [layer for layer in layers if layer] or [1], calibration, parts),
        teacher_layers=top,
        teacher_width=encoder.config.hidden_size,
        projections=projections,
    )
    return EncoderJobSpec(
        matching.around(WholeTexts(student) if parts else student),
        student,
        matching.objective(partial(_heads_loss, config.loss.heads)),
        matching,
        learns_words=config.loss.heads > 0 or any(term.what == "masked_lm" for term in terms),
    )


class WholeTexts(nn.Module):
    """A student that computes the last layer for all tokens, so that it can be matched there.

    Args:
        student: Computes it for masked tokens only.
    """

    def __init__(self, student: AlbertForPretraining) -> None:
        super().__init__()
        self.student = student

    def forward(
        self, token_ids: Tensor, type_ids: Tensor, mask: Tensor, positions: Tensor
    ) -> PretrainingOutput:
        """Return the logits of both heads. See ``AlbertForPretraining`` for the arguments."""
        hidden = self.student.encoder(token_ids, type_ids, mask).hidden
        return PretrainingOutput(
            masked=self.student.masked_logits(hidden, positions),
            order=self.student.sentence_order(self.student.encoder.pool(hidden)),
        )


def _heads_loss(weight: float, module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    loss, measured = pretraining_loss(module, inputs)
    return LossOutput(weight * loss, measured)


def _open_teacher(folder: Path, corpus: Corpus, terms: Sequence[MatchTerm]) -> AlbertForPretraining:
    """Return a folder's encoder, for evaluation, with its masked-LM head if a term reads that.

    Raises:
        CheckpointError: If it is no model folder, or its vocabulary is not that of the shards.
    """
    config, _ = load_config(folder)
    refuse_other_vocabulary(folder, config, corpus.tokenizer)
    teacher = AlbertForPretraining(config)
    if any(term.what == "masked_lm" for term in terms):
        load_weights(teacher, folder, optional=BESIDE_MASKED_LM)
    else:
        teacher.encoder = open_encoder(folder)
    return teacher.eval()


def _initial_student(
    config: DistilConfig,
    corpus: Corpus,
    teacher: AlbertForPretraining,
    calibration: CalibrationBatch,
    top: int,
) -> AlbertForPretraining:
    if folder := config.go_on_from:
        sizes, _ = load_config(folder)
        refuse_other_vocabulary(folder, sizes, corpus.tokenizer)
        refuse_larger(sizes, teacher.encoder.config)
        student = AlbertForPretraining(sizes)
        load_weights(student, folder)
        return student
    sizes = student_config(
        config.encoder.sizes(corpus.tokenizer.vocab_size), teacher.encoder.config
    )
    frequencies = _token_frequencies(corpus)
    return initialize_student(
        teacher.encoder, sizes, calibration, frequencies, layers=config.layers, top=top
    )


def _calibration_texts(corpus: Corpus, length: int) -> Tensor:
    """Return token ids of texts spread evenly over the corpus. Shape: (texts, length)."""
    special = corpus.tokenizer.special
    bounds = corpus.shards.documents()
    starts = bounds[:-1][np.diff(bounds) >= length - 2]
    if not len(starts):
        raise DataError(f"expected a document of {length - 2} tokens in the shards, found none")
    chosen = starts[np.linspace(0, len(starts) - 1, _CALIBRATION_TEXTS).astype(np.int64)]
    ids, _ = corpus.shards.gather(chosen, np.full(len(chosen), length - 2))
    text = torch.from_numpy(ids.astype(np.int64)).view(len(chosen), -1)
    return F.pad(F.pad(text, (1, 0), value=special.cls), (0, 1), value=special.sep)


def _token_frequencies(corpus: Corpus) -> Tensor:
    """Return each token's relative frequency in the corpus, never 0. Shape: (vocab,)."""
    counts = torch.full((corpus.tokenizer.vocab_size,), 0.5)
    seen = 0
    for ids in corpus.shards.each_document():
        counts += torch.bincount(torch.from_numpy(ids.astype(np.int64)), minlength=len(counts))
        seen += len(ids)
        if seen >= _COUNTED_TOKENS:
            break
    return counts / counts.sum()
