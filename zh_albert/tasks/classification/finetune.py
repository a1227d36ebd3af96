"""Fine-tuning a classifier: labelled texts or pairs and an encoder in, a model folder out."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.distillation.hidden_states import matching_states
from zh_albert.distillation.soft_targets import TeacherConfig, fingerprint, refuse_untaught
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.card import classifier_card
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import (
    TextExample,
    UnlabelledText,
    read_pair_examples,
    read_text_examples,
)
from zh_albert.tasks.classification.heads import HeadName, LabelHead, head_for, refuse_unknown
from zh_albert.tasks.classification.linear_probe import probe_head, probe_pays, some_of
from zh_albert.tasks.classification.ngram_learning import fit_ngram_classifier
from zh_albert.tasks.classification.soft_targets import Lessons, Teacher
from zh_albert.tasks.job import (
    JobConfig,
    Losses,
    NetworkConfig,
    Trainee,
    TrainingData,
    finetune_model,
    starting_point,
)
from zh_albert.tasks.texts import Content, fresh
from zh_albert.tasks.window_outputs import collate_windows, merged_outputs
from zh_albert.training.batching import ShuffledSource
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput
from zh_albert.training.resume import RunState, seed_torch
from zh_albert.training.run_folder import state_folder
from zh_albert.training.stages import silent


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    pooling: Literal["first", "mean"] = "mean"  # "first" opens as a classifier in transformers
    head: HeadName | None = None  # None: "classes" for strings, "multi_label" for lists
    # A linear model of n-grams votes beside the network. None: wherever it can, that is for one
    # class or one value each and with pooling = "mean".
    ngrams: bool | None = None
    # Pairs in which the order makes no difference: trained on in either, answered by the mean of
    # both, which takes twice as long.
    symmetric: bool = False

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
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    teacher: TeacherConfig | None = None


def new_classifier(
    head: LabelHead, config: FinetuneConfig, *, pairs: bool = False, init: Path | None
) -> TextClassifier:
    """Make an untrained classifier.

    Args:
        head: What its logits shall mean.
        config: ``train.seed`` decides the random weights.
        pairs: Whether it reads pairs of texts.
        init: See ``starting_point``.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    classifier = TextClassifier(
        sizes,
        tokenizer,
        head,
        window=config.window,
        pairs=pairs,
        symmetric=config.model.symmetric,
        pooling=config.model.pooling,
    )
    if init is not None:
        load_encoder(classifier.module, init)
    return classifier


def classification_data(
    classifier: TextClassifier,
    examples: Sequence[TextExample],
    *,
    batch_tokens: int,
    seed: int,
    ngrams: bool = False,
    start: Losses | None = None,
    unlabelled: Sequence[Content] = (),
    lessons: Lessons | None = None,
    progress: Observer = silent,
) -> TrainingData:
    """Return batches of texts for ``classification_loss``.

    Args:
        classifier: Encodes them.
        examples: Texts or pairs.
        batch_tokens: Padded tokens of a batch. Of a text that has more it has some windows.
        seed: Decides the order.
        ngrams: First give the classifier n-grams of these texts, too.
        start: Where that pays, first fit its head to some of them, by these losses.
        unlabelled: Further texts or pairs, for which there are lessons only.
        lessons: What a teacher says of all of them; None: there is none.
        progress: Told how far it is.
    """
    texts = classifier.encode([example.text for example in examples])
    targets = classifier.head.targets([example.label for example in examples])
    weights = torch.tensor([example.weight for example in examples])
    if ngrams:
        classifier.ngrams = fit_ngram_classifier(
            texts, targets.numpy(), weights.numpy(), progress=progress
        )
    chance_loss = classifier.head.chance_loss(targets, weights)
    if lessons:
        chance_loss = lessons.chance_loss(chance_loss)
        texts += classifier.encode(unlabelled)
        none = targets.new_zeros(len(unlabelled), *targets.shape[1:])  # of which nothing is learned
        targets = torch.cat([targets, none])
        weights = torch.cat([weights, torch.ones(len(unlabelled))])

    def wanted(item: list[int]) -> dict[str, Tensor]:
        soft = lessons.inputs(item) if lessons else {}
        return {"targets": targets[item], "weights": weights[item], **soft}

    def load(item: list[int], rng: random.Random) -> Batch:
        # Of a pair in both orders a batch has one.
        chosen = [rng.choice(texts[index].readings).drawn(batch_tokens, rng) for index in item]
        inputs = collate_windows(chosen, classifier.config.pad_token_id) | wanted(item)
        tokens = sum(text.tokens for text in chosen)
        return Batch(inputs, weight=float(weights[item].sum()), tokens=tokens)

    if start:
        drawn = some_of(weights.nonzero()[:, 0].tolist(), seed=seed)
        chosen, told = [texts[index] for index in drawn], wanted(drawn)
        if probe_pays(chosen, len(classifier.labels)):
            own = weights[drawn]
            probe_head(
                classifier, chosen, lambda logits: start(logits, told), own, progress=progress
            )
    sizes = [text.readings[0].size.within(batch_tokens) for text in texts]
    source = ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)
    return TrainingData(source, chance_loss)


def text_losses(
    head: LabelHead, teacher: Teacher | None, logits: Tensor, inputs: dict[str, Tensor]
) -> Tensor:
    """Return each text's loss, by its labels and by what the teacher says. Shape: (texts,)."""
    losses = head.losses(logits, inputs["targets"])
    if teacher:
        losses = losses.lerp(teacher.losses(logits, inputs["soft_targets"]), inputs["soft_share"])
    return losses


def classification_loss(losses: Losses, module: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
    """Weighted loss of the merged logits, summed over the texts."""
    logits = merged_outputs(module, inputs, len(inputs["targets"]))
    return LossOutput((losses(logits, inputs) * inputs["weights"]).sum())


def finetune(
    examples: Sequence[TextExample],
    dev: Sequence[TextExample],
    config: FinetuneConfig,
    *,
    unlabelled: Sequence[UnlabelledText] = (),
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextClassifier, RunState]:
    """Train a classifier.

    Args:
        examples: To learn from.
        dev: To choose the best weights by the head's metric (and the threshold of a multi-label
            model); empty: the last weights are taken.
        config: See there.
        unlabelled: Further texts to learn from, with a teacher; those that also occur in
            ``examples`` or ``dev`` are left out.
        init: A folder with an encoder to start from; None: random weights.
        out: The model folder to write; ``out/training`` holds the run's own files. None: nothing
            is written.
        resume: Go on where an interrupted run in ``out`` stopped.
        observers: Called during training, see ``training.events``.

    Returns:
        The classifier with its best weights, and where the run ended (best dev metrics, seconds).

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given, or there are
            unlabelled texts but no teacher.
        CheckpointError: If the teacher cannot teach this; see ``Teacher.find``.
        DataError: If an example holds no text, dev has labels that training lacks, or the labels
            do not fit the head; see ``head_for``.
    """
    head = head_for([example.label for example in examples], config.model.head)
    refuse_unknown(head, dev, "the dev examples")
    pairs = isinstance(examples[0].text, tuple)
    if config.model.symmetric and not pairs:
        raise ConfigError("symmetric = true is for pairs of texts; the examples are single ones")
    several = head.name == "multi_label"
    if config.model.ngrams and several:
        raise ConfigError("ngrams = true is for one class or value each, not for several classes")
    ngrams = config.model.ngrams
    if ngrams is None:
        ngrams = not several and config.model.pooling == "mean"
    refuse_untaught(unlabelled, config.teacher)
    classifier = new_classifier(head, config, pairs=pairs, init=init)
    labelled = [example.text for example in examples]
    further = [text.text for text in fresh(unlabelled, [*examples, *dev])]
    teacher, known_as = None, ""
    if config.teacher:
        teacher = Teacher.find(config.teacher, head, pairs=pairs)
        known_as = fingerprint(teacher.folder, [*labelled, *further])
    losses = partial(text_losses, head, teacher)

    def data(progress: Observer) -> TrainingData:
        lessons = None
        if teacher:
            folder = state_folder(out) if out else None
            lessons = Lessons.ask(
                teacher, labelled, further, known_as=known_as, folder=folder, progress=progress
            )
        return classification_data(
            classifier,
            examples,
            batch_tokens=config.train.batch_tokens,
            seed=config.train.seed,
            ngrams=ngrams,
            start=losses if init is not None else None,
            unlabelled=further,
            lessons=lessons,
            progress=progress,
        )

    objective = partial(classification_loss, losses)
    trainee = Trainee(
        model=classifier,
        data=data,
        objective=matching_states(objective, config.teacher, classifier),
        evaluate=partial(evaluate, classifier, dev, tune=True) if dev else None,
        metric=head.metric,
        card=partial(classifier_card, classifier),
        reopen=TextClassifier.load,
        metadata={"teacher": teacher.folder.name, "unlabelled": len(further)} if teacher else {},
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


def evaluate(
    classifier: TextClassifier, examples: Sequence[TextExample], *, tune: bool = False
) -> dict[str, float]:
    """Return the head's metrics, ``examples`` and ``seconds`` (of prediction).

    Args:
        classifier: To be scored.
        examples: To score it on.
        tune: First choose on them what is decided after training; see ``tuned_scores``.
    """
    start, gold = time.perf_counter(), [example.label for example in examples]
    encoded = classifier.encode([example.text for example in examples])
    found = classifier.tuned_scores(encoded, gold) if tune else classifier.scores_of(encoded)
    seconds = time.perf_counter() - start
    scores = classifier.head.metrics(gold, found)
    return {**scores, "examples": len(examples), "seconds": round(seconds, 3)}


def evaluate_file(classifier: TextClassifier, file: Path) -> dict[str, Any]:
    """Score a model on a task file; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read, or has labels that the model does not know.
    """
    examples = (read_pair_examples if classifier.pairs else read_text_examples)(file)
    refuse_unknown(classifier.head, examples, file)
    return evaluate(classifier, examples)
