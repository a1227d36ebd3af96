"""A fine-tuning run: the run folder, the training loop, the best checkpoint, the model folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.files import weights_fingerprint
from zh_albert.checkpoints.store import load_config
from zh_albert.configio import write_toml
from zh_albert.distillation.booster import Booster
from zh_albert.distillation.matching import task_matching
from zh_albert.distillation.route import GreedyTurns
from zh_albert.errors import ConfigError
from zh_albert.model.baking import bake
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.config import JobConfig
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.texts import examples_digest
from zh_albert.training.events import TASK_LOSS, ChanceWatch, Event, Observer, Warned
from zh_albert.training.loop import LossOutput, Objective, is_first_process, resolved, train
from zh_albert.training.method import Method, Methods
from zh_albert.training.precision import Autocast
from zh_albert.training.resume import RunState, seed_torch
from zh_albert.training.run_folder import open_run, run_observers, state_folder
from zh_albert.training.selection import BestCheckpoint
from zh_albert.training.stages import watched

Model = TypeVar("Model", bound=TaskModel[Any, Any])


@torch.random.fork_rng(devices=[])  # the caller's random numbers stay as they are
def finetune(
    job_type: type[FineTuningJob[Any, Model]],
    examples: Sequence[Any],
    dev: Sequence[Any],
    config: JobConfig,
    *,
    unlabelled: Sequence[Any] = (),
    init: Path | None = None,
    start: Path | None = None,
    out: Path | None = None,
    dtype: torch.dtype = torch.float16,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> tuple[Model, RunState]:
    """Train a model; see also ``FineTuningJob``.

    Args:
        job_type: The task's job class.
        examples: Training examples.
        dev: Examples to choose the best checkpoint by.
        config: Settings.
        unlabelled: Further training texts for soft targets of a teacher.
        init: A folder with an encoder to start from.
        start: A folder with a model of the task that is trained on as it is, instead of ``init``.
        out: The model folder to write.
        dtype: Of the weights in it; float32 where they are worked on further.
        resume: Continue an interrupted run in ``out``.
        observers: Called during training, see ``training.events``.

    Returns:
        The model with its best weights (processes other than the first: its last ones), and the
        final run state (best dev metrics, seconds).

    Raises:
        ConfigError: If ``out`` already holds a run and ``resume`` is not given.
    """
    job = job_type(examples, dev, config, unlabelled=unlabelled, init=init, start=start, out=out)
    model: Model = job.model
    model.metadata = _metadata(job)
    seed_torch(config.train.seed, 0, 1)
    method = Methods(_methods(job))
    _refuse_unsettled(config, method)
    settings = _settings(job)
    listeners = list(observers)
    if out:
        state = open_run(out, settings, resume=resume)
        if state.finished:
            return type(model).load(out), state
        listeners += run_observers(out, state, tensorboard=config.tensorboard)

    def progress(event: Event) -> None:
        if is_first_process():
            for listener in listeners:
                listener(event)

    if warning := _beyond_training(job):
        progress(Warned(update=0, text=warning))
    job.prepare(progress)
    used = replace(config, train=resolved(config.train, job))
    watches = []
    # Where a teacher's states alone are learned, the task is not.
    if not config.match_only and (chance := job.chance_loss()) is not None:
        watches.append(ChanceWatch(chance, config.train.peak_lr, progress))
    best: dict[str, Tensor] = {}

    def keep(_: Mapping[str, float]) -> None:
        model.metadata |= method.metadata()
        if out:
            model.save(out, card=job.card(model, write_toml(used)), dtype=dtype)
        elif job.dev:
            best.update({n: value.clone() for n, value in model.module.state_dict().items()})

    now = 0

    def on_update(update: int, total: int) -> None:
        nonlocal now
        now = update + 1
        job.on_update(update, total)
        method.on_update(update, total)

    def assess() -> dict[str, float]:
        found = _assess(job, used, progress)
        if config.keep_route and out:
            where = out / "route" / f"{now:07d}"
            model.save(where, card=job.card(model, write_toml(used)))
        return found

    state = train(
        method.around(job.trained),
        method.objective(_measured_loss(job) if method.adds_to_loss else job.loss),
        job,
        used.train,
        state_folder=state_folder(out) if out else None,
        settings=settings,
        resume=resume,
        selection=BestCheckpoint(
            assess if job.dev else None, metric=job.metric, keep=keep, settled=method.settled
        ),
        observers=[*listeners, *watches],
        on_update=on_update,
        leaves_unused=method.leaves_unused,
    )
    if best:
        model.module.load_state_dict(best)
        assess()  # tunes the decision parameters again: thresholds, the n-gram weight
    bake(model.module)
    if out and is_first_process():
        # All processes have the same weights, but only the first has kept the best ones.
        model = type(model).load(out)
    if one_sided := model.metadata.get("one_sided"):
        progress(Warned(update=state.update, text=one_sided))
    return model, state


def _measured_loss(job: FineTuningJob[Any, Any]) -> Objective:
    """Return a job's objective that tells its loss apart from what methods add to it."""

    def measured_loss(network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        loss, measured = job.loss(network, inputs)
        return LossOutput(loss, {TASK_LOSS: (loss.detach(), None), **measured})

    return measured_loss


def _methods(job: FineTuningJob[Any, Any]) -> list[Method]:
    """Return what changes the training of a job's network, the innermost first.

    Weights are transformed in place.
    """
    config, module = job.config, job.model.module
    teacher = job.teachers[-1] if job.teachers else None
    found: list[Method] = config.methods(module, config.train.seed, teacher)
    if config.booster:
        assert teacher is not None
        booster = type(job.model).load(teacher).module.train()
        found.append(Booster(module, booster, config.booster))
    if terms := config.terms():
        assert teacher is not None
        found.append(task_matching(terms, teacher, job.model, only=config.match_only))
    if config.teacher and config.teacher.turns == "greedy":
        found.append(GreedyTurns(len(job.teachers), job.distances, job.take_turn))
    return found


def _refuse_unsettled(config: JobConfig, method: Method) -> None:
    """Refuse a run whose weights could never be kept."""
    if config.train.epochs == 0 and not method.settled():
        raise ConfigError(
            "train.epochs = 0 makes no update, and gates, mask.steps and quantize.start take "
            "effect over some: give at least 1, or leave them out"
        )


def _assess(job: FineTuningJob[Any, Any], used: JobConfig, progress: Observer) -> dict[str, float]:
    """Score a job's model on dev, and store the scores in its metadata."""
    model = job.model
    exact = chosen = model.runtime
    if used.train.precision == "bf16":
        # Evaluation during training needs no higher precision than training itself.
        chosen = LazyRuntime(partial(TorchRuntime, Autocast(model.module)))
    model.runtime = watched(chosen, "tokens of dev", progress)
    try:
        scores = job.evaluate()
    finally:
        model.runtime = exact
    numbers = {n: s for n, s in scores.items() if isinstance(s, int | float)}
    parts = {name: score for name, score in scores.items() if name not in numbers}
    whole = {n: round(s, 4) for n, s in numbers.items() if isinstance(s, float)}
    whole.pop("seconds", None)
    model.metadata.pop("one_sided", None)  # of an earlier evaluation
    model.metadata |= {"dev": whole, **parts}
    return numbers


def _metadata(job: FineTuningJob[Any, Any]) -> dict[str, Any]:
    teacher: dict[str, Any] = {}
    if job.teachers:
        teacher["teacher"] = ", ".join(dict.fromkeys(folder.name for folder in job.teachers))
    if job.teachers and job.takes_unlabelled:
        teacher["unlabelled"] = len(job.unlabelled)
    return {
        **{key: value for key, value in asdict(job.config.card).items() if value},
        "init": job.config.card.init or _name_of(job.start or job.init),
        "train_examples": len(job.examples),
        "dev_examples": len(job.dev),
        **({"metric": job.metric} if job.dev else {}),
        **teacher,
    }


def _name_of(folder: Path | None) -> str:
    return folder.name if folder else "random weights"


def _known_as(folder: Path | None) -> str:
    return f"{folder.name} {weights_fingerprint(folder)}" if folder else _name_of(folder)


def _settings(job: FineTuningJob[Any, Any]) -> str:
    """Return the settings that a resumed run must not change, with digests of the data."""
    lines = [
        write_toml(job.config),
        f"# init {_known_as(job.start or job.init)}",
        f"# examples {examples_digest(job.examples)}",
        f"# dev {examples_digest(job.dev)}",
    ]
    lines += [f"# teacher and texts {known_as}" for known_as in job.fingerprints]
    return "\n".join(lines) + "\n"


def _beyond_training(job: FineTuningJob[Any, Any]) -> str:
    """Return a warning if windows are longer than those the encoder was trained on."""
    window = job.config.window
    if job.init is None:
        return ""
    longest = load_config(job.init)[1].get("max_length", window.max_length)
    if window.max_length <= longest:
        return ""
    return (
        f"{job.init} was trained on windows of {longest} tokens and knows no position beyond: "
        f"window.max_length={window.max_length} will read worse than {longest}"
    )
