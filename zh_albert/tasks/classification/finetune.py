"""Fine-tuning a classifier: labelled texts or pairs and an encoder in, a model folder out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zh_albert.errors import CheckpointError, ConfigError, nearest
from zh_albert.model.config import AlbertConfig
from zh_albert.tasks import run
from zh_albert.tasks.classification.card import classifier_card
from zh_albert.tasks.classification.class_contrast import ClassContrastConfig, draw_together
from zh_albert.tasks.classification.class_weights import class_weights
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.head_selection import head_for, head_from, refuse_unknown
from zh_albert.tasks.classification.heads import HeadName, LabelHead
from zh_albert.tasks.classification.linear_probe import probe_head, probe_pays, some_of
from zh_albert.tasks.classification.ngram_learning import are_few, fit_ngram_classifier
from zh_albert.tasks.classification.soft_targets import (
    as_students_logits,
    describe_labels,
    soft_chance_loss,
    soft_losses,
)
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.evaluation import noted, timed
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.taught import Questions
from zh_albert.tasks.windows import collate_windows, merged_outputs
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    pooling: Literal["first", "mean"] = "mean"  # "first" opens as a classifier in transformers
    head: HeadName | None = None  # None: "classes" for strings, "multi_label" for lists
    # An ensemble with a linear n-gram model. None: if possible, that is for one class or one value
    # for each text and with pooling = "mean"; beside a head alone (train.epochs = 0) only of few
    # texts, or with dev.
    ngrams: bool | None = None
    # For pairs whose order makes no difference: trained on either order, predicted by the mean of
    # both, which takes twice as long.
    symmetric: bool = False
    # For values of how much two texts say the same: the highest of two that look alike and surely
    # say different things, by rule: other numbers, a negation, an opposite, parts that change
    # places. None: that is not looked for.
    different_at_most: float | None = None
    # For classes of pairs: what two such texts add to the logits, by the name of the class.
    different_adds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling == "first":
            for name, lost in (("ngrams", "without the n-grams"), ("symmetric", "in one order")):
                if getattr(self, name):
                    raise ConfigError(
                        f'{name} = true needs pooling = "mean": a folder with "first" opens in '
                        f"transformers, which would answer {lost}"
                    )


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    # Weights of the classes in the loss and in the n-gram model; "balanced": n / (k · n_c) for a
    # class of n_c texts out of n in k classes; or a table, where a class left out has 1.
    class_weights: Literal["balanced"] | dict[str, float] | None = None
    # For a few texts of each class: draw texts of a class together before the head is fitted.
    contrast: ClassContrastConfig | None = None


class ClassificationJob(FineTuningJob[TextExample, TextClassifier]):
    """Fine-tuning of a classifier of texts or of pairs of texts.

    Raises:
        ConfigError: If settings do not fit the labels or the texts.
        CheckpointError: If the teacher has other classes.
        DataError: If dev has labels that training lacks, or the labels do not fit the head; see
            ``head_for``.
    """

    takes_unlabelled = True
    model_type = TextClassifier
    config_type = FinetuneConfig
    card = staticmethod(classifier_card)

    def settle(self) -> None:
        """See ``FineTuningJob``."""
        settings = self.config.model
        self.head: LabelHead
        if self.started is not None:
            self.head = self.started.head
            refuse_unknown(self.head, self.examples, "the training examples")
        else:
            self.head = head_for([example.label for example in self.examples], settings.head)
        self.metric_names = self.head.metric_names
        refuse_unknown(self.head, self.dev, "the dev examples")
        self.pairs = isinstance(self.examples[0].text, tuple)
        if settings.symmetric and not self.pairs:
            raise ConfigError(
                "model.symmetric = true is for pairs of texts, the examples are single texts; "
                "leave it out"
            )
        if settings.different_at_most is not None and not (
            self.pairs and self.head.name == "regression"
        ):
            raise ConfigError(
                "model.different_at_most is for values of pairs of texts (model.head=regression); "
                "leave it out"
            )
        if settings.different_adds and not (self.pairs and self.head.name == "classes"):
            raise ConfigError("model.different_adds is for classes of pairs of texts; leave it out")
        if unknown := sorted({*settings.different_adds} - {*self.head.labels}):
            hint = nearest(unknown[0], self.head.labels)
            raise ConfigError(f"model.different_adds: no class {unknown[0]!r}; {hint}")
        several = self.head.name == "multi_label"
        if settings.ngrams and several:
            raise ConfigError(
                "model.ngrams = true is for one class or value each, the examples have several "
                "classes; leave it out"
            )
        if self.config.contrast and (self.head.name != "classes" or self.init is None):
            raise ConfigError(
                "contrast draws texts of one class together, in a trained encoder: it needs one "
                "class for each text, and an encoder to start from (--init); leave it out"
            )
        labels = [example.label for example in self.examples]
        self.class_weights = class_weights(self.config.class_weights, self.head, labels)
        # Beside a head that was fitted alone, whose logits are small, the margins of many texts
        # weigh too much, unless dev chooses their weight.
        weighed = self.config.train.epochs != 0 or bool(self.dev)
        weighed |= not self.pairs and are_few(len(self.examples), len(self.head.labels))
        possible = not several and settings.pooling == "mean" and weighed
        self.with_ngrams = possible if settings.ngrams is None else settings.ngrams

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextClassifier:
        """See ``FineTuningJob``."""
        return TextClassifier(
            sizes,
            tokenizer,
            self.head,
            window=self.config.window,
            pairs=self.pairs,
            symmetric=self.config.model.symmetric,
            different_at_most=self.config.model.different_at_most,
            different_adds=self.config.model.different_adds,
            pooling=self.config.model.pooling,
        )

    def encode(self, progress: Observer) -> Sequence[Size]:  # noqa: ARG002
        """See ``FineTuningJob``."""
        labelled, further = self.examples, self.unlabelled
        self.contents = [example.text for example in [*labelled, *further]]
        self.texts = self.model.encode(self.contents)
        targets = self.head.targets([example.label for example in labelled])
        none = targets.new_zeros(len(further), *targets.shape[1:])  # nothing is learned from them
        self.targets = torch.cat([targets, none])
        weights = torch.tensor([example.weight for example in labelled])
        if self.class_weights is not None:
            weights *= self.class_weights[targets]
        # A batch's loss is divided by the sum of its texts' weights (``load``), not by their
        # number: so it stays a mean, and the learning rate means the same with any weights.
        self.weights = torch.cat([weights, torch.ones(len(further))])
        batch_tokens = self.config.train.batch_tokens
        return [text.readings[0].size.within(batch_tokens) for text in self.texts]

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``; of a symmetric pair a batch has one order."""
        rng, batch_tokens = random.Random(item.seed), self.config.train.batch_tokens
        own = self._inputs(item.texts)
        texts = [rng.choice(self.texts[n].readings).drawn(batch_tokens, rng) for n in item.texts]
        inputs = collate_windows(texts, self.model.config.pad_token_id) | own
        weight = float(self.weights[item.texts].sum())
        return Batch(inputs, weight=weight, tokens=sum(text.tokens for text in texts))

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """Return the weighted loss of the merged logits, summed over the texts."""
        logits = merged_outputs(network, inputs, len(inputs["targets"]))
        return LossOutput((self._losses(logits, inputs) * inputs["weights"]).sum())

    def _inputs(self, chosen: list[int]) -> dict[str, Tensor]:
        own = {"targets": self.targets[chosen], "weights": self.weights[chosen]}
        return own | self.soft_inputs(chosen)

    def _losses(self, logits: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return the loss of each text, by its label and its soft targets. Shape: (texts,)."""
        losses = self.head.losses(logits, inputs["targets"])
        if "soft_targets" in inputs:
            soft = soft_losses(self.head, logits, inputs["soft_targets"], self.config.teacher)
            losses = losses.lerp(soft, inputs["soft_share"])
        return losses

    def fit_ngrams(self, progress: Observer) -> None:
        """See ``FineTuningJob``."""
        if self.with_ngrams:
            labelled = slice(len(self.examples))
            self.model.ngrams = fit_ngram_classifier(
                self.texts[labelled],
                self.targets[labelled].numpy(),
                self.weights[labelled].numpy(),
                progress=progress,
            )

    def probe(self, progress: Observer) -> None:
        """See ``FineTuningJob``."""
        pad, train = self.model.config.pad_token_id, self.config.train
        counting = self.weights.nonzero()[:, 0].tolist()
        labelled = [number for number in counting if number < len(self.examples)]
        if contrast := self.config.contrast:
            some = some_of(labelled, seed=train.seed)
            classes, texts = self.targets[some].tolist(), [self.texts[number] for number in some]
            draw_together(
                self.model.module, texts, classes, contrast, train, pad=pad, progress=progress
            )
        drawn = some_of(counting if self.soft_targets else labelled, seed=train.seed)
        texts = [self.texts[number] for number in drawn]
        if self.config.train.epochs and not probe_pays(texts, len(self.head.labels)):
            return
        inputs = self._inputs(drawn)
        losses = partial(self._losses, inputs=inputs)
        probe_head(self.model, texts, losses, inputs["weights"], progress=progress)

    def chance_loss(self) -> float:
        """See ``FineTuningJob``."""
        labelled = slice(len(self.examples))
        of_labels = self.head.chance_loss(self.targets[labelled], self.weights[labelled])
        if not self.soft_targets:
            return of_labels
        some = list(range(0, len(self.texts), -(-len(self.texts) // 10_000)))
        of_answers = soft_chance_loss(self.head, self.taught(some), self.config.teacher)
        share = float(self.soft_share.mean())
        return share * of_answers + (1 - share) * of_labels

    def check_teacher(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """See ``FineTuningJob``."""
        theirs, ours = head_from(settings), self.head
        if theirs.name != ours.name or sorted(theirs.labels) != sorted(ours.labels):
            raise CheckpointError(
                f"{folder}: expected a teacher of the training data's labels "
                f"({describe_labels(ours)}), found one of {describe_labels(theirs)}; "
                "fine-tune it on these data"
            )

    def questions(self) -> Questions:
        """See ``FineTuningJob``."""
        lengths = [len("".join(content)) for content in self.contents]
        return Questions(lengths, len(self.head.labels))

    def teacher_logits(self, teacher: TextClassifier, instances: list[int]) -> Tensor:
        """See ``FineTuningJob``."""
        logits = teacher.logits_of(teacher.encode([self.contents[n] for n in instances]))
        return as_students_logits(logits, teacher.head, self.head)

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev, tune=self.metric)


JOB = ClassificationJob
finetune = partial(run.finetune, JOB)


def evaluate(
    classifier: TextClassifier, examples: Sequence[TextExample], *, tune: str | None = None
) -> dict[str, Any]:
    """Return the head's metrics, ``examples`` and ``seconds`` (of prediction).

    With ``tune`` also ``one_sided``, a warning, if all answers are the same class.

    Args:
        classifier: The classifier to score.
        examples: Examples to score it on.
        tune: First tune the decision parameters on them by this metric; see ``tuned_scores``.
    """
    gold = [example.label for example in examples]

    def predict() -> NDArray[np.float32]:
        encoded = classifier.encode([example.text for example in examples])
        if tune:
            return classifier.tuned_scores(encoded, gold, tune)
        return classifier.scores_of(encoded)

    def score(found: NDArray[np.float32]) -> dict[str, Any]:
        warning = classifier.head.one_sided(gold, found) if tune else ""
        return classifier.head.metrics(gold, found) | noted(warning)

    return timed(examples, predict, score)
