"""The encoder training job that pretraining and distillation share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from pydantic import AfterValidator
from torch import nn

from zh_albert.checkpoints.files import weights_fingerprint
from zh_albert.checkpoints.resolve import expanded
from zh_albert.checkpoints.store import save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.configio import check_at_least, write_toml
from zh_albert.distillation.methods import MethodsConfig
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.files.textio import results_json
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.card import encoder_card
from zh_albert.pretraining.dataset import PretrainingSource, evaluation_batches
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.objective import evaluate
from zh_albert.pretraining.prefetch import PrefetchingSource
from zh_albert.pretraining.shards import Shards, joined_shards, open_shards, read_manifest
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Observer
from zh_albert.training.loop import Objective, train
from zh_albert.training.method import Method, Methods
from zh_albert.training.precision import settled
from zh_albert.training.resume import RunState
from zh_albert.training.run_folder import metrics_file, open_run, run_observers, state_folder
from zh_albert.training.selection import BestCheckpoint

Folder = Annotated[Path, AfterValidator(expanded)]
"""A folder in a file of settings, where ``~`` is the home folder."""


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Corpus folders, written by ``zh-corpora build``."""

    train: Folder | tuple[Folder, ...]  # several are read as one; one named twice counts twice
    heldout: Folder
    heldout_batches: int = 40  # number of held-out batches to evaluate on

    def __post_init__(self) -> None:
        if not self.folders:
            raise ConfigError("data.train must name at least one folder of shards, found none")
        check_at_least(1, "data.heldout_batches", self.heldout_batches)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The training folders."""
        return (self.train,) if isinstance(self.train, Path) else self.train


@dataclass(frozen=True, kw_only=True)
class EncoderJobConfig(MethodsConfig):
    """Settings of a run on a corpus, except for the model."""

    out: Folder
    data: DataConfig
    instances: InstanceConfig = field(default_factory=InstanceConfig)
    train: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=1, evaluate_every=500))
    trained_on: str = ""  # description of the data for the model card
    tensorboard: bool = False  # also write training/tensorboard (extra "track")

    def __post_init__(self) -> None:
        if self.replace:
            raise ConfigError("replace is for models of a task, not for an encoder; leave it out")


class Corpus(NamedTuple):
    """Training text, held-out text, and the tokenizer of both."""

    tokenizer: Tokenizer
    shards: Shards
    heldout: Shards


class EncoderJobSpec(NamedTuple):
    """The modules that ``train_encoder`` trains and keeps."""

    module: nn.Module
    """The module with all parameters to train."""
    model: AlbertForPretraining
    """The model to keep: ``module`` or a part of it."""
    objective: Objective
    method: Method = Method()
    """What changes with time; ``module`` and ``objective`` are by it already."""
    learns_words: bool = True
    """Whether masked words are learned, so that their accuracy tells which weights are best; else
    the last ones are kept."""


def train_encoder(
    config: EncoderJobConfig,
    build: Callable[[Corpus], EncoderJobSpec],
    *,
    init_folders: Sequence[Path] = (),
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> RunState:
    """Run a job; the best weights by held-out masked accuracy are saved in ``config.out``.

    Args:
        config: Settings; a resumed run must have the same, including those of subclasses.
        build: Returns the model and its loss; not called if the run is finished already.
        init_folders: Folders of the initial weights and of the teacher; a resumed run must have the
            same weights.
        resume: Continue an interrupted run.
        observers: Called during training, see ``training.events``.

    Raises:
        ConfigError: If the folder holds a run already and ``resume`` is not given.
        DataError: If shards are missing, damaged, or of another vocabulary.
    """
    if config.train.epochs == 0:
        raise ConfigError("train.epochs must be > 0 for an encoder, got 0")
    folders = config.data.folders
    read_manifest(folders[0])  # text that was not built has no tokenizer either
    tokenizer = load_tokenizer(folders[0])
    opened = {folder: open_shards(folder, tokenizer=tokenizer) for folder in folders}
    shards = joined_shards([opened[folder] for folder in folders])
    heldout = open_shards(config.data.heldout, tokenizer=tokenizer)
    settings = f"{write_toml(config)}\n# shards {shards.digest}\n# heldout {heldout.digest}\n"
    settings += "".join(f"# {folder} {weights_fingerprint(folder)}\n" for folder in init_folders)
    run = open_run(config.out, settings, resume=resume)
    if run.finished:
        return run
    observers = [*observers, *run_observers(config.out, run, tensorboard=config.tensorboard)]
    sets = TokenSets.of(tokenizer)
    tokens = config.train.batch_tokens
    source = PretrainingSource(shards, sets, config.instances, batch_tokens=tokens)
    fixed = evaluation_batches(
        heldout, sets, config.instances, batch_tokens=tokens, most=config.data.heldout_batches
    )
    spec = build(Corpus(tokenizer, shards, heldout))
    model = spec.model
    # Matching observes the network, whatever computes its weights and chooses its layers.
    added = Methods(config.methods(model, config.train.seed, None))
    method = Methods([added, spec.method])

    def keep(found: Mapping[str, float]) -> None:
        metrics = found or score()
        names = ("masked_accuracy", "masked_loss", "order_accuracy")
        scores = {name: round(metrics[name], 4) for name in names if name in metrics}
        metadata = {
            "name": "encoder",
            "max_length": config.instances.length,  # later positions are untrained
            "dev": scores,
            "trained_on": config.trained_on,
            **method.metadata(),
        }
        sizes = model.encoder.config
        used = replace(config, train=settled(config.train))
        card = encoder_card(sizes, scores, write_toml(used), shards.counts.tokens)
        curve = _learning_curve(metrics_file(config.out)).encode()
        files = {**tokenizer.save_files(), "README.md": card.encode(), "curve.jsonl": curve}
        save_model(config.out, model=model, config=sizes, files=files, task=metadata)

    def score() -> dict[str, float]:
        start = time.perf_counter()
        return {**evaluate(model, fixed), "seconds": time.perf_counter() - start}

    # Only a GPU would wait for batches; on a CPU both compete for the same cores.
    prefetching = PrefetchingSource(source) if torch.cuda.is_available() else None
    try:
        return train(
            added.around(spec.module),
            added.objective(spec.objective),
            prefetching or source,
            config.train,
            state_folder=state_folder(config.out),
            settings=settings,
            resume=resume,
            selection=BestCheckpoint(
                score if spec.learns_words else None,
                metric="masked_accuracy",
                tie_breaker="masked_loss",
                keep=keep,
                settled=method.settled,
            ),
            observers=observers,
            on_update=method.on_update,
            leaves_unused=method.leaves_unused,
        )
    finally:
        if prefetching:
            prefetching.close()


def refuse_too_long(sizes: AlbertConfig, instances: InstanceConfig) -> None:
    """Check that the encoder has a position for each token of an instance.

    Raises:
        ConfigError: If it has fewer.
    """
    if instances.length > sizes.max_position_embeddings:
        raise ConfigError(
            f"instances.length is {instances.length}, but the encoder has "
            f"{sizes.max_position_embeddings} positions; lower instances.length to that"
        )


def refuse_other_vocabulary(folder: Path, sizes: AlbertConfig, tokenizer: Tokenizer) -> None:
    """Check that a model has the vocabulary of the shards.

    Raises:
        CheckpointError: If it has more or fewer rows, other tokens (if the folder has a
            vocabulary), or its vocabulary does not fit its weights.
    """
    if sizes.vocab_size != tokenizer.vocab_size:
        raise CheckpointError(
            f"{folder}: its vocabulary has {sizes.vocab_size} rows, that of the shards "
            f"{tokenizer.vocab_size}; build the shards with its vocabulary, or convert a teacher: "
            "zh-albert convert TEACHER DIR"
        )
    if not any((folder / name).is_file() for name in tokenizer.save_files()):
        return
    rows = range(sizes.vocab_size)
    theirs, ours = (some.tokens(rows) for some in (matching_tokenizer(folder, sizes), tokenizer))
    if other := [row for row in rows if theirs[row] != ours[row]]:
        raise CheckpointError(
            f"{folder}: {len(other)} rows of its vocabulary are other tokens than in the shards', "
            f"first row {other[0]}: {theirs[other[0]]!r} instead of {ours[other[0]]!r}; build the "
            "shards with its vocabulary"
        )


def _learning_curve(metrics: Path) -> str:
    """Return a run's evaluations as JSON Lines: update, tokens read, scores."""
    rows = []
    for line in metrics.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "evaluation":
            scores = {
                name: None if value is None else round(value, 4)
                for name, value in event["metrics"].items()
            }
            rows.append({"update": event["update"], "tokens": event["tokens"], **scores})
    return "".join(results_json(row) + "\n" for row in rows)
