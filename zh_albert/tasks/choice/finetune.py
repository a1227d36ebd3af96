"""Fine-tuning a multiple-choice model: questions and an encoder in, a model folder out."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.distillation.hidden_states import matching_states
from zh_albert.distillation.losses import divergence
from zh_albert.distillation.soft_targets import (
    Answers,
    TeacherConfig,
    ask_once,
    find_teacher,
    fingerprint,
)
from zh_albert.errors import ConfigError, DataError
from zh_albert.model.crf import FORBIDDEN
from zh_albert.runtimes.exported import with_runtimes
from zh_albert.tasks.choice.assignment import choose
from zh_albert.tasks.choice.card import chooser_card
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import ChoiceExample, read_choice_examples
from zh_albert.tasks.choice.linear_probe import probe_scores, some_of
from zh_albert.tasks.job import (
    JobConfig,
    Losses,
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
from zh_albert.training.run_folder import state_folder
from zh_albert.training.stages import silent


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    # In the encoder and before the last layer. A question's choices share their context and differ
    # by little; dropout hides something else of each, and moved their logits by more than that
    # (docs/experiments.md, pairs and choices).
    dropout: float | None = 0.0
    pooling: Literal["first", "mean"] = "mean"  # "first" opens in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    # All choices of a question share a batch, so it takes more tokens to hold several questions.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs="auto", peak_lr=1e-4, batch_tokens=4096)
    )
    teacher: TeacherConfig | None = None
    # Characters; questions about longer contexts are not learned from (None: all are). Where an
    # answer has to be found in much text a small model learns nothing, and forgets its start
    # (docs/experiments.md, pairs and choices); it still answers them.
    longest_context: int | None = None

    def __post_init__(self) -> None:
        if self.longest_context is not None and self.longest_context < 1:
            raise ConfigError(f"longest_context must be at least 1, got {self.longest_context}")


def new_chooser(config: FinetuneConfig, *, init: Path | None) -> TextChooser:
    """Make an untrained model.

    Args:
        config: ``train.seed`` decides the random weights.
        init: See ``starting_point``.
    """
    sizes, tokenizer = starting_point(config.model, init)
    if config.model.dropout is not None:
        sizes = replace(sizes, classifier_dropout_prob=config.model.dropout)
    seed_torch(config.train.seed, 0, 0)
    chooser = TextChooser(sizes, tokenizer, window=config.window, pooling=config.model.pooling)
    if init is not None:
        load_encoder(chooser.module, init)
    return chooser


def choice_data(
    chooser: TextChooser,
    examples: Sequence[ChoiceExample],
    *,
    batch_tokens: int,
    seed: int,
    start: Losses | None = None,
    answers: Answers | None = None,
    progress: Observer = silent,
) -> TrainingData:
    """Return batches of questions, all choices of each together, for ``choice_loss``.

    Args:
        chooser: Encodes them.
        examples: To learn from.
        batch_tokens: Padded tokens of a batch. Of a question that has more it has some windows.
        seed: Decides the order.
        start: First fit the head to some of them, by these losses.
        answers: A teacher's, one for each choice.
        progress: Told how far it is.
    """
    questions = chooser.encode([example.asked for example in examples])
    labels = torch.tensor([example.label for example in examples])
    counts = torch.tensor([len(choices) for choices in questions])

    def wanted(item: list[int]) -> dict[str, Tensor]:
        soft = {"soft_targets": answers.of(item)[:, 0]} if answers else {}
        return {"labels": labels[item], "counts": counts[item], **soft}

    def load(item: list[int], rng: random.Random) -> Batch:
        texts = []
        for choices in (questions[index] for index in item):
            same = rng.random()  # parts of the context for all choices
            room = batch_tokens // len(choices)
            texts += [choice.drawn(room, random.Random(same)) for choice in choices]
        inputs = collate_windows(texts, chooser.config.pad_token_id) | wanted(item)
        return Batch(inputs, weight=len(item), tokens=sum(text.tokens for text in texts))

    if start:
        drawn = some_of(len(questions), seed=seed)
        told = wanted(drawn)
        some = [questions[q] for q in drawn]
        probe_scores(chooser, some, lambda logits: start(logits, told), progress=progress)
    sizes = []
    for choices in questions:
        parts = [choice.size.within(batch_tokens // len(choices)) for choice in choices]
        sizes.append(Size(sum(part.rows for part in parts), max(part.length for part in parts)))
    source = ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)
    guessing = sum(math.log(len(choices)) for choices in questions) / len(sizes)
    return TrainingData(source, None if answers else guessing)


def question_losses(
    teacher: TeacherConfig | None, logits: Tensor, inputs: dict[str, Tensor]
) -> Tensor:
    """Return the cross-entropy of each question's choices. Shape: (questions,).

    With a teacher its weight goes to the divergence from what it said.
    """
    counts = inputs["counts"]
    # A row a question; where it has fewer choices than others, nothing can be chosen.
    there = torch.arange(int(counts.max()), device=counts.device) < counts[:, None]

    def table(logits: Tensor) -> Tensor:
        return logits.new_full(there.shape, FORBIDDEN).masked_scatter(there, logits)

    told = table(logits[:, 0])
    losses = F.cross_entropy(told, inputs["labels"], reduction="none")
    if teacher:
        soft_targets = divergence(told, table(inputs["soft_targets"]), teacher.temperature)
        losses = losses.lerp(soft_targets, teacher.weight)
    return losses


def choice_loss(losses: Losses, module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    """Loss of the merged logits, summed over the questions."""
    logits = merged_outputs(module, inputs, int(inputs["counts"].sum()), odds=True)
    return LossOutput(losses(logits, inputs).sum())


def teacher_answers(
    teacher: Path,
    examples: Sequence[ChoiceExample],
    *,
    known_as: str,
    folder: Path | None,
    progress: Observer,
) -> Answers:
    """Return what a teacher says of every choice; see ``teaching.ask_once``."""
    opened: list[TextChooser] = []  # not before there is something left to ask

    def ask(questions: list[int]) -> Tensor:
        if not opened:
            opened.append(with_runtimes(TextChooser.load(teacher), teacher))
        return opened[0].logits_of(opened[0].encode([examples[q].asked for q in questions]))

    asked = [example.asked for example in examples]
    return ask_once(
        ask,
        [len(one.choices) * len(one.context) for one in asked],
        1,
        counts=[len(one.choices) for one in asked],
        folder=folder,
        known_as=known_as,
        progress=progress,
    )


def finetune(
    examples: Sequence[ChoiceExample],
    dev: Sequence[ChoiceExample],
    config: FinetuneConfig,
    *,
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextChooser, RunState]:
    """Train a multiple-choice model; the arguments are those of ``classification.finetune``.

    Returns:
        The model with its best weights, by accuracy, and where the run ended.

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given.
        CheckpointError: If the teacher is none for this task.
        DataError: If there is no question to learn from, or one has no content.
    """
    given, longest = len(examples), config.longest_context or math.inf
    examples = [example for example in examples if len(example.asked.context) <= longest]
    if not examples:
        of_length = f" whose context has at most {longest} characters" if given else ""
        raise DataError(f"expected questions to learn from, found none{of_length}")
    chooser = new_chooser(config, init=init)
    teacher, known_as = None, ""
    if config.teacher:
        teacher, _ = find_teacher(config.teacher, "choice")
        known_as = fingerprint(teacher, [example.asked for example in examples])

    losses = partial(question_losses, config.teacher)

    def data(progress: Observer) -> TrainingData:
        if left_out := given - len(examples):
            told = f"their contexts have more than {longest} characters"
            progress(Warned(update=0, text=f"{left_out:,} of {given:,} questions left out: {told}"))
        batch_tokens, seed = config.train.batch_tokens, config.train.seed
        answers = None
        if teacher:
            folder = state_folder(out) if out else None
            answers = teacher_answers(
                teacher, examples, known_as=known_as, folder=folder, progress=progress
            )
        return choice_data(
            chooser,
            examples,
            batch_tokens=batch_tokens,
            seed=seed,
            start=losses if init else None,
            answers=answers,
            progress=progress,
        )

    objective = partial(choice_loss, losses)
    trainee = Trainee(
        model=chooser,
        data=data,
        objective=matching_states(objective, config.teacher, chooser),
        evaluate=partial(evaluate, chooser, dev) if dev else None,
        metric="accuracy",
        card=partial(chooser_card, chooser),
        reopen=TextChooser.load,
        metadata={"teacher": teacher.name} if teacher else {},
        settings=f"# teacher and texts {known_as}\n" if teacher else "",
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


def evaluate_file(chooser: TextChooser, file: Path) -> dict[str, Any]:
    """Score a model on a task file; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read.
    """
    return evaluate(chooser, read_choice_examples(file))
