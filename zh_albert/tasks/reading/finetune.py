"""Fine-tuning a reader: questions with answers and an encoder in, a model folder out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from zh_albert.checkpoints.store import load_config
from zh_albert.distillation.soft_targets import refuse_other_tokens
from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import FORBIDDEN
from zh_albert.tasks import run
from zh_albert.tasks.batched_inference import network_outputs
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.evaluation import noted, timed
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.reading.card import reader_card
from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tasks.reading.metrics import overlap_f1, reading_metrics
from zh_albert.tasks.reading.penalties import tuned_readings
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.spans import Reading
from zh_albert.tasks.reading.threshold import best_no_answer_threshold
from zh_albert.tasks.reading.training_windows import (
    chance_loss,
    training_windows,
    window_inputs,
    with_fewer_empty,
)
from zh_albert.tasks.taught import Questions
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import INPUT_NAMES, ModelInput
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import Batch, LossOutput


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    # Whether the model may predict no answer. None: if training has unanswerable questions; false:
    # these are trained on too, but the model always answers.
    predicts_no_answer: bool | None = None
    split_at_breaks: bool = True  # no answer goes behind a line end or ends with a comma


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    window: WindowConfig = field(
        default_factory=lambda: WindowConfig(max_length=256, stride=96)
    )  # stride is also the longest answer
    empty_share: float = 1.0  # fraction of the windows without an answer that are trained on

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.empty_share <= 1:
            raise ConfigError(f"empty_share must be above 0 and at most 1, got {self.empty_share}")


class ReadingJob(FineTuningJob[ReadingExample, TextReader]):
    """Fine-tuning of a reader.

    A question whose answer cannot be trained on is skipped and counted in a warning event; see
    ``training_windows.SkippedQuestions``. Scores always count all questions. If dev has
    unanswerable questions, the threshold for giving no answer is tuned on it.

    Raises:
        CheckpointError: If the teacher has another vocabulary.
        DataError: If a question has no content.
    """

    metric_names = ("f1", "exact_match")
    model_type = TextReader
    config_type = FinetuneConfig
    card = staticmethod(reader_card)

    def settle(self) -> None:
        """See ``FineTuningJob``."""
        unanswerable = not all(example.references for example in self.examples)
        wanted = self.config.model.predicts_no_answer
        if self.started is not None:
            wanted = self.started.threshold is not None
        self.predicts_no_answer = unanswerable if wanted is None else wanted

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextReader:
        """See ``FineTuningJob``; a reader that goes on from a reader keeps its head."""
        reader = TextReader(
            sizes,
            tokenizer,
            window=self.config.window,
            # Default until it is tuned: no answer if that is more likely than any answer.
            threshold=0.0 if self.predicts_no_answer else None,
            split_at_breaks=self.config.model.split_at_breaks,
        )
        if self.init is not None and load_config(self.init)[1].get("name") in TextReader.names:
            head = TextReader.load(self.init).module.answer.state_dict()
            reader.module.answer.load_state_dict(head)
        return reader

    def encode(self, progress: Observer) -> Sequence[Size]:
        """See ``FineTuningJob``."""
        windows, skipped = training_windows(self.model, self.examples)
        seed = self.config.train.seed
        self.windows = with_fewer_empty(windows, self.config.empty_share, seed)
        if warning := str(skipped):
            progress(Warned(update=0, text=warning))
        self.lengths = [one.question.length(one.window) for one in self.windows]
        return [Size(rows=1, length=length) for length in self.lengths]

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``."""
        chosen = item.texts
        windows = [self.windows[number] for number in chosen]
        inputs = window_inputs(windows, self.model.tokenizer.special) | self.soft_inputs(chosen)
        tokens = sum(self.lengths[number] for number in chosen)
        return Batch(inputs, weight=float(len(chosen)), tokens=tokens)

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """Return the negative log-probability of any of the answers, summed over the windows.

        Start and end have independent distributions over ``[CLS]`` and the text's tokens. With a
        teacher, its share of the loss is the divergence from the teacher's distributions.
        """
        logits = network(*(inputs[name] for name in INPUT_NAMES)).float()
        elsewhere = ~inputs["places"][..., None]
        scores = logits.masked_fill(elsewhere, -math.inf).log_softmax(1)
        answers = inputs["answers"]
        both = scores.gather(1, answers.clamp(min=0)).sum(-1)  # start and end of each answer
        losses = -both.masked_fill(answers[..., 0] < 0, -math.inf).logsumexp(-1)
        if "soft_targets" in inputs:
            ours, theirs = (
                x.masked_fill(elsewhere, FORBIDDEN).transpose(1, 2)
                for x in (logits, inputs["soft_targets"])
            )
            soft = self.config.teacher.distance(ours, theirs).sum(1)
            losses = losses.lerp(soft, inputs["soft_share"])
        return LossOutput(losses.sum())

    def chance_loss(self) -> float | None:
        """See ``FineTuningJob``; with a teacher it is an upper bound."""
        return chance_loss(self.windows) if self.windows and not self.teachers else None

    def check_teacher(self, folder: Path, settings: Mapping[str, Any]) -> None:  # noqa: ARG002
        """See ``FineTuningJob``."""
        refuse_other_tokens(folder, self.model.tokenizer)

    def asked(self) -> list[object]:
        """See ``FineTuningJob``."""
        config = self.config
        share, seed = config.empty_share, config.train.seed
        decisive = [asdict(config.window), config.model.simplify, share, seed]
        return [decisive, *map(astuple, self.examples)]

    def questions(self) -> Questions:
        """See ``FineTuningJob``: logits of start and end at every token."""
        return Questions(self.lengths, 2, self.lengths)

    def teacher_logits(self, teacher: TextReader, instances: list[int]) -> NDArray[np.float32]:
        """See ``FineTuningJob``; the teacher reads the student's windows."""
        special = self.model.tokenizer.special

        def window(number: int) -> ModelInput:
            one = self.windows[instances[number]]
            return one.question.window(one.window, special)

        found: dict[int, NDArray[np.float32]] = {}
        tokens = [self.lengths[number] for number in instances]
        for chosen, rows in network_outputs(tokens, window, teacher.runtime, teacher.config):
            found |= {n: row[: tokens[n]] for n, row in zip(chosen, rows, strict=True)}
        return np.concatenate([found[number] for number in range(len(instances))])

    def shaped(self, logits: Tensor, chosen: list[int]) -> Tensor:
        """See ``FineTuningJob``. Shape: (windows, length, 2)."""
        counts = [self.lengths[number] for number in chosen]
        return pad_sequence(list(torch.split(logits, counts)), batch_first=True)

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev, tune=True)


JOB = ReadingJob
finetune = partial(run.finetune, JOB)


def evaluate(
    reader: TextReader, examples: Sequence[ReadingExample], *, tune: bool = False
) -> dict[str, Any]:
    """Return ``reading_metrics``, ``examples`` and ``seconds`` (of prediction).

    With ``tune`` also ``one_sided``, a warning, if all questions are declined, or wrongly none.

    Args:
        reader: The reader to score.
        examples: Examples with the right answers.
        tune: First tune the penalties on these examples, and the threshold of a reader that has
            one, if some of them have no answer.
    """
    has_threshold = reader.threshold is not None

    def predict() -> list[Reading]:
        encoded = reader.encode([(one.question, one.context) for one in examples])
        return tuned_readings(reader, encoded, examples) if tune else reader.read(encoded)

    def score(readings: Sequence[Reading]) -> dict[str, Any]:
        if tune and has_threshold and not all(example.references for example in examples):
            reader.threshold = _tuned(readings, examples)
        spans = [reading.answers(reader.threshold)[0][0] for reading in readings]
        texts = [one.context[a:b] for one, (a, b) in zip(examples, spans, strict=True)]
        references = [example.references for example in examples]
        warning = _one_sided(references, texts) if tune and has_threshold else ""
        return reading_metrics(references, texts) | noted(warning)

    return timed(examples, predict, score)


def _one_sided(references: Sequence[Sequence[str]], answers: Sequence[str]) -> str:
    if any(references) and not any(answers):
        return (
            "the reader declines every question on dev, though some have answers. Try more epochs "
            "(train.epochs), a higher rate (train.peak_lr), or more examples with answers"
        )
    if not all(references) and all(answers):
        return (
            "the reader declines no question on dev, though some have no answer. Try more "
            "training examples without one, or more epochs (train.epochs)"
        )
    return ""


def _tuned(readings: Sequence[Reading], examples: Sequence[ReadingExample]) -> float:
    """Return the threshold with the highest F1; 0 if no context has an answer to give."""
    rows = []
    for reading, example in zip(readings, examples, strict=True):
        if reading.best:
            best = reading.best[0]
            f1 = overlap_f1(example.references, example.context[best.span.start : best.span.end])
            rows.append((best.log_odds, f1, float(not example.references)))
    return best_no_answer_threshold(*zip(*rows, strict=True)) if rows else 0.0
