"""Initialization from corpus statistics: the encoder predicts masked tokens before training.

A randomly initialized encoder spends its first tens of millions of tokens on learning what counting
neighbours gives in seconds: how frequent tokens are, which are similar, and which stand next to
each other. Here these statistics are written into a plain ALBERT:

- output bias: logarithm of each token's frequency;
- word vectors: singular vectors of the positive PMI with near neighbours; some columns are reserved
  for positions, which are sine and cosine pairs;
- query and key of a head: position against position rotated by the head's offset, so each head
  attends to the neighbour at −1, +1, −2, …;
- value and output: the best map, of the head's rank, from a neighbour's word vector to what that
  neighbour predicts, written into directions that the input does not use, so that a shared layer
  only adds the same again;
- the masked-LM head reads those directions.

Feed-forward blocks, the pooler and the sentence-order head are initialized at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from torch import Tensor

from zh_albert.configio import check_at_least
from zh_albert.errors import ConfigError
from zh_albert.model.layer import AttentionBlock
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.pretraining.cooccurrence import CooccurrenceCounts, pointwise_mutual_information

Array = NDArray[np.float64]

_OFFSETS = (-1, 1, -1, 1, -2, 2, -1, 1, -2, 2, -3, 3)  # of heads, the most useful first
_MAX_PAIRS = 13  # sine and cosine pairs of a position


@dataclass(frozen=True, kw_only=True)
class StatisticsConfig:
    """Strength of the statistics in the initial weights."""

    sharpness: float = 2.0  # of the heads' position match; at 4, they attend to one neighbour only
    output_std: float = 0.5  # of attention's output, relative to 1 of the input
    confidence: float = 0.08  # gain of the masked-LM norm; 1 would be far too confident
    head_scale: float = 0.3  # of the masked-LM transform; GELU is nearly linear in this range
    noise_std: float = 0.02  # of all other weights, as in random initialization

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_at_least(0, f"start.statistics.{name}", value)


def initialize_from_statistics(
    model: AlbertForPretraining,
    counts: CooccurrenceCounts,
    special_ids: Sequence[int],
    config: StatisticsConfig,
    *,
    seed: int = 0,
) -> None:
    """Write corpus statistics into a model, in place.

    Args:
        model: Freshly made (its random feed-forward blocks are kept), in google's embedding layout.
        counts: Of the corpus it will be trained on, up to offset 3.
        special_ids: Ids of special tokens; their vectors predict nothing.
        config: Strength of the statistics.
        seed: Of the singular value decomposition and the noise.

    Raises:
        ConfigError: If the encoder has another layout, or no room for the extra directions.
    """
    sizes = model.encoder.config
    if sizes.embedding_layout != "google" or sizes.norm_position != "post":
        raise ConfigError("an initialization from statistics needs the google layout and post-norm")
    head_width = sizes.hidden_size // sizes.num_attention_heads
    pairs = min(_MAX_PAIRS, head_width // 2, sizes.embedding_size // 4)
    meaning = sizes.embedding_size - 2 * pairs  # columns for the meaning of a word
    if sizes.hidden_size < sizes.embedding_size + meaning:
        raise ConfigError(
            "an initialization from statistics needs hidden_size >= "
            f"{sizes.embedding_size + meaning} at embedding_size {sizes.embedding_size}, got "
            f"{sizes.hidden_size}"
        )
    rng = np.random.default_rng(seed)
    if len(counts.unigrams) < meaning:
        raise ConfigError(
            f"an initialization from statistics needs at least {meaning} tokens in the vocabulary, "
            f'found {len(counts.unigrams)}; set start.from = "random", or embedding_size lower'
        )
    words = _word_vectors(counts, meaning, seed)
    offsets = [_OFFSETS[head % len(_OFFSETS)] for head in range(sizes.num_attention_heads)]
    maps = {offset: _prediction_map(counts, words, offset) for offset in set(offsets)}
    words[list(special_ids)] = _silent_direction(maps) * math.sqrt(meaning)

    basis = np.linalg.qr(rng.standard_normal((sizes.hidden_size, sizes.hidden_size)))[0]
    into = basis[:, : sizes.embedding_size]  # directions of the embeddings
    free = basis[:, sizes.embedding_size : sizes.embedding_size + meaning]  # of the predictions
    stretch = math.sqrt(sizes.hidden_size / sizes.embedding_size)

    embeddings = model.encoder.embeddings
    frequencies = math.pi * 256.0 ** (-np.arange(pairs) / 12)
    _set(embeddings.word.weight, np.pad(words, ((0, 0), (0, 2 * pairs))), config.noise_std, rng)
    places = np.arange(sizes.max_position_embeddings)[:, None] * frequencies
    waves = math.sqrt(2) * np.concatenate([np.cos(places), np.sin(places)], axis=1)
    _set(embeddings.position.weight, np.pad(waves, ((0, 0), (meaning, 0))), 0.0, rng)
    with torch.no_grad():
        embeddings.token_type.weight.normal_(std=config.noise_std)
        embeddings.word.weight[sizes.pad_token_id] = 0
    _set(embeddings.projection.weight, into * stretch, 0.0, rng)

    scale = _output_scale(words, maps, counts, config.output_std, sizes.hidden_size)
    wiring = _Wiring(
        read_word=into[:, :meaning].T / stretch,
        read_place=into[:, meaning:].T / stretch,
        write=scale * free,
        head_width=head_width,
    )
    matrices = wiring.attention(offsets, maps, frequencies, config.sharpness)
    for block in model.encoder.attention:
        assert isinstance(block, AttentionBlock)
        linears = (block.query, block.key, block.value, block.dense)
        for linear, matrix in zip(linears, matrices, strict=True):
            _set(linear.weight, matrix, config.noise_std / 10, rng)

    head = model.masked_lm
    reading = np.pad(free.T, ((0, 2 * pairs), (0, 0)))
    _set(head.dense.weight, config.head_scale * reading, 0.0, rng)
    torch.nn.init.constant_(head.norm.weight, config.confidence)
    share = (counts.unigrams + 0.5) / (counts.unigrams + 0.5).sum()
    _set(head.bias, np.log(share), 0.0, rng)


@dataclass(frozen=True)
class _Wiring:
    """Directions in which hidden states hold words and positions, and those for predictions."""

    read_word: Array  # (meaning, hidden)
    read_place: Array  # (2 * pairs, hidden)
    write: Array  # (hidden, meaning)
    head_width: int

    def attention(
        self,
        offsets: Sequence[int],
        maps: dict[int, Array],
        frequencies: Array,
        sharpness: float,
    ) -> tuple[Array, Array, Array, Array]:
        """Return query, key, value and output matrices. Shape of each: (hidden, hidden).

        Heads with the same offset divide its map: each uses the next singular vectors.
        """
        hidden, (meaning, places) = self.write.shape[0], (len(self.read_word), len(self.read_place))
        query, key, value, output = (np.zeros((hidden, hidden)) for _ in range(4))
        taken = dict.fromkeys(offsets, 0)
        for head, offset in enumerate(offsets):
            first = head * self.head_width
            place = slice(first, first + places)
            key[place] = math.sqrt(sharpness) * self.read_place
            query[place] = math.sqrt(sharpness) * _turned(frequencies * offset) @ self.read_place
            left, strength, right = np.linalg.svd(maps[offset])
            begin = min(taken[offset], meaning)
            taken[offset] = end = min(begin + self.head_width, meaning)
            used = slice(first, first + end - begin)
            value[used] = right[begin:end] @ self.read_word
            output[:, used] = self.write @ (left[:, begin:end] * strength[begin:end])
        return query, key, value, output


def _word_vectors(counts: CooccurrenceCounts, width: int, seed: int) -> Array:
    """Return singular vectors of weighted positive PMI at ±1, ±2; every row has unit variance."""
    share = np.maximum(counts.unigrams, 0.5) / counts.unigrams.sum()
    pmi = partial(pointwise_mutual_information, counts, positive=True)
    context = sparse.diags(share**0.375)
    wide = sparse.hstack([pmi(offset) @ context for offset in (-2, -1, 1, 2)]).tocsr()
    weighted = sparse.diags(share**0.25) @ wide
    state = seed % 2**32  # scikit-learn takes no larger one
    left, strength, _ = randomized_svd(weighted, width, n_iter=4, random_state=state)
    vectors: Array = left * np.sqrt(strength)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.max() > 0:
        raise ConfigError(
            'start.from = "statistics": the text is too uniform, no two of its tokens stand '
            'together more often than by chance; give more text, or set it to "random"'
        )
    unseen = lengths[:, 0] < 1e-9 * lengths.max()
    vectors[unseen] = np.random.default_rng(seed).standard_normal((int(unseen.sum()), width))
    result: Array = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * math.sqrt(width)
    return result


def _prediction_map(counts: CooccurrenceCounts, words: Array, offset: int) -> Array:
    """Return the matrix A that minimizes the error of ``w_b · A w_a`` against the PMI of b and a.

    Weighted least squares, with more weight on frequent tokens. Shape: (width, width).
    """
    information = pointwise_mutual_information(counts, offset, positive=False)
    share = counts.unigrams / counts.unigrams.sum()
    weight = share**0.5
    scaled = words * weight[:, None]
    ridge = 1e-3 * np.trace(words.T @ scaled) / words.shape[1] * np.eye(words.shape[1])
    inverse = np.linalg.inv(words.T @ scaled + ridge)
    result: Array = inverse @ (scaled.T @ (information @ scaled)) @ inverse
    return result


def _silent_direction(maps: dict[int, Array]) -> Array:
    """Return the unit vector that the maps attenuate most, for tokens that predict nothing."""
    return np.asarray(np.linalg.svd(np.concatenate(list(maps.values())))[2][-1])


def _turned(angles: Array) -> Array:
    """Return the matrix that rotates a position's cosine and sine columns by ``angles``."""
    cosine, sine = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    return np.block([[cosine, -sine], [sine, cosine]])


def _output_scale(
    words: Array, maps: dict[int, Array], counts: CooccurrenceCounts, std: float, width: int
) -> float:
    """Return the factor that gives attention's output the standard deviation ``std``."""
    share = counts.unigrams / counts.unigrams.sum()
    power = sum(float((share[:, None] * (words @ matrix.T) ** 2).sum()) for matrix in maps.values())
    return std * math.sqrt(width / power)


def _set(target: Tensor, values: Array, noise_std: float, rng: np.random.Generator) -> None:
    noise = rng.standard_normal(values.shape) * noise_std if noise_std else 0.0
    with torch.no_grad():
        target.copy_(torch.from_numpy(np.asarray(values + noise, dtype=np.float32)))
