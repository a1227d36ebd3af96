"""Fine-tuning a reader: questions with answers and an encoder in, a model folder out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.configio import renamed
from zh_albert.distillation.hidden_states import matching_states
from zh_albert.distillation.losses import divergence
from zh_albert.distillation.soft_targets import (
    TeacherConfig,
    find_teacher,
    fingerprint,
    refuse_other_tokens,
)
from zh_albert.errors import ConfigError
from zh_albert.model.crf import FORBIDDEN
from zh_albert.tasks.job import (
    JobConfig,
    NetworkConfig,
    Trainee,
    TrainingData,
    finetune_model,
    starting_point,
)
from zh_albert.tasks.reading.card import reader_card
from zh_albert.tasks.reading.examples import ReadingExample, read_reading_examples
from zh_albert.tasks.reading.metrics import overlap_f1, reading_metrics
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.reading.soft_targets import ask_reader, soft_targets_of
from zh_albert.tasks.reading.spans import Reading
from zh_albert.tasks.reading.threshold import best_threshold
from zh_albert.tasks.reading.training_windows import (
    chance_loss,
    lesson_source,
    make_lessons,
    with_fewer_empty,
)
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import LossOutput
from zh_albert.training.resume import RunState, seed_torch
from zh_albert.training.run_folder import state_folder


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    simplify: bool = False  # read traditional characters as simplified ones (extra "corpora")
    # Whether it may give no answer. None: where training has unanswerable questions; false: these
    # are learned from, too, but it always answers.
    predicts_no_answer: bool | None = renamed("declines", default=None)


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
    window: WindowConfig = field(
        default_factory=lambda: WindowConfig(max_length=256, stride=96)
    )  # stride is also the longest answer
    teacher: TeacherConfig | None = None
    empty_share: float = 1.0  # of the windows without an answer that are learned from

    def __post_init__(self) -> None:
        if not 0 < self.empty_share <= 1:
            raise ConfigError(f"empty_share must be above 0 and at most 1, got {self.empty_share}")


def new_reader(
    config: FinetuneConfig, *, init: Path | None, predicts_no_answer: bool
) -> TextReader:
    """Make an untrained reader.

    Args:
        config: ``train.seed`` decides the random weights.
        init: See ``starting_point``.
        predicts_no_answer: Whether it may give no answer: where that is likelier than any, until a
            threshold is tuned.
    """
    sizes, tokenizer = starting_point(config.model, init)
    seed_torch(config.train.seed, 0, 0)
    reader = TextReader(
        sizes,
        tokenizer,
        window=config.window,
        simplify=config.model.simplify,
        threshold=0.0 if predicts_no_answer else None,
    )
    if init is not None:
        load_encoder(reader.module, init)
    return reader


def reading_loss(
    teacher: TeacherConfig | None, module: nn.Module, inputs: dict[str, Tensor]
) -> LossOutput:
    """Negative log-probability of any of the answers, in nats, summed over the windows.

    Start and end are drawn from ``[CLS]`` and the text's tokens, each for itself. With a teacher
    its weight goes to the divergence of both from what it said.
    """
    logits = module(*(inputs[name] for name in INPUT_NAMES)).float()
    elsewhere = ~inputs["places"][..., None]
    scores = logits.masked_fill(elsewhere, -math.inf).log_softmax(1)
    answers = inputs["answers"]
    both = scores.gather(1, answers.clamp(min=0)).sum(-1)  # of each answer's start and end
    right = both.masked_fill(answers[..., 0] < 0, -math.inf).logsumexp(-1)
    losses = -right
    if teacher:
        ours, theirs = (
            x.masked_fill(elsewhere, FORBIDDEN).transpose(1, 2)
            for x in (logits, inputs["soft_targets"])
        )
        losses = losses.lerp(divergence(ours, theirs, teacher.temperature).sum(1), teacher.weight)
    return LossOutput(losses.sum())


def finetune(
    examples: Sequence[ReadingExample],
    dev: Sequence[ReadingExample],
    config: FinetuneConfig,
    *,
    init: Path | None = None,
    out: Path | None = None,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[TextReader, RunState]:
    """Train a reader.

    A question whose answer cannot be taught is left out and counted in a warning event; see
    ``lessons.Losses``. Scores always count all of them.

    Args:
        examples: To learn from.
        dev: To choose the best weights by F1 and, where it has unanswerable questions, when to
            give no answer; empty: the last weights are taken.
        config: See there.
        init: A folder with an encoder to start from; None: random weights.
        out: The model folder to write; ``out/training`` holds the run's own files. None: nothing
            is written.
        resume: Go on where an interrupted run in ``out`` stopped.
        observers: Called during training, see ``training.events``.

    Returns:
        The reader with its best weights, and where the run ended (best dev metrics, seconds).

    Raises:
        ConfigError: If ``out`` holds a run already and ``resume`` is not given.
        CheckpointError: If the teacher is none for this task, or has another vocabulary.
        DataError: If a question holds nothing to read.
    """
    predicts_no_answer = config.model.predicts_no_answer
    if predicts_no_answer is None:
        predicts_no_answer = not all(example.references for example in examples)
    reader = new_reader(config, init=init, predicts_no_answer=predicts_no_answer)
    teacher, known_as = None, ""
    if config.teacher:
        teacher, _ = find_teacher(config.teacher, "reading")
        refuse_other_tokens(teacher, reader.tokenizer)
        # All that decides which windows it is asked, and what of them is simplified.
        decisive = [
            asdict(config.window),
            config.model.simplify,
            config.empty_share,
            config.train.seed,
        ]
        known_as = fingerprint(teacher, [decisive, *map(astuple, examples)])

    def data(progress: Observer) -> TrainingData:
        batch_tokens, seed = config.train.batch_tokens, config.train.seed
        lessons, losses = make_lessons(reader, examples)
        lessons = with_fewer_empty(lessons, config.empty_share, seed)
        if told := str(losses):
            progress(Warned(update=0, text=told))
        says = None
        if teacher:
            folder = state_folder(out) if out else None
            special = reader.tokenizer.special
            answers = ask_reader(
                teacher, lessons, special, known_as=known_as, folder=folder, progress=progress
            )
            says = partial(soft_targets_of, answers, lessons)
        source = lesson_source(
            reader, lessons, batch_tokens=batch_tokens, seed=seed, soft_targets=says
        )
        watched = lessons and not teacher  # guessing is worse than any teacher's answer
        return TrainingData(source, chance_loss(lessons) if watched else None)

    objective = partial(reading_loss, config.teacher)
    trainee = Trainee(
        model=reader,
        data=data,
        objective=matching_states(objective, config.teacher, reader),
        evaluate=partial(evaluate, reader, dev, tune=predicts_no_answer) if dev else None,
        metric="f1",
        card=partial(reader_card, reader),
        reopen=TextReader.load,
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


def evaluate(
    reader: TextReader, examples: Sequence[ReadingExample], *, tune: bool = False
) -> dict[str, Any]:
    """Return ``reading_metrics``, ``examples`` and ``seconds`` (of prediction).

    Args:
        reader: Its threshold is changed if ``tune`` says so.
        examples: With the right answers.
        tune: First choose the threshold that is best for these examples, if some of them have no
            answer.
    """
    start = time.perf_counter()
    asked = reader.encode([(example.question, example.context) for example in examples])
    readings = reader.read(asked)
    seconds = time.perf_counter() - start
    if tune and not all(example.references for example in examples):
        reader.threshold = _tuned(readings, examples)
    predicted = []
    for reading, example in zip(readings, examples, strict=True):
        (span, _), *_ = reading.answers(reader.threshold)
        predicted.append(example.context[span.start : span.end])
    scores = reading_metrics([example.references for example in examples], predicted)
    return {**scores, "examples": len(examples), "seconds": round(seconds, 3)}


def evaluate_file(reader: TextReader, file: Path) -> dict[str, Any]:
    """Score a model on a task file; see ``evaluate``.

    Raises:
        DataError: If the file cannot be read.
    """
    return evaluate(reader, read_reading_examples(file))


def _tuned(readings: Sequence[Reading], examples: Sequence[ReadingExample]) -> float:
    """Return the threshold with the highest F1."""
    rows = []
    for reading, example in zip(readings, examples, strict=True):
        if reading.best:
            log_odds, (start, end) = reading.best[0]
            f1 = overlap_f1(example.references, example.context[start:end])
            rows.append((log_odds, f1, float(not example.references)))
    return best_threshold(*zip(*rows, strict=True))
