"""The pretraining job: shards in, an encoder's model folder out; masked LM and sentence order."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.configio import write_toml
from zh_albert.errors import ConfigError, nearest
from zh_albert.model.config import PRESETS, AlbertConfig, Sharing
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.batches import TokenSets
from zh_albert.pretraining.card import encoder_card
from zh_albert.pretraining.dataset import PretrainingSource, evaluation_batches
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.neighbours import count_neighbours
from zh_albert.pretraining.shards import Shards, open_shards
from zh_albert.pretraining.start import StartConfig, start_from_statistics
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.engine import Batch, Selection, train
from zh_albert.training.events import Observer
from zh_albert.training.resume import Position, seed_torch
from zh_albert.training.run_folder import open_run, run_observers, state_folder


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Folders that ``zh-corpora build`` wrote."""

    train: Path
    heldout: Path
    heldout_batches: int = 40  # of the held-out text that are evaluated


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """A published size, and what differs from it; not used where the start is a folder."""

    preset: str = "tiny"
    embedding_size: int | None = None
    num_hidden_layers: int | None = None
    num_hidden_groups: int | None = None
    sharing: Sharing | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigError(f"unknown preset {self.preset!r}; {nearest(self.preset, PRESETS)}")

    def sizes(self, vocab_size: int) -> AlbertConfig:
        """Return the whole config over a vocabulary."""
        names = ("embedding_size", "num_hidden_layers", "num_hidden_groups", "sharing")
        changes = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(PRESETS[self.preset], vocab_size=vocab_size, **changes)


@dataclass(frozen=True, kw_only=True)
class BeginConfig:
    """Where the weights come from: ``random``, ``statistics``, or a folder to go on from."""

    from_: str = "statistics"
    statistics: StartConfig = field(default_factory=StartConfig)


@dataclass(frozen=True, kw_only=True)
class PretrainConfig:
    """Everything that decides a pretraining run."""

    out: Path
    data: DataConfig
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    start: BeginConfig = field(default_factory=BeginConfig)
    instances: InstanceConfig = field(default_factory=InstanceConfig)
    train: TrainConfig = field(default_factory=lambda: TrainConfig(epochs=1, evaluate_every=500))
    trained_on: str = ""  # told in the model card
    tensorboard: bool = False  # also write training/tensorboard (extra "track")


def pretraining_loss(model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    """Masked-LM loss summed over masked tokens, plus sentence order at equal weight. Shape: ().

    Sentence order counts as if every masked token carried it, so that both means are added
    whatever the number of instances in a batch; batches without pairs have the first part alone.
    """
    masked, order = model(
        inputs["token_ids"], inputs["type_ids"], inputs["mask"], inputs["positions"]
    )
    loss = F.cross_entropy(masked.float(), inputs["labels"], reduction="sum")
    paired = inputs["order"] >= 0
    if paired.any():
        order_loss = F.cross_entropy(order[paired].float(), inputs["order"][paired])
        loss = loss + order_loss * len(inputs["labels"])
    return loss


def evaluate(model: AlbertForPretraining, batches: Iterable[Batch]) -> dict[str, float]:
    """Score held-out text with masks that never change.

    Returns:
        ``masked_accuracy``, ``masked_loss`` (nats), ``order_accuracy`` and ``masked_tokens``.
    """
    right = tokens = pairs = in_order = 0
    loss = 0.0
    device = next(model.parameters()).device
    with torch.inference_mode():
        for batch in batches:
            inputs = {name: value.to(device) for name, value in batch.inputs.items()}
            names = ("token_ids", "type_ids", "mask", "positions")
            masked, order = model(*(inputs[name] for name in names))
            labels, wanted = inputs["labels"], inputs["order"]
            loss += F.cross_entropy(masked.float(), labels, reduction="sum").item()
            right += int((masked.argmax(-1) == labels).sum())
            tokens += len(labels)
            paired = wanted >= 0
            in_order += int((order.argmax(-1) == wanted)[paired].sum())
            pairs += int(paired.sum())
    return {
        "masked_accuracy": right / max(tokens, 1),
        "masked_loss": loss / max(tokens, 1),
        "order_accuracy": in_order / max(pairs, 1),
        "masked_tokens": tokens,
    }


def build_model(
    config: PretrainConfig, tokenizer: Tokenizer, shards: Shards
) -> AlbertForPretraining:
    """Make the model a run begins with.

    Raises:
        CheckpointError: If the folder to go on from cannot be opened.
        ConfigError: If the start does not fit the encoder.
    """
    seed_torch(config.train.seed, 0, 0)
    begin = config.start.from_
    if begin in ("random", "statistics"):
        model = AlbertForPretraining(config.encoder.sizes(tokenizer.vocab_size))
        if begin == "statistics":
            counts = count_neighbours(_documents(shards), tokenizer.vocab_size)
            special = list(tokenizer.special)
            start_from_statistics(
                model, counts, special, config.start.statistics, seed=config.train.seed
            )
        return model
    sizes, _ = load_config(Path(begin))
    model = AlbertForPretraining(sizes)
    load_weights(model, Path(begin))
    return model


def pretrain(
    config: PretrainConfig, *, resume: bool = False, observers: Sequence[Observer] = ()
) -> Position:
    """Run the job; the best weights by held-out masked accuracy end up in ``config.out``.

    Raises:
        ConfigError: If the folder holds a run already and ``resume`` is not given.
        DataError: If shards are missing, damaged, or of another vocabulary.
    """
    tokenizer = load_tokenizer(config.data.train)
    shards = open_shards(config.data.train, tokenizer=tokenizer)
    heldout = open_shards(config.data.heldout, tokenizer=tokenizer)
    settings = f"{write_toml(config)}\n# shards {shards.digest}\n"
    position = open_run(config.out, settings, resume=resume)
    if position.finished:
        return position
    listeners = [
        *observers,
        *run_observers(config.out, position, tensorboard=config.tensorboard),
    ]
    sets = TokenSets.of(tokenizer)
    tokens = config.train.batch_tokens
    source = PretrainingSource(shards, sets, config.instances, batch_tokens=tokens)
    fixed = evaluation_batches(heldout, sets, config.instances, batch_tokens=tokens)
    fixed = fixed[: config.data.heldout_batches]
    model = build_model(config, tokenizer, shards)

    def keep(metrics: Mapping[str, float]) -> None:
        scores = {name: round(value, 4) for name, value in metrics.items()}
        facts = {"name": "encoder", "dev": scores, "trained_on": config.trained_on}
        sizes = model.encoder.config
        card = encoder_card(sizes, scores, write_toml(config), shards.counts.tokens)
        files = {**tokenizer.save_files(), "README.md": card.encode()}
        save_model(config.out, model=model, config=sizes, files=files, task=facts)

    def score() -> dict[str, float]:
        start = time.perf_counter()
        return {**evaluate(model, fixed), "seconds": time.perf_counter() - start}

    return train(
        model,
        pretraining_loss,
        source,
        config.train,
        state_folder=state_folder(config.out),
        settings=settings,
        resume=resume,
        selection=Selection(score, metric="masked_accuracy", keep=keep),
        observers=listeners,
    )


def _documents(shards: Shards) -> Iterable[np.ndarray]:
    bounds = shards.documents()
    for start, end in itertools.pairwise(bounds):
        yield shards.gather(np.array([start]), np.array([end - start]))[0]
