"""Contrastive fine-tuning of sentence vectors: texts or pairs and an encoder in, a folder out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.configio import renamed
from zh_albert.errors import ConfigError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.tasks import run
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.embedding.card import embedder_card
from zh_albert.tasks.embedding.contrast import contrastive_loss
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.examples import EmbeddingExample, contrastive_texts, judged
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
    """Settings of the contrastive loss."""

    temperature: float = 0.05  # of the cosines
    # Pairs with numeric labels of at least this value are positives.
    positive_threshold: float = renamed("alike_from", default=4.0)

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be > 0, got {self.temperature}")


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    # Published encoders have no dropout, but without it both readings of a single text are equal.
    model: NetworkConfig = field(default_factory=lambda: NetworkConfig(dropout=0.1))
    contrast: ContrastConfig = field(default_factory=ContrastConfig)
    # The other texts of a batch are the negatives, so batches are large.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=1, peak_lr=3e-5, batch_tokens=4096)
    )


class EmbeddingJob(FineTuningJob[EmbeddingExample, TextEmbedder]):
    """Contrastive fine-tuning of sentence vectors.

    The positives are pairs that mean the same, or a single text encoded twice with different
    dropout (unsupervised SimCSE). The negatives are the other texts of the batch.

    Raises:
        ConfigError: If there are single texts but no dropout, or batches are too small.
        DataError: If there is nothing to train on, or dev holds anything but pairs with labels.
    """

    metric_names = ("spearman", "pearson")
    model_type = TextEmbedder
    config_type = FinetuneConfig
    card = staticmethod(embedder_card)

    def check(self) -> None:
        """See ``FineTuningJob``."""
        threshold = self.config.contrast.positive_threshold
        self.single, self.same = contrastive_texts(self.examples, threshold)
        if not self.single and not self.same:
            raise DataError(
                "expected texts, or pairs that mean the same, found only pairs that do not (label "
                f"below {threshold:g}, or neither similar nor entailment)"
            )
        judged(self.dev, "the dev examples")

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextEmbedder:
        """See ``FineTuningJob``."""
        return TextEmbedder(sizes, tokenizer, window=self.config.window)

    def encode(self, progress: Observer) -> Sequence[Size]:
        """See ``FineTuningJob``: pairs of texts; a text twice is a pair, too."""
        sizes = self.model.config
        if self.single and not (sizes.hidden_dropout_prob or sizes.attention_probs_dropout_prob):
            raise ConfigError(
                "single texts need dropout, which makes their two readings differ; set "
                "model.dropout=0.1, or learn from pairs"
            )
        if left_out := len(self.examples) - len(self.single) - len(self.same):
            why = "do not mean the same by their labels, and are left out"
            text = f"{left_out} of {len(self.examples)} training pairs {why}"
            progress(Warned(update=0, text=text))
        pairs = [*self.same, *((text, text) for text in self.single)]
        distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
        self.texts = self.model.encode(distinct)
        numbers = {text: number for number, text in enumerate(distinct)}
        self.ids = torch.tensor([[numbers[text] for text in pair] for pair in pairs])
        self.room = self.config.train.batch_tokens // (2 * _PAIRS)
        costs = []
        for pair in self.ids.tolist():
            parts = [self.texts[number].size.within(self.room) for number in pair]
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
        """See ``FineTuningJob``: all the first texts, then all the second ones."""
        rng, ids = random.Random(item.seed), self.ids[item.texts]
        texts = [self.texts[n].drawn(self.room, rng) for n in ids.T.flatten().tolist()]
        inputs = {**collate_windows(texts, self.model.config.pad_token_id), "ids": ids}
        return Batch(inputs, weight=len(item.texts), tokens=sum(text.tokens for text in texts))

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """See ``contrastive_loss``."""
        ids, temperature = inputs["ids"], self.config.contrast.temperature
        first, second = merged_outputs(network, inputs, ids.numel()).chunk(2)
        return LossOutput(contrastive_loss(first, second, ids, temperature=temperature))

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev)


JOB = EmbeddingJob
finetune = partial(run.finetune, JOB)


def new_embedder(config: FinetuneConfig, *, init: Path | None) -> TextEmbedder:
    """Create a model before its contrastive training; see ``job.untrained``."""
    return untrained(config, init, partial(TextEmbedder, window=config.window))


def evaluate(
    embedder: TextEmbedder,
    examples: Sequence[EmbeddingExample],
    source: Path | str = "the examples",
) -> dict[str, Any]:
    """Return correlations of cosines with labels, ``examples`` and ``seconds`` (of prediction)."""
    pairs, gold = judged(examples, source)
    cosines = partial(embedder.cosines, pairs)
    return timed(examples, cosines, lambda found: correlations(gold, found))
