"""``compress``: a recipe's stages on a model of a task, as one job that resumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.files import WEIGHTS, weights_fingerprint
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.encoders import compress_encoder
from zh_albert.compression.measures import without_ngrams
from zh_albert.compression.recipe import Recipe, StoreConfig, find_recipe
from zh_albert.compression.record import LENGTH, card_section, read_record, write_record
from zh_albert.compression.stages import (
    refuse_unknown_settings,
    refuse_unusable_examples,
    run_stage,
)
from zh_albert.compression.work import Work, card_of, open_folder
from zh_albert.configio import write_toml
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.size import macs_per_token
from zh_albert.tasks.catalog import TASKS, task_of
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import examples_digest
from zh_albert.training.events import Observer
from zh_albert.training.loop import is_first_process
from zh_albert.training.run_folder import release, state_folder


@dataclass(frozen=True)
class Compressed:
    """What a compression made.

    Attributes:
        folder: The model folder.
        before: Figures of the model it was made from: ``parameters``, ``bytes`` of its weights,
            ``macs`` for one token of a text of 32, and its scores on dev.
        after: Those of the new one.
    """

    folder: Path
    before: Mapping[str, float]
    after: Mapping[str, float]


def compress(
    model: str | Path,
    recipe: str | Recipe,
    train: Sequence[Any] | str | Path,
    dev: Sequence[Any] | str | Path = (),
    *,
    out: str | Path,
    unlabelled: Sequence[Any] | str | Path = (),
    ngrams: bool = True,
    settings: Sequence[str] = (),
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> Compressed:
    """Compress a model; what comes out is an ordinary model folder.

    Args:
        model: Bundled name, folder or hub id: a model of a task, or an encoder for recipes that
            train one.
        recipe: Name, path of a TOML file, or a recipe.
        train: Task file or examples; for an encoder a folder of shards.
        dev: The same, to choose the best weights by; for an encoder the held-out shards.
        out: The folder to write; the stages stand in ``out/stages``.
        unlabelled: Further texts that the model, as a teacher, answers: a file, or examples.
        ngrams: Keep the model's n-grams; without them its network alone is the teacher.
        settings: ``STAGE.ACTION.KEY=value`` or ``ACTION.KEY=value``, over the recipe's; see
            ``find_recipe``.
        resume: Go on with a compression that was interrupted in ``out``.
        observers: Called while training, see ``training.events``.

    Raises:
        ConfigError: If there is no such recipe, its settings do not fit the model, or ``out`` holds
            something already.
        CheckpointError: If there is no such model, or it is of another kind.
        DataError: If the examples cannot be read.
    """
    if not isinstance(recipe, Recipe):
        recipe = find_recipe(recipe, settings)
    elif settings:
        raise ConfigError("settings change a recipe of a name or file; a Recipe has its own")
    whole, folder = resolve_model(model), Path(out)
    source = whole
    _, metadata = load_config(source)
    _refuse_other_kind(recipe, source, metadata)
    if recipe.of_encoders:
        if unlabelled or not ngrams:
            raise ConfigError(
                f"recipe {recipe.name} trains an encoder on shards: unlabelled and ngrams are for "
                "models of a task; leave them out"
            )
        measured = compress_encoder(
            recipe, source, train, dev, folder, resume=resume, observers=observers
        )
        return Compressed(folder, *measured)
    task = task_of(source, metadata)
    examples, dev_examples = (
        task.read(Path(given)) if isinstance(given, str | Path) else given for given in (train, dev)
    )
    if isinstance(unlabelled, str | Path):
        if task.read_unlabelled is None:
            raise ConfigError("unlabelled: this task learns from no texts without labels")
        unlabelled = task.read_unlabelled(Path(unlabelled))
    if not examples and any(stage.tune is not None for stage in recipe.stages):
        raise ConfigError(f"recipe {recipe.name} trains the model: expected examples, found none")
    described = (
        f"{write_toml(recipe)}\n# model {weights_fingerprint(source)}\n"
        f"# examples {examples_digest(examples)}\n# dev {examples_digest(dev_examples)}\n"
    )
    described += f"# unlabelled {examples_digest(unlabelled)}\n" * bool(unlabelled)
    described += "" if ngrams else "# without n-grams\n"
    open_folder(folder, described, resume=resume)
    try:
        if (kept := read_record(folder)) is not None:
            return Compressed(folder, *kept)
        if not ngrams:
            source = without_ngrams(source, folder / "without-ngrams" / source.name)
        work = Work(
            task=task,
            source=source.absolute(),  # settings of stages name it: from every folder alike
            train=examples,
            dev=dev_examples,
            unlabelled=list(unlabelled),
            folder=(folder / "stages").absolute(),
            observers=observers,
        )
        refuse_unknown_settings(recipe, work)
        refuse_unusable_examples(recipe, work)
        current = work.source
        for stage in recipe.stages:
            going_on = resume and (state_folder(work.of(stage.name)) / "config.toml").exists()
            begun = work.of(stage.from_) if stage.from_ else current
            current = run_stage(stage, begun, work, resume=going_on)
        # Without n-grams the source is a copy of the network in full precision: no size to compare.
        size = {"bytes": (whole / WEIGHTS).stat().st_size}
        made = Compressed(folder, {**_before(task, source, dev_examples), **size}, {})
        if is_first_process():
            made = _write(recipe, task, source, current, made, dev_examples)
        return made
    finally:
        release(folder)


def _refuse_other_kind(recipe: Recipe, source: Path, metadata: Mapping[str, Any]) -> None:
    found = metadata.get("name")
    if recipe.of_encoders and found in TASKS:
        raise CheckpointError(
            f"{source}: recipe {recipe.name} is for encoders, found a model for {found}"
        )
    if not recipe.of_encoders and found not in TASKS:
        raise CheckpointError(
            f"{source}: recipe {recipe.name} is for models of a task, found an encoder; fine-tune "
            "it first: zh-albert finetune --init …"
        )


def figures(task: Task, folder: Path, dev: Sequence[Any]) -> dict[str, float]:
    """Return the size of a model and its scores; see ``Compressed``."""
    model = task.model.load(folder)
    scores = task.evaluate(model, dev) if dev else {}
    return {
        "parameters": sum(parameter.numel() for parameter in model.module.parameters()),
        "bytes": (folder / WEIGHTS).stat().st_size,
        "macs": macs_per_token(model.config, LENGTH),
        **{k: v for k, v in scores.items() if isinstance(v, float) and k != "seconds"},
    }


_KNOWN: dict[tuple[str, str, str], dict[str, float]] = {}


def _before(task: Task, source: Path, dev: Sequence[Any]) -> dict[str, float]:
    """Return a model's figures; whoever compresses it in many ways has them measured once."""
    key = str(source), weights_fingerprint(source), examples_digest(dev)
    if key not in _KNOWN:
        _KNOWN[key] = figures(task, source, dev)
    return _KNOWN[key]


def _write(
    recipe: Recipe, task: Task, source: Path, last: Path, made: Compressed, dev: Sequence[Any]
) -> Compressed:
    """Write the model of the last stage to its place, with a card that says how it was made."""
    out, stored = made.folder, recipe.stages[-1].store
    model = task.model.load(last)
    model.metadata["compressed"] = {"recipe": recipe.name, "of": source.name}
    card = card_of(last)
    store, dtype = stored or StoreConfig(), torch.float16 if stored is None else torch.int8
    save = partial(model.save, out, dtype=dtype, bits=store.bits, group=store.group)
    save(card=card)
    after = figures(task, out, dev)  # of what is kept: half precision is not that of training
    save(card=card + card_section(recipe, source, made.before, after))
    write_record(out, recipe, source, made.before, after)
    return Compressed(out, made.before, after)
