"""Fine-tuning a multiple-choice model: questions and an encoder in, a model folder out."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.configio import check_at_least
from zh_albert.errors import DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import FORBIDDEN
from zh_albert.tasks import run
from zh_albert.tasks.choice.assignment import choose
from zh_albert.tasks.choice.card import chooser_card
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import ChoiceExample, accuracy
from zh_albert.tasks.choice.linear_probe import probe_scores, some_of
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.evaluation import timed
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.taught import Questions
from zh_albert.tasks.windows import collate_windows, merged_outputs
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    # In the encoder and before the last layer. The choices of a question share their context and
    # differ little; dropout masks each differently and changed their logits by more than their
    # difference (docs/experiments/multiple-choice.md).
    dropout: float | None = 0.0
    pooling: Literal["first", "mean"] = "mean"  # "first" opens in transformers
    # Of a longer context, the sentences nearest to question and choices are read; 0: all of it.
    # A small model learns nothing from an answer within much text and loses its initialization
    # (docs/experiments/multiple-choice.md).
    context_tokens: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(0, "model.context_tokens", self.context_tokens)


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    # All choices of a question are in one batch, so several questions need more tokens.
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(epochs="auto", peak_lr=1e-4, batch_tokens=4096)
    )


class ChoiceJob(FineTuningJob[ChoiceExample, TextChooser]):
    """Fine-tuning of a multiple-choice model.

    Raises:
        DataError: If there is no question to train on, or one has no content.
    """

    model_type = TextChooser
    config_type = FinetuneConfig
    card = staticmethod(chooser_card)

    def settle(self) -> None:
        """See ``FineTuningJob``."""
        if not self.examples:
            raise DataError("expected questions to learn from, found none")

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextChooser:
        """See ``FineTuningJob``."""
        settings = self.config.model
        if settings.dropout is not None:
            sizes = replace(sizes, classifier_dropout_prob=settings.dropout)
        return TextChooser(
            sizes,
            tokenizer,
            window=self.config.window,
            pooling=settings.pooling,
            context_tokens=settings.context_tokens,
        )

    def encode(self, progress: Observer) -> Sequence[Size]:  # noqa: ARG002
        """See ``FineTuningJob``: all choices of a question together."""
        self.questions_read = self.model.encode([example.asked for example in self.examples])
        self.labels = torch.tensor([example.label for example in self.examples])
        self.counts = torch.tensor([len(choices) for choices in self.questions_read])
        batch_tokens, sizes = self.config.train.batch_tokens, []
        for choices in self.questions_read:
            parts = [choice.size.within(batch_tokens // len(choices)) for choice in choices]
            sizes.append(Size(sum(part.rows for part in parts), max(part.length for part in parts)))
        return sizes

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``; of a question too long for a batch some windows are drawn."""
        texts, rng, chosen = [], random.Random(item.seed), item.texts
        for choices in (self.questions_read[number] for number in chosen):
            same = rng.random()  # the same parts of the context for all choices
            room = self.config.train.batch_tokens // len(choices)
            texts += [choice.drawn(room, random.Random(same)) for choice in choices]
        inputs = collate_windows(texts, self.model.config.pad_token_id) | self._inputs(chosen)
        return Batch(inputs, weight=len(chosen), tokens=sum(text.tokens for text in texts))

    def _inputs(self, chosen: list[int]) -> dict[str, Tensor]:
        own = {"labels": self.labels[chosen], "counts": self.counts[chosen]}
        return own | self.soft_inputs(chosen)

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """Return the loss of the merged logits, summed over the questions."""
        logits = merged_outputs(network, inputs, int(inputs["counts"].sum()), odds=True)
        return LossOutput(self._losses(logits, inputs).sum())

    def _losses(self, logits: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return the loss of each question's choices. Shape: (questions,)."""
        counts = inputs["counts"]
        # A row for each question; missing choices are padded with an impossible score.
        there = torch.arange(int(counts.max()), device=counts.device) < counts[:, None]

        def table(logits: Tensor) -> Tensor:
            return logits.new_full(there.shape, FORBIDDEN).masked_scatter(there, logits)

        ours = table(logits[:, 0])
        losses = F.cross_entropy(ours, inputs["labels"], reduction="none")
        if "soft_targets" in inputs:
            theirs = table(inputs["soft_targets"])
            soft = self.config.teacher.distance(ours, theirs)
            losses = losses.lerp(soft, inputs["soft_share"])
        return losses

    def probe(self, progress: Observer) -> None:
        """See ``FineTuningJob``."""
        drawn = some_of(len(self.questions_read), seed=self.config.train.seed)
        data = self._inputs(drawn)
        some = [self.questions_read[number] for number in drawn]
        probe_scores(self.model, some, lambda logits: self._losses(logits, data), progress=progress)

    def chance_loss(self) -> float | None:
        """See ``FineTuningJob``."""
        if self.teachers:
            return None
        counts = [len(choices) for choices in self.questions_read]
        return sum(map(math.log, counts)) / len(counts)

    def asked(self) -> list[Any]:
        """See ``FineTuningJob``."""
        return [example.asked for example in self.examples]

    def questions(self) -> Questions:
        """See ``FineTuningJob``: a logit for each choice."""
        asked = self.asked()
        counts = [len(one.choices) for one in asked]
        return Questions([len(one.choices) * len(one.context) for one in asked], 1, counts)

    def teacher_logits(self, teacher: TextChooser, instances: list[int]) -> Tensor:
        """See ``FineTuningJob``."""
        return teacher.logits_of(teacher.encode([self.examples[n].asked for n in instances]))

    def shaped(self, logits: Tensor, chosen: list[int]) -> Tensor:  # noqa: ARG002
        """See ``FineTuningJob``. Shape: (choices of all questions,)."""
        return logits[:, 0]

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev)


JOB = ChoiceJob
finetune = partial(run.finetune, JOB)


def evaluate(chooser: TextChooser, examples: Sequence[ChoiceExample]) -> dict[str, Any]:
    """Return ``accuracy``, ``examples`` and ``seconds`` (of prediction)."""
    questions = [example.asked for example in examples]

    def predict() -> list[int]:
        return choose(questions, chooser.probabilities_of(chooser.encode(questions)))

    return timed(examples, predict, partial(accuracy, examples))
