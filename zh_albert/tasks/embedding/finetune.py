"""Fine-tuning of sentence vectors, by contrast and by a teacher's: texts or pairs in, a folder
out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zh_albert.errors import ConfigError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.tasks import run
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.embedding.card import embedder_card
from zh_albert.tasks.embedding.contrast import contrastive_loss, taught_loss
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.examples import EmbeddingExample, judged, read_together
from zh_albert.tasks.embedding.teacher_vectors import TeacherVectors, VectorsConfig
from zh_albert.tasks.evaluation import timed
from zh_albert.tasks.job import FineTuningJob, untrained
from zh_albert.tasks.windows import collate_windows, merged_outputs
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import Batch, LossOutput

_PAIRS = 4  # minimum for a batch of long texts: the other pairs are the negatives


@dataclass(frozen=True, kw_only=True)
class ContrastConfig:
    """Settings of the losses."""

    temperature: float = 0.05  # of the cosines
    # The first so many numbers of a vector are learned as vectors of their own, too, so that
    # vectors can be cut (Kusupati et al. 2022, arXiv:2205.13147).
    widths: tuple[int, ...] = ()
    # Pairs with numeric labels of at least this value are positives.
    positive_threshold: float = 4.0

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be > 0, got {self.temperature}")
        if self.widths and min(self.widths) < 1:
            raise ConfigError(f"contrast.widths must be at least 1 each, got {min(self.widths)}")


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    # Published encoders have no dropout, but without it both readings of a single text are equal.
    model: NetworkConfig = field(default_factory=lambda: NetworkConfig(dropout=0.1))
    contrast: ContrastConfig = field(default_factory=ContrastConfig)
    vectors: VectorsConfig | None = None
    # The other texts of a batch are the negatives, so batches are large.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=1, peak_lr=3e-5, batch_tokens=4096)
    )


class EmbeddingJob(FineTuningJob[EmbeddingExample, TextEmbedder]):
    """Fine-tuning of sentence vectors.

    The positives are pairs that mean the same, or a single text encoded twice with different
    dropout (unsupervised SimCSE). The negatives are the other texts of the batch, and those that a
    pair names. A text with a teacher's vector is read once and learns that.

    Raises:
        ConfigError: If there are single texts but no dropout, batches are too small, or widths are
            more than the model has.
        DataError: If there is nothing to train on, dev holds anything but pairs with labels, or a
            teacher's vectors are missing.
    """

    metric_names = ("spearman", "pearson")
    model_type = TextEmbedder
    config_type = FinetuneConfig
    card = staticmethod(embedder_card)

    def settle(self) -> None:
        """See ``FineTuningJob``."""
        threshold = self.config.contrast.positive_threshold
        self.teaching = read_together(self.examples, threshold)
        if not self.teaching:
            raise DataError(
                "expected texts, or pairs that mean the same, found only pairs that do not (label "
                f"below {threshold:g}, or neither similar nor entailment)"
            )
        self.wanted = self._teachers_vectors()
        if self.wanted is not None:
            self.fingerprints.append(self.wanted.fingerprint)
        judged(self.dev, "the dev examples")

    def _teachers_vectors(self) -> TeacherVectors | None:
        rows = [e.vector for e in self.teaching if e.vector is not None]
        if self.config.vectors is not None:
            return TeacherVectors(self.config.vectors, rows)
        if rows:
            raise ConfigError(
                f'{len(rows):,} training texts name a row of a teacher\'s vectors ("vector"), and '
                "there are none: --set vectors.file=FILE.npy"
            )
        return None

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextEmbedder:
        """See ``FineTuningJob``."""
        widths = sorted(self.config.contrast.widths)
        return TextEmbedder(sizes, tokenizer, window=self.config.window, widths=widths)

    def encode(self, progress: Observer) -> Sequence[Size]:
        """See ``FineTuningJob``: texts that are read together; a text twice is a pair, too."""
        sizes, contrast = self.model.config, self.config.contrast
        if contrast.widths and max(contrast.widths) >= sizes.hidden_size:
            raise ConfigError(
                f"contrast.widths: expected widths below the model's {sizes.hidden_size}, got "
                f"{max(contrast.widths)}"
            )
        self.model.widths = tuple(sorted(contrast.widths))  # also of a model that is trained on
        twice = any(isinstance(e.text, str) and e.vector is None for e in self.teaching)
        if twice and not (sizes.hidden_dropout_prob or sizes.attention_probs_dropout_prob):
            raise ConfigError(
                "single texts need dropout, which makes their two readings differ; set "
                "model.dropout=0.1, or learn from pairs"
            )
        if left_out := len(self.examples) - len(self.teaching):
            why = "do not mean the same by their labels, and are left out"
            text = f"{left_out} of {len(self.examples)} training pairs {why}"
            progress(Warned(update=0, text=text))
        groups = [_read_with(example) for example in self.teaching]
        distinct = list(dict.fromkeys(text for group in groups for text in group))
        self.texts = self.model.encode(distinct)
        numbers = {text: number for number, text in enumerate(distinct)}
        self.ids = [[numbers[text] for text in group] for group in groups]
        self.room = self.config.train.batch_tokens // (2 * _PAIRS)
        costs = []
        for group in self.ids:
            parts = [self.texts[number].size.within(self.room) for number in group]
            costs.append(Size(sum(p.rows for p in parts), max(p.length for p in parts)))
        return costs

    def plan(self, epoch: int) -> list[SeededBatch]:
        """See ``FineTuningJob``."""
        batches = super().plan(epoch)
        if 1 < len(self.sizes) < 2 * len(batches):
            raise ConfigError(
                f"train.batch_tokens={self.config.train.batch_tokens}: most pairs would be alone "
                "in their batch, where nothing is learned from them; raise it, or lower "
                "window.max_length"
            )
        return batches

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``: first texts, then second ones, negatives, texts with a vector."""
        rng = random.Random(item.seed)
        chosen = sorted(item.texts, key=lambda number: -len(self.ids[number]))
        pairs = [self.ids[number] for number in chosen if len(self.ids[number]) > 1]
        negatives = [group[2] for group in pairs if len(group) > 2]
        alone = chosen[len(pairs) :]
        order = [group[side] for side in (0, 1) for group in pairs]
        order += [*negatives, *(self.ids[number][0] for number in alone)]
        texts = [self.texts[number].drawn(self.room, rng) for number in order]
        inputs = {
            **collate_windows(texts, self.model.config.pad_token_id),
            "ids": torch.tensor([group[:2] for group in pairs]).view(-1, 2),
            "negatives": torch.tensor(negatives, dtype=torch.long),
        }
        if self.wanted is not None:
            rows = [self.teaching[number].vector or 0 for number in alone]
            inputs["wanted"] = self.wanted.of(rows)
        return Batch(inputs, weight=len(item.texts), tokens=sum(text.tokens for text in texts))

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """See ``contrastive_loss`` and ``taught_loss``; each width counts as often as the whole."""
        ids, negatives = inputs["ids"], inputs["negatives"]
        taught = inputs.get("wanted")
        alone = 0 if taught is None else len(taught)
        vectors = merged_outputs(network, inputs, 2 * len(ids) + len(negatives) + alone)
        config, whole = self.config, vectors.shape[-1]
        widths = (*config.contrast.widths, whole)
        told: dict[str, tuple[Tensor, int]] = {}
        loss = vectors.new_zeros(())
        for width in widths:
            first, second, third, last = torch.split(
                vectors[:, :width], [len(ids), len(ids), len(negatives), alone]
            )
            if len(ids):
                contrast = contrastive_loss(
                    first,
                    second,
                    ids,
                    temperature=config.contrast.temperature,
                    negatives=third,
                    negative_ids=negatives,
                )
                loss = loss + contrast / len(widths)
                told["contrast"] = contrast.detach(), len(ids)
            if taught is not None and alone:
                away = taught_loss(last, taught, temperature=config.contrast.temperature)
                loss = loss + config.vectors.weight * away / len(widths)
                told["taught"] = away.detach(), alone
        return LossOutput(loss, told)

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev)


def _read_with(example: EmbeddingExample) -> tuple[str, ...]:
    """Return the texts that are read together: a text, a pair, or a pair and its negative."""
    if isinstance(example.text, str):
        return (example.text,) if example.vector is not None else (example.text, example.text)
    return example.text if example.negative is None else (*example.text, example.negative)


JOB = EmbeddingJob
finetune = partial(run.finetune, JOB)


def new_embedder(config: FinetuneConfig, *, init: Path | None) -> TextEmbedder:
    """Create a model before its contrastive training; see ``job.untrained``."""
    return untrained(config, init, partial(TextEmbedder, window=config.window))


def evaluate(embedder: TextEmbedder, examples: Sequence[EmbeddingExample]) -> dict[str, Any]:
    """Return correlations of cosines with labels, ``examples`` and ``seconds`` (of prediction).

    For a model of several widths also those of the cut vectors: ``spearman_64``.
    """
    pairs, gold = judged(examples, "the examples")

    def scores(cosines: Sequence[NDArray[np.float32]]) -> dict[str, Any]:
        found = correlations(gold, cosines[-1])
        for width, narrow in zip(embedder.widths, cosines, strict=False):
            found[f"spearman_{width}"] = correlations(gold, narrow)["spearman"]
        return found

    return timed(examples, partial(embedder.cosines, pairs, embedder.widths), scores)
