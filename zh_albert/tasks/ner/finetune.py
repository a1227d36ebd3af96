"""Fine-tuning a tagger: texts with entities and an encoder in, a model folder out."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.distillation.hidden_states import matching_states
from zh_albert.distillation.soft_targets import TeacherConfig, fingerprint, refuse_untaught
from zh_albert.errors import ConfigError
from zh_albert.model.taggers import Head, TokenTagger
from zh_albert.tasks.job import (
    JobConfig,
    NetworkConfig,
    Trainee,
    TrainingData,
    finetune_model,
    starting_point,
)
from zh_albert.tasks.ner.card import tagger_card
from zh_albert.tasks.ner.examples import (
    EntityExample,
    read_entity_examples,
    type_names,
    types_in,
)
from zh_albert.tasks.ner.heads import EntityHead, Passage
from zh_albert.tasks.ner.linear_probe import probe_emissions
from zh_albert.tasks.ner.metrics import entity_metrics
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.passages import training_passages
from zh_albert.tasks.ner.soft_targets import SoftTags, asked, find_tagger
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.texts import fresh, refuse_unseen
from zh_albert.tasks.windows import pad_windows
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.batching import ShuffledSource
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import Batch, LossOutput
from zh_albert.training.resume import RunState, seed_torch
from zh_albert.training.run_folder import state_folder


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    head: Head = "crf"  # "softmax" opens in transformers; "global_pointer" nests entities
    # A small tagger over n-grams beside the network; None: where the head is "crf".
    ngrams: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ngrams and self.head != "crf":
            raise ConfigError(f'ngrams = true needs head = "crf", found "{self.head}"')


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    teacher: TeacherConfig | None = None  # for the heads that have tags


def new_tagger(types: Sequence[str], config: FinetuneConfig, *, init: Path | None) -> TextTagger:
    """Make an untrained tagger.

    Args:
        types: Of entities.
        config: ``train.seed`` decides the random weights.
        init: See ``starting_point``.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    tagger = TextTagger(sizes, tokenizer, types, window=config.window, head=config.model.head)
    if init is not None:
        load_encoder(tagger.module, init)
    return tagger


def entity_source(
    tagger: TextTagger,
    passages: Sequence[Passage],
    *,
    batch_tokens: int,
    seed: int,
    lessons: SoftTags | None = None,
) -> ShuffledSource:
    """Return batches of passages for ``entity_loss``, with what a teacher says if there is one."""

    def load(item: list[int], _: random.Random) -> Batch:
        chosen = [passages[index] for index in item]
        windows = [window for passage in chosen for window in passage.text.windows]
        inputs = pad_windows(windows, tagger.config.pad_token_id)
        targets = tagger.head.targets(chosen, inputs["mask"].shape[1])
        targets |= lessons.inputs(item) if lessons else {}
        tokens = sum(passage.text.tokens for passage in chosen)
        return Batch({**inputs, **targets}, weight=tagger.head.weight(chosen), tokens=tokens)

    sizes = [passage.text.size for passage in passages]
    return ShuffledSource(sizes, load, batch_tokens=batch_tokens, seed=seed)


def entity_loss(
    head: EntityHead, teacher: TeacherConfig | None, module: nn.Module, inputs: dict[str, Tensor]
) -> LossOutput:
    """Return the head's loss of the network's scores."""
    scores = module(*(inputs[name] for name in INPUT_NAMES))
    if teacher and isinstance(head, TagHead):
        return LossOutput(head.loss_with_soft_targets(scores, inputs, teacher.temperature))
    return LossOutput(head.loss(scores, inputs))


def finetune(
    examples: Sequence[EntityExample],
    dev: Sequence[EntityExample],
    config: FinetuneConfig,
    *,
    unlabelled: Sequence[EntityExample] = (),
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextTagger, RunState]:
    """Train a tagger.

    Entities that cannot be taught as they stand are counted in a warning event; see
    ``alignment.Losses``. Scores always count all of them.

    Args:
        examples: To learn from.
        dev: To choose the best weights by F1; empty: the last weights are taken.
        config: See there.
        unlabelled: Further texts to learn from, with a teacher; those that also occur in
            ``examples`` or ``dev`` are left out, and so are their entities.
        init: A folder with an encoder to start from; None: random weights.
        out: The model folder to write; ``out/training`` holds the run's own files. None: nothing
            is written.
        resume: Go on where an interrupted run in ``out`` stopped.
        observers: Called during training, see ``training.events``.

    Returns:
        The tagger with its best weights, and where the run ended (best dev metrics, seconds).

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given, there are
            unlabelled texts but no teacher, or the head cannot be taught by one.
        CheckpointError: If the teacher cannot teach this; see ``find_tagger``.
        DataError: If there is no entity at all, or dev has types that training lacks.
    """
    types = type_names(examples)
    refuse_unseen(types_in(dev), types, "the dev examples", "types")
    refuse_untaught(unlabelled, config.teacher)
    tagger = new_tagger(types, config, init=init)
    batch_tokens, seed = config.train.batch_tokens, config.train.seed
    further = [EntityExample(e.text, ()) for e in fresh(unlabelled, [*examples, *dev])]
    teacher, known_as = None, ""
    if config.teacher:
        teacher = find_tagger(config.teacher, tagger)
        texts = [example.text for example in [*examples, *further]]
        known_as = fingerprint(teacher, asked(texts, tagger, batch_tokens))

    def data(progress: Observer) -> TrainingData:
        passages, losses = training_passages(tagger, examples, batch_tokens=batch_tokens)
        if told := str(losses):
            progress(Warned(update=0, text=told))
        chance_loss = tagger.head.chance_loss(passages)
        if config.model.head == "crf" and config.model.ngrams is not False:
            tagger.ngrams = NgramTagger.fit(passages, len(types), seed=seed, progress=progress)
        network = tagger.module
        if init is not None and isinstance(network, TokenTagger):
            labelled = entity_source(tagger, passages, batch_tokens=batch_tokens, seed=seed)
            probe_emissions(network, labelled)
        lessons = None
        if config.teacher and teacher:
            others, _ = training_passages(tagger, further, batch_tokens=batch_tokens)
            shares = [config.teacher.weight] * len(passages) + [1.0] * len(others)
            passages += others
            lessons = SoftTags.ask(
                teacher,
                tagger,
                passages,
                shares=shares,
                known_as=known_as,
                folder=state_folder(out) if out else None,
                progress=progress,
            )
            chance_loss = None  # that of the labels says nothing of a mixture
        source = entity_source(
            tagger, passages, batch_tokens=batch_tokens, seed=seed, lessons=lessons
        )
        return TrainingData(source, chance_loss)

    objective = partial(entity_loss, tagger.head, config.teacher)
    trainee = Trainee(
        model=tagger,
        data=data,
        objective=matching_states(objective, config.teacher, tagger),
        evaluate=partial(evaluate, tagger, dev, tune=True) if dev else None,
        metric="f1",
        card=partial(tagger_card, tagger),
        reopen=TextTagger.load,
        metadata={"teacher": teacher.name, "unlabelled": len(further)} if teacher else {},
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
    tagger: TextTagger, examples: Sequence[EntityExample], *, tune: bool = False
) -> dict[str, Any]:
    """Return ``entity_metrics``, ``examples`` and ``seconds`` (of prediction).

    Args:
        tagger: To be scored.
        examples: To score it on.
        tune: First choose on them what the n-grams weigh.
    """
    start, texts = time.perf_counter(), [example.text for example in examples]
    encoded = tagger.encode(texts)
    if tune:
        predicted = tagger.tuned_entities(encoded, [example.entities for example in examples])
    else:
        predicted = tagger.entities_of(encoded)
    seconds = time.perf_counter() - start
    found = [[entity for entity, _ in entities] for entities in predicted]
    scores = entity_metrics([example.entities for example in examples], found)
    return {**scores, "examples": len(examples), "seconds": round(seconds, 3)}


def evaluate_file(tagger: TextTagger, file: Path) -> dict[str, Any]:
    """Score a model on a task file; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read, or has types that the model does not know.
    """
    examples = read_entity_examples(file)
    refuse_unseen(types_in(examples), tagger.labels, file, "types")
    return evaluate(tagger, examples)
