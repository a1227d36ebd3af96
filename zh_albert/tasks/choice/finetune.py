"""Fine-tuning a multiple-choice model: questions and an encoder in, a model folder out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.errors import DataError
from zh_albert.tasks.batching import ShuffledSource, Size
from zh_albert.tasks.choice.assignment import choose
from zh_albert.tasks.choice.card import chooser_card
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import ChoiceExample, read_choice_examples
from zh_albert.tasks.job import (
    JobConfig,
    NetworkConfig,
    Trainee,
    TrainingData,
    finetune_model,
    load_encoder,
    starting_point,
)
from zh_albert.tasks.window_outputs import collate_windows, merged_outputs
from zh_albert.training.engine import Batch, Outcome
from zh_albert.training.events import Observer
from zh_albert.training.resume import Position, seed_torch


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    pooling: Literal["first", "mean"] = "first"  # "first" opens in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)


def new_chooser(config: FinetuneConfig, *, init: Path | None) -> TextChooser:
    """Make an untrained model.

    Args:
        config: ``train.seed`` decides the random weights.
        init: See ``starting_point``.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    chooser = TextChooser(sizes, tokenizer, window=config.window, pooling=config.model.pooling)
    if init is not None:
        load_encoder(chooser.module, init)
    return chooser


def choice_data(
    chooser: TextChooser, examples: Sequence[ChoiceExample], *, batch_tokens: int, seed: int
) -> TrainingData:
    """Return batches of questions, all choices of each together, for ``choice_loss``."""
    questions = chooser.encode([example.asked for example in examples])
    labels = torch.tensor([example.label for example in examples])
    counts = torch.tensor([len(choices) for choices in questions])

    def load(item: list[int]) -> Batch:
        texts = [choice for index in item for choice in questions[index]]
        inputs = collate_windows(texts, chooser.config.pad_token_id)
        inputs |= {"labels": labels[item], "counts": counts[item]}
        return Batch(inputs, weight=len(item), tokens=sum(text.tokens for text in texts))

    sizes = []
    for choices in questions:
        parts = [choice.size for choice in choices]
        sizes.append(Size(sum(part.rows for part in parts), max(part.length for part in parts)))
    source = ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)
    return TrainingData(source, sum(math.log(len(choices)) for choices in questions) / len(sizes))


def choice_loss(module: nn.Module, inputs: dict[str, Tensor]) -> Outcome:
    """Cross-entropy of each question's choices, summed over the questions."""
    counts = inputs["counts"]
    logits = merged_outputs(module, inputs, int(counts.sum()))[:, 0]
    # A row a question; where it has fewer choices than others, nothing can be chosen.
    there = torch.arange(int(counts.max()), device=counts.device) < counts[:, None]
    table = logits.new_full(there.shape, -math.inf).masked_scatter(there, logits)
    return Outcome(F.cross_entropy(table, inputs["labels"], reduction="sum"))


def finetune(
    examples: Sequence[ChoiceExample],
    dev: Sequence[ChoiceExample],
    config: FinetuneConfig,
    *,
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextChooser, Position]:
    """Train a multiple-choice model; the arguments are those of ``classification.finetune``.

    Returns:
        The model with its best weights, by accuracy, and where the run ended.

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given.
        DataError: If there is no question, or one has no content.
    """
    if not examples:
        raise DataError("expected questions to learn from, found none")
    chooser = new_chooser(config, init=init)

    def data(_: Observer) -> TrainingData:
        batch_tokens, seed = config.train.batch_tokens, config.train.seed
        return choice_data(chooser, examples, batch_tokens=batch_tokens, seed=seed)

    trainee = Trainee(
        model=chooser,
        data=data,
        objective=choice_loss,
        evaluate=partial(evaluate, chooser, dev) if dev else None,
        metric="accuracy",
        card=partial(chooser_card, chooser),
        reopen=TextChooser.load,
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


def evaluate(chooser: TextChooser, examples: Sequence[ChoiceExample]) -> dict[str, float]:
    """Return ``accuracy``, ``examples`` and ``seconds`` (of prediction)."""
    start = time.perf_counter()
    questions = [example.asked for example in examples]
    chosen = choose(questions, chooser.probabilities(questions))
    seconds = time.perf_counter() - start
    right = sum(e.label == choice for e, choice in zip(examples, chosen, strict=True))
    return {
        "accuracy": right / len(examples),
        "examples": len(examples),
        "seconds": round(seconds, 3),
    }


def evaluate_file(folder: Path, file: Path) -> dict[str, Any]:
    """Score a model folder on a task file; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read.
    """
    return evaluate(TextChooser.load(folder), read_choice_examples(file))
