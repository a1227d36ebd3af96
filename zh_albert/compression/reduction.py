"""The actions ``cut`` and ``prune``: a smaller network from a model of a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from zh_albert.compression.augmentation.variants import sides_of
from zh_albert.compression.lstm_student import lstm_network
from zh_albert.compression.recipe import CutConfig, PruneConfig
from zh_albert.compression.surgery import (
    kept_layers,
    searched_layers,
    with_cut_layers,
    with_embedding_size,
    with_positions,
)
from zh_albert.compression.work import Work, job_on
from zh_albert.errors import ConfigError
from zh_albert.model.lstm_encoder import refuse_lstm
from zh_albert.tasks.texts import spread
from zh_albert.training.resume import seed_torch
from zh_albert.training.stages import silent
from zh_albert.transforms.gates import Kind, first_order_importance, gated_parts
from zh_albert.transforms.learned_drop import DROP_RATES
from zh_albert.transforms.removal import close_least, close_rare_words, for_each_run, without_closed

_CALIBRATION = (96, 64)  # texts and tokens, for a narrower word table
_SEARCHED_ON = 500  # dev examples on which layers are searched


def cut(config: CutConfig, model: Any, folder: Path, work: Work) -> Any:
    """Return the network of an opened model, cut; see ``surgery``.

    Args:
        config: What is cut.
        model: The model; its learned drop rates are dropped with its layers.
        folder: It was opened from there.
        work: See there.

    Raises:
        ConfigError: If it cannot be cut so.
    """
    network = model.module
    if {config.layers, config.groups, config.head_size} != {None}:
        refuse_lstm(network.encoder.config, "cut.layers, cut.groups and cut.head_size")
    layers = None
    if config.layers is not None:
        layers = _layers(config, model, work)
        model.metadata.pop(DROP_RATES, None)  # of other layers
    network = with_cut_layers(network, config, layers)
    if config.embedding_size is not None:
        token_ids = _calibration_ids(model, work.train)
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
    job = job_on(work.task, folder, work.train)
    job.model.module, job.model.config = network, network.encoder.config
    job.sizes = job.encode(silent)
    job.probe(silent)


def _layers(config: CutConfig, model: Any, work: Work) -> tuple[int, ...]:
    total = len(model.module.encoder.plan)
    assert config.layers is not None
    if config.choice != "searched" or not isinstance(config.layers, int):
        rates = model.metadata.get(DROP_RATES)
        return kept_layers(config.layers, config.choice, total, rates)
    if not work.dev:
        raise ConfigError("cut.choice = 'searched' chooses layers by dev examples: give some")
    some = spread(work.dev, _SEARCHED_ON)
    whole = model.module.encoder.plan

    def score(layers: tuple[int, ...]) -> float:
        model.module.encoder.plan = tuple(whole[layer - 1] for layer in layers)
        return float(work.task.evaluate(model, some)[work.task.metric])

    try:
        return searched_layers(config.layers, total, score)
    finally:
        model.module.encoder.plan = whole


def _calibration_ids(model: Any, examples: Sequence[Any]) -> Tensor:
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
    """Yield the token ids of each text of the examples: of questions and choices, too."""
    for example in examples:
        if hasattr(example, "asked"):  # of multiple choice
            texts: Sequence[str] = (*example.text, *example.asked.choices)
        elif hasattr(example, "question"):  # of reading
            texts = (example.question, example.context)
        else:
            texts = (*sides_of(example.text), getattr(example, "negative", None) or "")
        for text in texts:
            yield model.tokenizer.encode(text).ids


def pruned(config: PruneConfig, model: Any, folder: Path, work: Work) -> Any:
    """Return the network of an opened model without what matters least; see ``cut``."""
    network = model.module
    if config.words < 1:
        counts: Counter[int] = Counter()
        for tokens in _tokens_of(model, [*work.train, *work.unlabelled]):
            counts.update(tokens)
        close_rare_words(network, counts, config.words, model.tokenizer.special)
    shares: dict[Kind, float] = {kind: getattr(config, kind) for kind in get_args(Kind)}
    kept = {kind: share for kind, share in shares.items() if share < 1}
    if not kept and config.criterion != "closed":  # words alone
        return network
    if config.criterion == "gradient":
        importance = _importance(config, folder, list(kept), work)
        close_least(network, for_each_run(network, importance), kept)
    elif config.criterion == "random":
        generator = torch.Generator().manual_seed(config.seed % 2**64)
        drawn = {
            (part.kind, part.block): torch.rand(part.gates, generator=generator)
            for part in gated_parts(network, kept)
        }
        close_least(network, drawn, kept)
    return without_closed(network)


def _importance(config: PruneConfig, folder: Path, kinds: Sequence[Kind], work: Work) -> Any:
    """Return how much the loss on training texts would change by each gate of a model."""
    job = job_on(work.task, folder, spread(work.train, config.texts))
    job.prepare(silent)
    network = job.model.module.eval()
    seed_torch(config.seed, 0, 0)

    def loss_of(item: Any) -> Any:
        return lambda: job.loss(network, job.load(item).inputs).loss

    return first_order_importance(network, kinds, [loss_of(item) for item in job.plan(0)])
