"""Division of documents into instances: borders, sentence order and batches.

An instance is a run of whole consecutive sentences of one document, split in two at a sentence
border: ``[CLS] a [SEP] b [SEP]``, or ``b`` first. Every random number is a function of the seed,
the epoch and the instance, so workers, batches and restarts do not change anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError
from zh_albert.pretraining.counter_rng import Keys, below, draw, keys, uniform
from zh_albert.pretraining.masking import MaskingConfig
from zh_albert.pretraining.shards import Shards

PAIR_SPECIALS, SINGLE_SPECIALS = 3, 2
_SHORTEST_TARGET = 16
_BATCHES, _SHUFFLE = 2**40, 2**41  # offsets of epoch numbers, apart from ``plan_epoch``
_TARGET, _SPLIT, _SWAP = 101, 102, 103  # streams of ``counter_rng.draw``; masking has 0 to 3


@dataclass(frozen=True, kw_only=True)
class InstanceConfig:
    """Lengths, sentence order and masks of instances."""

    length: int = 128  # tokens of a full instance, [CLS] and [SEP] included
    short_rate: float = 0.1  # fraction of instances with a random shorter target length
    swap_rate: float = 0.5  # fraction of pairs that are swapped
    min_tokens: int = 8  # shorter remainders of documents are left out of the epoch
    masking: MaskingConfig = field(default_factory=MaskingConfig)
    seed: int = 1

    def __post_init__(self) -> None:
        if not 8 <= self.length <= 4096:
            raise ConfigError(f"length must be from 8 to 4096, found {self.length}")
        for name in ("short_rate", "swap_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be from 0 to 1, found {getattr(self, name)}")
        if not 1 <= self.min_tokens <= self.length - PAIR_SPECIALS:
            raise ConfigError(
                f"min_tokens must be from 1 to {self.length - PAIR_SPECIALS}, what an instance of "
                f"length {self.length} has room for, found {self.min_tokens}"
            )
        if self.seed < 0:
            raise ConfigError(f"seed must be at least 0, found {self.seed}")

    @property
    def length_step(self) -> int:
        """Batch lengths are multiples of this: few shapes to compile, little padding."""
        return min(8, max(1, self.length // 16))


class Epoch(NamedTuple):
    """The instances of one epoch, in the order of the text. Shape of each: (instances,)."""

    keys: Keys
    starts: NDArray[np.int64]  # first token of a
    first: NDArray[np.int64]  # tokens of a
    second: NDArray[np.int64]  # tokens of b, the text after a; 0 for a single text
    swapped: NDArray[np.bool_]  # b stands first
    short: NDArray[np.bool_]  # target length below the full length

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Tokens of each instance, ``[CLS]`` and ``[SEP]`` included."""
        pair = self.second > 0
        return self.first + self.second + np.where(pair, PAIR_SPECIALS, SINGLE_SPECIALS)


class BatchPlan(NamedTuple):
    """An epoch's instances in random batches of similar length."""

    epoch: Epoch
    order: NDArray[np.int64]  # all instances
    bounds: NDArray[np.int64]  # of each batch within ``order``. Shape: (batches, 2)


class Segments(NamedTuple):
    """Sentences; those too long for an instance are cut, before a word if possible."""

    starts: NDArray[np.int64]  # first token of each, and the end of the last; (segments + 1,)
    whole: NDArray[np.bool_]  # whether a sentence starts (or ends) there; (segments + 1,)
    documents: NDArray[np.int64]  # first segment of each document, and the number of segments


def cut_sentences(shards: Shards, room: int) -> Segments:
    """Cut the sentences of more than ``room`` tokens, before a word if possible.

    Raises:
        ConfigError: If there is no text.
    """
    sentences, documents = shards.sentences(), shards.documents()
    if len(shards) == 0:
        raise ConfigError("the shards hold no text")
    # A part's first document starts at its first token, so no sentence spans two parts.
    extra = [
        cut
        for index in np.flatnonzero(np.diff(sentences) > room)
        for cut in _cuts(shards, int(sentences[index]), int(sentences[index + 1]), room)
    ]
    starts = np.sort(np.concatenate([sentences, np.array(extra, np.int64)]), kind="stable")
    whole = np.ones(len(starts), np.bool_)
    whole[np.searchsorted(starts, extra)] = False
    return Segments(starts, whole, np.searchsorted(starts, documents))


def _cuts(shards: Shards, start: int, end: int, room: int) -> list[int]:
    _, word_starts = shards.gather(np.array([start]), np.array([end - start]))
    words = np.flatnonzero(word_starts)
    cuts: list[int] = []
    place, length = 0, end - start
    while length - place > room:
        last = int(words[np.searchsorted(words, place + room, side="right") - 1])
        place = last if last > place else place + room
        cuts.append(start + place)
    return cuts


def plan_epoch(segments: Segments, config: InstanceConfig, epoch: int) -> Epoch:
    """Decide the instances of an epoch: their borders, where pairs are split, which are swapped.

    Each document is filled from its start with as many whole segments as fit the target length, at
    least one. Borders differ between epochs, because shorter target lengths do.

    Raises:
        ConfigError: If no document has ``min_tokens`` tokens.
    """
    begins, ends, short = _fill(segments, config, epoch)
    starts = segments.starts
    kept = starts[ends] - starts[begins] >= config.min_tokens
    begins, ends, short = begins[kept], ends[kept], short[kept]
    if not len(begins):
        raise ConfigError(f"no document has {config.min_tokens} tokens (min_tokens)")
    numbers = keys(config.seed, epoch, np.arange(len(begins)))
    is_pair = (ends - begins > 1) & segments.whole[begins] & segments.whole[ends]
    inner = below(draw(numbers, _SPLIT), np.maximum(ends - begins - 1, 1))
    middle = np.where(is_pair, begins + 1 + inner, ends)
    return Epoch(
        keys=numbers,
        starts=starts[begins],
        first=starts[middle] - starts[begins],
        second=starts[ends] - starts[middle],
        swapped=is_pair & (uniform(draw(numbers, _SWAP)) < config.swap_rate),
        short=short,
    )


def plan_batches(
    instances: Epoch, config: InstanceConfig, epoch: int, *, batch_tokens: int
) -> BatchPlan:
    """Put instances of similar length into batches, and the batches into random order."""
    seed, step = config.seed, config.length_step
    shuffle = keys(seed, _SHUFFLE + epoch, np.arange(len(instances.starts)))
    lengths = -(-instances.sizes // step) * step
    order = np.lexsort((shuffle, lengths))
    lengths = lengths[order]
    rows = np.maximum(batch_tokens // lengths, 1)
    begins_length = np.diff(lengths, prepend=-1) != 0
    firsts = np.flatnonzero(begins_length)
    within = np.arange(len(order)) - firsts[np.cumsum(begins_length) - 1]
    begins = np.flatnonzero(within % rows == 0)
    bounds = np.stack([begins, np.append(begins[1:], len(order))], axis=1)
    mixed = np.argsort(keys(seed, _BATCHES + epoch, np.arange(len(bounds))), kind="stable")
    return BatchPlan(instances, order, bounds[mixed])


def _fill(
    segments: Segments, config: InstanceConfig, epoch: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return first and end segment of each instance, and whether its target length was shorter.

    All documents are filled in parallel, one instance of each at a time.
    """
    room = config.length - PAIR_SPECIALS
    starts = segments.starts
    documents = np.arange(len(segments.documents) - 1)
    place, stop = segments.documents[:-1], segments.documents[1:]
    filled: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]] = []
    document_keys = keys(config.seed, epoch, documents)
    step = 0
    while len(documents):
        aim, short = _target_lengths(document_keys[documents], step, room, config.short_rate)
        end = np.searchsorted(starts, starts[place] + aim, side="right") - 1
        end = np.clip(end, place + 1, stop)
        filled.append((place, end, short))
        going = end < stop
        documents, place, stop = documents[going], end[going], stop[going]
        step += 1
    begins, ends, shorts = (np.concatenate(arrays) for arrays in zip(*filled, strict=True))
    order = np.argsort(begins)
    return begins[order], ends[order], shorts[order]


def _target_lengths(
    documents: Keys, step: int, room: int, short_rate: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the target length of each document's next instance, and whether it is a
    shorter one.
    """
    low = min(_SHORTEST_TARGET, room)
    short = uniform(draw(documents, _TARGET, 2 * step)) < short_rate
    aims = low + below(draw(documents, _TARGET, 2 * step + 1), room - low + 1)
    return np.where(short, aims, room), short
