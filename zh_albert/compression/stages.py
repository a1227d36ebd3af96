"""The actions of a recipe's stages on a model of a task: a model folder in, a model folder out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.resolve import resolve_init
from zh_albert.compression.augmentation.settings import augmentation
from zh_albert.compression.augmentation.variants import sides_of
from zh_albert.compression.recipe import ROUTE, Recipe, Stage, StoreConfig
from zh_albert.compression.reduction import cut, pruned
from zh_albert.compression.tuning import learns_any, tune, tuning
from zh_albert.compression.work import Work, card_of, is_made
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write, results_json
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.training.stages import StageMeter, silent


def refuse_unknown_settings(recipe: Recipe, work: Work) -> None:
    """Check the settings of all stages before the first one begins.

    Raises:
        ConfigError: If one is unknown or wrong, or nothing learns from what a stage augments.
        CheckpointError: If there is no such encoder as ``tune.init``.
    """
    for place, stage in enumerate(recipe.stages):
        if stage.augment is not None:
            augmentation(stage.augment)
            _refuse_unread(stage, recipe.stages[place + 1 :], work)
        if stage.tune is not None:
            _, init = _planned(stage, work)
            if init:
                resolve_init(init)


def refuse_unusable_examples(recipe: Recipe, work: Work) -> None:
    """Check that there are dev examples for what wants them, and a use for texts without labels.

    Raises:
        ConfigError: If not.
    """
    tuned = [stage for stage in recipe.stages if stage.tune]
    for stage in tuned:
        if (stage.tune or {}).get("keep_route") and not work.dev:
            raise ConfigError(
                f"stage {stage.name}: tune.keep_route keeps the weights of each evaluation, "
                "and there are no dev examples: give some (--dev)"
            )
    counted = any(stage.prune and stage.prune.words < 1 for stage in recipe.stages)
    if work.unlabelled and not counted and not any(_learns_any(s, work) for s in tuned):
        raise ConfigError(
            f"unlabelled: recipe {recipe.name} learns from no texts without labels: it has no "
            "teacher whose answers it learns; take them out, or use a recipe such as kd"
        )


def _refuse_unread(stage: Stage, later: Sequence[Stage], work: Work) -> None:
    if work.task.read_unlabelled is None:
        raise ConfigError("augment: this task learns from no texts without labels; take it out")
    counted = any(one.prune and one.prune.words < 1 for one in later)
    if not counted and not any(_learns_any(one, work) for one in later if one.tune):
        raise ConfigError(
            f"stage {stage.name}: augment makes texts without labels, and no stage after it has a "
            "teacher whose answers it learns; give one a teacher, or take augment out"
        )


def _learns_any(stage: Stage, work: Work) -> bool:
    return learns_any(_planned(stage, work)[0])


def _planned(stage: Stage, work: Work) -> tuple[Any, str | None]:
    """Return what ``tuning`` does of a stage that tunes, before what others make is there."""
    given = dict(stage.tune or {})
    if stage.teachers:  # on a route are several
        model, any_model = given["teacher"]["model"], str(work.source)
        single = isinstance(model, str) and not model.endswith(ROUTE)
        stand_ins = any_model if single else [any_model] * 2
        given["teacher"] = {**given["teacher"], "model": stand_ins}
    return tuning(given, work.source, work)


def run_stage(stage: Stage, model: Path, work: Work, *, resume: bool) -> Path:
    """Run one stage; return the folder of the model it made.

    Args:
        stage: The action.
        model: Folder of the model that it begins with.
        work: See there.
        resume: Go on with a training that was interrupted.
    """
    out = work.of(stage.name)
    if stage.tune is not None:
        tune(stage.tune, model, out, work, resume=resume)
        return out
    if stage.augment is not None:
        work.unlabelled.extend(_augmented(stage.augment, out, work))
        return model
    if is_made(out / "config.json"):  # before an interruption, and saved as a whole
        return out
    opened = work.task.model.load(model)
    opened.runtime = plain_runtime(opened.module)  # an export's would not see what changes here
    if stage.cut is not None:
        opened.module = cut(stage.cut, opened, model, work)
    elif stage.prune is not None:
        opened.module = pruned(stage.prune, opened, model, work)
    store = stage.store or StoreConfig()
    opened.config = opened.module.encoder.config
    dtype = torch.float32 if stage.store is None else torch.int8
    opened.save(out, card=card_of(model), dtype=dtype, bits=store.bits, group=store.group)
    return out


def _augmented(settings: Mapping[str, Any], out: Path, work: Work) -> list[Any]:
    """Return variants of the training texts, made once and kept in a file."""
    assert work.task.read_unlabelled is not None
    path = out / "texts.jsonl"
    if not is_made(path):
        contents = [example.text for example in work.train]
        meter = StageMeter("texts are varied", len(contents), next(iter(work.observers), silent))
        with atomic_write(path) as file:
            for variants in augmentation(settings)(contents):
                for content in variants:
                    sides = sides_of(content)
                    names = ("text_a", "text_b") if len(sides) == 2 else ("text",)
                    row = dict(zip(names, sides, strict=True))
                    file.write((results_json(row) + "\n").encode())
                meter.advance()
    return work.task.read_unlabelled(path)
