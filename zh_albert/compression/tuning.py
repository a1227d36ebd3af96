"""The action ``tune``: a model of a task learns from its examples, from teachers, or from both."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.checkpoints.resolve import resolve_init
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.stored_model import same_random_numbers
from zh_albert.compression.recipe import OF_STAGE, ROUTE
from zh_albert.compression.work import Work, is_made
from zh_albert.configio import build, merged
from zh_albert.distillation.soft_targets import ANSWERS, refuse_other_tokens
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write
from zh_albert.tasks.run import finetune
from zh_albert.training.loop import is_first_process
from zh_albert.training.run_folder import release, state_folder

_TEACHES = ("match", "booster", "replace")
_OF_CARD = ("licence", "commercial_use", "note", "label_zh")


def tune(settings: Mapping[str, Any], model: Path, out: Path, work: Work, *, resume: bool) -> None:
    """Fine-tune; the window is the model's, the teacher the one that is compressed."""
    config, init = tuning(settings, model, work)
    encoder = resolve_init(init) if init else None
    if config.teacher is not None and is_first_process():
        _keep_answers(work.folder, state_folder(out))
    finetune(
        work.task.job,
        work.train,
        work.dev,
        config,
        unlabelled=work.unlabelled if learns_any(config) else (),
        init=encoder,
        start=_anew(encoder, out.with_name(f"{out.name}.anew"), work) if init else model,
        out=out,
        dtype=torch.float32,  # half precision would move what is rounded to a grid
        resume=resume,
        observers=work.observers,
    )
    release(out)


def learns_any(config: Any) -> bool:
    """Whether texts without labels teach anything: there are answers to them, or a match."""
    return config.match_only or (config.teacher is not None and config.teacher.weight > 0)


def _keep_answers(stages: Path, to: Path) -> None:
    """Copy what teachers answered in earlier stages; a file's name tells teacher and texts."""
    for file in stages.glob(f"*/{to.name}/{ANSWERS}"):
        if not (to / file.name).exists():
            to.mkdir(parents=True, exist_ok=True)
            with file.open("rb") as kept, atomic_write(to / file.name) as copied:
                shutil.copyfileobj(kept, copied)


def _anew(encoder: Path | None, out: Path, work: Work) -> Path:
    """Return a folder of the compressed model as it was before it learned its task.

    Labels, window and head are the model's, so that what is trained from it can teach students.

    Args:
        encoder: Folder of the encoder that it begins with; None: random weights.
        out: Where it is written.
        work: See there.

    Raises:
        CheckpointError: If the encoder has another vocabulary.
    """
    if is_made(out / "config.json"):
        return out
    model = work.task.model.load(work.source)
    sizes = model.config
    if encoder is not None:
        refuse_other_tokens(encoder, model.tokenizer)
        dropouts = ("hidden_dropout_prob", "attention_probs_dropout_prob")
        kept = {name: getattr(sizes, name) for name in dropouts}
        sizes = dataclasses.replace(load_config(encoder)[0], **kept)
    with same_random_numbers():
        model.module = model.network(sizes, {"name": model.name, **model.settings()})
    if encoder is not None:
        load_encoder(model.module, encoder)
    model.config, model.ngrams = sizes, None
    model.save(out, card=f"# {work.source.name}, untrained\n", dtype=torch.float32)
    return out


def tuning(settings: Mapping[str, Any], model: Path, work: Work) -> tuple[Any, str | None]:
    """Return the fine-tuning settings of a stage, and the encoder it starts from, if any.

    Args:
        settings: The stage's ``tune``.
        model: Folder of the model that it begins with.
        work: See there.

    Raises:
        ConfigError: If a setting is unknown or wrong.
    """
    given = dict(settings)
    init = given.pop("init", None)
    before = work.task.model.load(model)
    window = dataclasses.asdict(before.window)
    card = {name: before.metadata[name] for name in _OF_CARD if name in before.metadata}
    if not init:
        card["init"] = work.source.name
    values = merged({"window": window, "card": card}, given)
    if any(name in values for name in _TEACHES):
        values = merged({"teacher": {"weight": 0.0}}, values)
    if "teacher" in values:
        teacher = values["teacher"]
        values["teacher"] = {**teacher, "model": _teachers(teacher.get("model"), work)}
    return build(work.task.job.config_type, values, source="recipe"), init


def _teachers(given: Any, work: Work) -> Any:
    """Return the teachers' folders: the compressed model's, stages', or those on their routes."""
    if given is None:
        return str(work.source)
    if isinstance(given, list | tuple):
        each = [_teachers(one, work) for one in given]
        return [one for some in each for one in (some if isinstance(some, list) else [some])]
    if not isinstance(given, str) or not given.startswith(OF_STAGE):
        return given
    name = given.removeprefix(OF_STAGE).removesuffix(ROUTE)
    folder = work.of(name)
    if not given.endswith(ROUTE):
        return str(folder)
    found = sorted(folder.glob("route/*/config.json"))
    if not found:
        raise ConfigError(
            f"teacher.model = {given!r}: stage {name!r} kept no route; set tune.keep_route = true "
            "there"
        )
    return [str(file.parent) for file in found]
