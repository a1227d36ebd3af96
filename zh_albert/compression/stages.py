"""The actions of a recipe's stages on a model of a task: a model folder in, a model folder out."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.checkpoints.resolve import resolve_init
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.stored_model import same_random_numbers
from zh_albert.compression.augmentation.settings import augmentation
from zh_albert.compression.lstm_student import lstm_network
from zh_albert.compression.recipe import CutConfig, PruneConfig, Recipe, Stage, StoreConfig
from zh_albert.compression.surgery import (
    chosen_layers,
    searched_layers,
    with_embedding_size,
    with_groups,
    with_head_size,
    with_layers_kept,
    with_positions,
)
from zh_albert.configio import build, merged
from zh_albert.distillation.soft_targets import ANSWERS, refuse_other_tokens
from zh_albert.errors import ConfigError
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.tasks.run import finetune
from zh_albert.tasks.task import Task
from zh_albert.textio import atomic_write, results_json
from zh_albert.training.events import Observer
from zh_albert.training.loop import is_first_process
from zh_albert.training.resume import seed_torch
from zh_albert.training.run_folder import release, state_folder
from zh_albert.training.stages import StageMeter, silent
from zh_albert.transforms.gates import Kind, first_order_importance, gated_parts
from zh_albert.transforms.learned_drop import DROP_RATES
from zh_albert.transforms.removal import close_least, close_rare_words, without_closed

_CALIBRATION = (96, 64)  # texts and tokens, for a narrower word table
_SEARCHED_ON = 500  # dev examples on which layers are searched
_TEACHES = ("match", "booster", "replace")
_OF_CARD = ("licence", "commercial_use", "note", "label_zh")


@dataclass(frozen=True, kw_only=True)
class Work:
    """What all stages of a compression share.

    Attributes:
        task: Of the model.
        source: Folder of the model that is compressed; the teacher unless a recipe says another.
        train: Training examples.
        dev: Examples that choose the best weights.
        unlabelled: Further texts for the teacher; stages that augment add to them.
        folder: The stages' folders are in it.
        observers: Called while training.
    """

    task: Task
    source: Path
    train: Sequence[Any]
    dev: Sequence[Any]
    unlabelled: list[Any]
    folder: Path
    observers: Sequence[Observer]

    def of(self, stage: str) -> Path:
        """Return the folder of a stage."""
        return self.folder / stage


def refuse_unknown_settings(plan: Recipe, work: Work) -> None:
    """Check the settings of all stages before the first one begins.

    Raises:
        ConfigError: If one is unknown or wrong.
    """
    for stage in plan.stages:
        if stage.augment is not None:
            augmentation(stage.augment)
        if stage.tune is not None:
            given = dict(stage.tune)
            if str(given.get("teacher", {}).get("model", "")).startswith("stage:"):
                given["teacher"] = {**given["teacher"], "model": str(work.source)}
            tuning(given, work.source, work)


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
        _tune(stage.tune, model, out, work, resume=resume)
        return out
    if stage.augment is not None:
        work.unlabelled.extend(_augmented(stage.augment, out, work))
        return model
    if not is_first_process():
        wait_for(out / "config.json")
    if (out / "config.json").exists():  # made before an interruption, and saved as a whole
        return out
    opened = work.task.model.load(model)
    opened.runtime = plain_runtime(opened.module)  # an export's would not see what changes here
    if stage.cut is not None:
        opened.module = _cut(stage.cut, opened, model, work)
    elif stage.prune is not None:
        opened.module = _pruned(stage.prune, opened, model, work)
    store = stage.store or StoreConfig()
    opened.config = opened.module.encoder.config
    readme = model / "README.md"
    card = readme.read_text("utf-8") if readme.is_file() else f"# {model.name}\n"
    if stage.store is not None:
        opened.save(out, card=card, dtype=torch.int8, bits=store.bits, group=store.group)
    else:
        opened.save(out, card=card, dtype=torch.float32)
    return out


def wait_for(file: Path) -> None:
    """Wait until the first process has written what all go on with; it ends, all are ended."""
    while not file.exists():
        time.sleep(0.1)


def _tune(settings: Mapping[str, Any], model: Path, out: Path, work: Work, *, resume: bool) -> None:
    """Fine-tune; the window is the model's, the teacher the one that is compressed."""
    config, init = tuning(settings, model, work)
    learns_any = config.match_only or (config.teacher is not None and config.teacher.weight > 0)
    encoder = resolve_init(init) if init else None
    if config.teacher is not None and is_first_process():
        _keep_answers(work.folder, state_folder(out))
    finetune(
        work.task.job,
        work.train,
        work.dev,
        config,
        unlabelled=work.unlabelled if learns_any else (),
        init=encoder,
        start=_anew(encoder, out.with_name(f"{out.name}-anew"), work) if init else model,
        out=out,
        dtype=torch.float32,  # half precision would move what is rounded to a grid
        resume=resume,
        observers=work.observers,
    )
    release(out)


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
    if not is_first_process():
        wait_for(out / "config.json")
    if (out / "config.json").exists():
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
    """Return the teachers' folders: the compressed model's, a stage's, or those on its route."""
    if given is None:
        return str(work.source)
    if not isinstance(given, str) or not given.startswith("stage:"):
        return given
    name, _, route = given.removeprefix("stage:").partition("/")
    folder = work.of(name)
    if route != "route":
        return str(folder)
    found = sorted(folder.glob("route/*/config.json"))
    if not found:
        raise ConfigError(
            f"teacher.model = {given!r}: stage {name!r} kept no route; set tune.keep_route = true "
            "there"
        )
    return [str(file.parent) for file in found]


def _augmented(settings: Mapping[str, Any], out: Path, work: Work) -> list[Any]:
    """Return variants of the training texts, made once and kept in a file.

    Raises:
        ConfigError: If the task cannot use texts without labels.
    """
    if work.task.read_unlabelled is None:
        raise ConfigError("augment: this task learns from no texts without labels; take it out")
    path = out / "texts.jsonl"
    if not is_first_process():
        wait_for(path)
    if not path.exists():
        contents = [example.text for example in work.train]
        meter = StageMeter("texts are varied", len(contents), _first(work.observers))
        with atomic_write(path) as file:
            for variants in augmentation(settings)(contents):
                for content in variants:
                    sides = content if isinstance(content, tuple) else (content,)
                    names = ("text_a", "text_b") if len(sides) == 2 else ("text",)
                    row = dict(zip(names, sides, strict=True))
                    file.write((results_json(row) + "\n").encode())
                meter.advance()
    return work.task.read_unlabelled(path)


def _first(observers: Sequence[Observer]) -> Observer:
    return observers[0] if observers else silent


def _cut(config: CutConfig, model: Any, folder: Path, work: Work) -> Any:
    network = model.module
    if {config.layers, config.groups, config.head_size} != {None}:
        refuse_lstm(network.encoder.config, "cut.layers, cut.groups and cut.head_size")
    if config.layers is not None:
        network = with_layers_kept(network, _layers(config, model, work))
        model.metadata.pop(DROP_RATES, None)  # of other layers
    if config.groups is not None:
        network = with_groups(network, config.groups)
    if config.head_size is not None:
        network = with_head_size(network, config.head_size)
    if config.embedding_size is not None:
        token_ids = calibration_ids(model, work.train)
        network = with_embedding_size(network, config.embedding_size, token_ids)
    if config.positions is not None:
        longest = model.window.max_length
        if config.positions < longest:
            raise ConfigError(
                f"cut.positions must be at least {longest}, the tokens of the model's windows; got "
                f"{config.positions}"
            )
        network = with_positions(network, config.positions)
    if config.lstm is not None:
        model.module, model.config = network, network.encoder.config
        network = lstm_network(model, config.lstm, hidden_size=config.hidden_size, seed=config.seed)
        if work.train:
            _fit_head(network, folder, work)
    return network


def _fit_head(network: Any, folder: Path, work: Work) -> None:
    """Fit a new head to a new encoder, as fine-tuning does, where that helps; see ``probe``."""
    job = _job(folder, work.train, work)
    job.model.module, job.model.config = network, network.encoder.config
    job.sizes = job.encode(silent)
    job.probe(silent)


def _job(folder: Path, some: Sequence[Any], work: Work) -> Any:
    """Return a job that trains on a model with the settings that its task has."""
    values = {"window": dataclasses.asdict(work.task.model.load(folder).window)}
    settings = build(work.task.job.config_type, values, source="recipe")
    return work.task.job(some, [], settings, start=folder)


def _layers(config: CutConfig, model: Any, work: Work) -> tuple[int, ...]:
    total = len(model.module.encoder.plan)
    assert config.layers is not None
    if config.choice != "searched" or not isinstance(config.layers, int):
        rates = model.metadata.get(DROP_RATES)
        return chosen_layers(config.layers, config.choice, total, rates)
    if not work.dev:
        raise ConfigError("cut.choice = 'searched' chooses layers by dev examples: give some")
    # Texts from all over the file: many files are sorted by label.
    some = work.dev[:: max(1, len(work.dev) // _SEARCHED_ON)][:_SEARCHED_ON]
    whole = model.module.encoder.plan

    def score(layers: tuple[int, ...]) -> float:
        model.module.encoder.plan = tuple(whole[layer - 1] for layer in layers)
        return float(work.task.evaluate(model, some)[work.task.metric])

    try:
        return searched_layers(config.layers, total, score)
    finally:
        model.module.encoder.plan = whole


def calibration_ids(model: Any, examples: Sequence[Any]) -> Tensor:
    """Return tokens of training texts, one after another, in rows of one length.

    Raises:
        ConfigError: If there are too few.
    """
    rows, length = _CALIBRATION
    length = min(length, model.window.max_length)
    ids: list[int] = []
    for tokens in _tokens_of(model, examples):
        ids += tokens
        if len(ids) >= rows * length:
            break
    full = len(ids) // length
    if not full:
        raise ConfigError(f"cut.embedding_size: expected {length} tokens of text, found {len(ids)}")
    return torch.tensor(ids[: full * length]).view(full, length)[:rows]


def _tokens_of(model: Any, examples: Iterable[Any]) -> Iterator[list[int]]:
    """Yield the token ids of each example."""
    for example in examples:
        text = example.text if isinstance(example.text, str) else "".join(example.text)
        yield model.tokenizer.encode(text).ids


def _pruned(config: PruneConfig, model: Any, folder: Path, work: Work) -> Any:
    network = model.module
    if config.words < 1:
        counts: Counter[int] = Counter()
        for tokens in _tokens_of(model, [*work.train, *work.unlabelled]):
            counts.update(tokens)
        close_rare_words(network, counts, config.words, model.tokenizer.special)
    kept: dict[Kind, float] = {
        "heads": config.heads,
        "neurons": config.neurons,
        "embeddings": config.embeddings,
    }
    kept = {kind: share for kind, share in kept.items() if share < 1}
    if not kept and config.criterion != "closed":  # words alone
        return network
    if config.criterion == "gradient":
        close_least(network, _importance(config, folder, list(kept), work), kept)
    elif config.criterion == "random":
        generator = torch.Generator().manual_seed(config.seed)
        drawn = {
            (part.kind, part.block): torch.rand(part.gates, generator=generator)
            for part in gated_parts(network, kept)
        }
        close_least(network, drawn, kept)
    return without_closed(network)


def _importance(config: PruneConfig, folder: Path, kinds: Sequence[Kind], work: Work) -> Any:
    """Return how much the loss on training texts would change by each gate of a model."""
    # Texts from all over the file: many files are sorted by label.
    step = max(1, len(work.train) // config.texts)
    some = work.train[::step][: config.texts]
    job = _job(folder, some, work)
    job.prepare(silent)
    network = job.model.module.eval()
    seed_torch(config.seed, 0, 0)

    def loss_of(item: Any) -> Any:
        return lambda: job.loss(network, job.load(item).inputs).loss

    return first_order_importance(network, kinds, [loss_of(item) for item in job.plan(0)])
