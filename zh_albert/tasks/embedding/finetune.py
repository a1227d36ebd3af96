"""Contrastive fine-tuning of sentence vectors: texts or pairs and an encoder in, a folder out."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.configio import renamed
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.correlations import correlations
from zh_albert.tasks.embedding.card import embedder_card
from zh_albert.tasks.embedding.contrast import contrastive_loss
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.examples import (
    EmbeddingExample,
    contrastive_texts,
    judged,
    read_embedding_examples,
)
from zh_albert.tasks.job import (
    JobConfig,
    NetworkConfig,
    Trainee,
    TrainingData,
    finetune_model,
    starting_point,
)
from zh_albert.tasks.window_outputs import collate_windows, merged_outputs
from zh_albert.training.batching import ShuffledSource, Size
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import Batch, LossOutput
from zh_albert.training.resume import RunState, seed_torch

_PAIRS = 4  # at least in a batch, where texts are long: the others are what each is kept away from


@dataclass(frozen=True, kw_only=True)
class ContrastConfig:
    """What is taught to be alike, and how sharply."""

    temperature: float = 0.05  # of the cosines
    # Pairs with numbers for labels mean the same from here on.
    positive_threshold: float = renamed("alike_from", default=4.0)

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ConfigError(f"temperature must be > 0, got {self.temperature}")


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    # Published encoders have no dropout, but it is all that tells a single text from itself.
    model: NetworkConfig = field(default_factory=lambda: NetworkConfig(dropout=0.1))
    contrast: ContrastConfig = field(default_factory=ContrastConfig)
    # The other texts of a batch are what one is told apart from, so batches are large.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs=1, peak_lr=3e-5, batch_tokens=4096)
    )


def new_embedder(config: FinetuneConfig, *, init: Path | None) -> TextEmbedder:
    """Make a model that has learned nothing of sentences yet.

    Args:
        config: ``train.seed`` decides random weights.
        init: See ``starting_point``.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    embedder = TextEmbedder(sizes, tokenizer, window=config.window)
    if init is not None:
        load_encoder(embedder.module, init)
    return embedder


def contrastive_data(
    embedder: TextEmbedder,
    pairs: Sequence[tuple[str, str]],
    *,
    batch_tokens: int,
    seed: int,
) -> TrainingData:
    """Return batches of pairs for ``embedding_loss``; a text twice is a pair too."""
    distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
    encoded, numbers = embedder.encode(distinct), {t: n for n, t in enumerate(distinct)}
    ids = torch.tensor([[numbers[text] for text in pair] for pair in pairs])

    room = batch_tokens // (2 * _PAIRS)

    def load(item: list[int], rng: random.Random) -> Batch:
        # All the first texts, then all the second ones.
        numbers = ids[item].T.flatten().tolist()
        chosen = [encoded[number].drawn(room, rng) for number in numbers]
        inputs = {**collate_windows(chosen, embedder.config.pad_token_id), "ids": ids[item]}
        return Batch(inputs, weight=len(item), tokens=sum(text.tokens for text in chosen))

    sizes = []
    for first, second in ids.tolist():
        parts = [encoded[number].size.within(room) for number in (first, second)]
        sizes.append(Size(sum(p.rows for p in parts), max(p.length for p in parts)))
    source = ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)
    if 1 < len(pairs) < 2 * len(source.plan(0)):
        raise ConfigError(
            f"train.batch_tokens={batch_tokens}: most pairs would be alone in their batch, where "
            "nothing is learned from them; raise it, or lower window.max_length"
        )
    # What guessing costs depends on how many pairs share a batch: it is not watched.
    return TrainingData(source, None)


def embedding_loss(temperature: float, module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    """See ``contrastive_loss``."""
    ids = inputs["ids"]
    first, second = merged_outputs(module, inputs, ids.numel()).chunk(2)
    return LossOutput(contrastive_loss(first, second, ids, temperature=temperature))


def finetune(
    examples: Sequence[EmbeddingExample],
    dev: Sequence[EmbeddingExample],
    config: FinetuneConfig,
    *,
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextEmbedder, RunState]:
    """Train sentence vectors; the arguments are those of ``classification.finetune``.

    Pairs that mean the same are brought together; a single text with itself, read twice under
    different dropout (unsupervised SimCSE). The other texts of the batch are kept away.

    Returns:
        The model with its best weights, by Spearman's correlation of cosines and labels, and
        where the run ended.

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given, or single texts
            are to be learned without dropout.
        DataError: If there is nothing to learn from, or dev holds anything but pairs with labels.
    """
    texts, pairs = contrastive_texts(examples, config.contrast.positive_threshold)
    if not texts and not pairs:
        raise DataError(
            "expected texts, or pairs that mean the same, found only pairs that do not (label "
            f"below {config.contrast.positive_threshold:g}, or neither similar nor entailment)"
        )
    judged(dev, "the dev examples")
    embedder = new_embedder(config, init=init)
    sizes = embedder.config
    if texts and not (sizes.hidden_dropout_prob or sizes.attention_probs_dropout_prob):
        raise ConfigError(
            "single texts are told from themselves by dropout alone, and there is none; set "
            "model.dropout=0.1, or learn from pairs"
        )

    def data(progress: Observer) -> TrainingData:
        if left_out := len(examples) - len(texts) - len(pairs):
            told = "do not mean the same by their labels, and are left out"
            progress(Warned(update=0, text=f"{left_out} of {len(examples)} training pairs {told}"))
        both = [*pairs, *((text, text) for text in texts)]
        batch_tokens, seed = config.train.batch_tokens, config.train.seed
        return contrastive_data(embedder, both, batch_tokens=batch_tokens, seed=seed)

    trainee = Trainee(
        model=embedder,
        data=data,
        objective=partial(embedding_loss, config.contrast.temperature),
        evaluate=partial(evaluate, embedder, dev) if dev else None,
        metric="spearman",
        card=partial(embedder_card, embedder),
        reopen=TextEmbedder.load,
    )
    return finetune_model(
        trainee,
        config,
        examples=examples,
        dev=dev,
        init=init,
        out=out,
        resume=resume,
        observers=observers,
    )


def evaluate(
    embedder: TextEmbedder,
    examples: Sequence[EmbeddingExample],
    source: Path | str = "the examples",
) -> dict[str, float]:
    """Return correlations of cosines and labels, ``examples`` and ``seconds`` (of prediction)."""
    pairs, gold = judged(examples, source)
    start = time.perf_counter()
    cosines = embedder.similarities(pairs)
    seconds = time.perf_counter() - start
    scores = correlations(gold, cosines)
    return {**scores, "examples": len(examples), "seconds": round(seconds, 3)}


def evaluate_file(embedder: TextEmbedder, file: Path) -> dict[str, Any]:
    """Score a model on a file of pairs with labels; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read, or holds something else.
    """
    return evaluate(embedder, read_embedding_examples(file), file)
