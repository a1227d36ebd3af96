"""A second opinion beside the network: n-gram embeddings, one convolution, a CRF.

Names are learned by heart faster from n-grams than by an encoder; what a name is in a sentence
that no n-gram tells, the encoder knows. Their scores joined are better than either
(docs/experiments/ngrams.md).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from zh_albert.errors import CheckpointError
from zh_albert.model.crf import Transitions, log_likelihood
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tags import legal_moves, num_tags, tags_of
from zh_albert.tasks.ngrams import hashed_ngrams, known_places, packed, tokens_of, unpacked
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.batching import Size, shuffled_batches
from zh_albert.training.events import Observer
from zh_albert.training.stages import StageMeter, silent

_ORDERS = 3  # single tokens, pairs and triples
_WIDTH = 12  # numbers that an n-gram is; the tags are made of them
_REACH = 2  # tokens to each side at which n-grams begin that a token is told of
_SEEN = 2  # times at least, or as often as any is; rarer n-grams are left out
_MOST = 100_000  # n-grams, those seen most often: 1.2 MB
_RATE, _BATCH_TOKENS = 0.05, 1024
_EPOCHS, _UPDATES, _MOST_EPOCHS = 3, 400, 20  # more epochs where three make fewer updates
_FORGOTTEN = 0.2  # of the n-grams at each update, so that names are known by more than one
_ROWS = 65_536  # read at a time: bounds memory
_LEVELS = 127  # of a number's size in 8 bits


class NgramTagger(nn.Module):
    """Scores of tags from the n-grams around each token.

    Attributes:
        names: The n-grams known, as sorted hashes. Shape: (n-grams,).
        vectors: What each is; row 0 stands for the unknown ones, and for none.
        near: From the n-grams that begin near a token to its tags.
        transitions: Scores of the moves between tags.
    """

    def __init__(self, names: NDArray[np.uint32], num_types: int) -> None:
        super().__init__()
        self.names = names
        self.vectors = nn.Embedding(len(names) + 1, _WIDTH, padding_idx=0)
        self.near = nn.Conv1d(_ORDERS * _WIDTH, num_tags(num_types), 2 * _REACH + 1)
        self.transitions = Transitions(legal_moves(num_types))

    @classmethod
    def fit(
        cls,
        passages: Sequence[Passage],
        num_types: int,
        *,
        seed: int,
        progress: Observer = silent,
    ) -> NgramTagger:
        """Learn from texts with entities that do not overlap; ``say`` is told how far it is."""
        hashes = [_hashes(passage.text) for passage in passages]
        names, seen = np.unique(np.concatenate(hashes), return_counts=True)
        often = np.argsort(-seen, kind="stable")[:_MOST]
        often = np.sort(often[seen[often] >= min(_SEEN, seen.max())])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            tagger = cls(names[often], num_types)
            nn.init.normal_(tagger.vectors.weight[1:].detach(), std=0.05)
            tagger._learn([tagger._rows(h) for h in hashes], passages, seed, progress)
        return tagger.eval().requires_grad_(False)

    def _learn(
        self, rows: list[Tensor], passages: Sequence[Passage], seed: int, progress: Observer
    ) -> None:
        optimizer = torch.optim.Adagrad(self.parameters(), lr=_RATE)
        tags = [torch.tensor(tags_of(passage.spans, passage.tokens)) for passage in passages]
        plan = _planned([passage.text.size for passage in passages], seed)
        stage = StageMeter("updates of n-grams", len(plan), progress)
        for item in plan:
            chosen = torch.cat([rows[index] for index in item])
            kept = torch.rand(chosen.shape) >= _FORGOTTEN
            found = self(chosen * kept)
            counts = [len(tags[index]) for index in item]
            emissions = pad_sequence(_texts_of(found, counts), batch_first=True)
            mask = torch.arange(emissions.shape[1]) < torch.tensor(counts)[:, None]
            wanted = pad_sequence([tags[index] for index in item], batch_first=True)
            optimizer.zero_grad()
            likelihood = log_likelihood(emissions, mask, self.transitions(), wanted)
            torch.autograd.backward(-likelihood.mean())
            optimizer.step()
            stage.advance()

    def forward(self, rows: Tensor) -> Tensor:
        """Return the scores of tags, but for the first two and the last two rows.

        Args:
            rows: The numbers of the n-grams that begin at each token. Shape: (rows, orders).

        Returns:
            Shape: (rows - 4, tags).
        """
        scores: Tensor = self.near(self.vectors(rows).flatten(1).T[None])[0].T
        return scores

    def emissions(self, texts: Sequence[EncodedText]) -> list[Tensor]:
        """Return the scores of tags of each text. Shape of each: (tokens, tags)."""
        if not texts:
            return []
        each = [self._rows(_hashes(text)) for text in texts]
        rows, edge = torch.cat(each), 2 * _REACH
        parts = [self(rows[at : at + _ROWS + edge]) for at in range(0, len(rows) - edge, _ROWS)]
        return _texts_of(torch.cat(parts), [len(own) - edge for own in each])

    def _rows(self, hashes: NDArray[np.uint32]) -> Tensor:
        """Return the numbers of a text's n-grams by where they begin. Shape: (tokens + 4, orders).

        The second row and the last but one are the text's borders; the outer ones are empty, so
        that the texts around it do not count.
        """
        places, known = known_places(self.names, hashes)
        counts = _counts(hashes)
        rows = np.zeros((counts[0] + 2, _ORDERS), np.int32)
        ends = list(accumulate(counts))
        for order, (count, end) in enumerate(zip(counts, ends, strict=True)):
            part = slice(end - count, end)
            rows[1 : 1 + count, order] = np.where(known[part], places[part] + 1, 0)
        return torch.from_numpy(rows)

    def to_bytes(self, *, exact: bool = False) -> bytes:
        """Return what ``ngrams.npz`` holds: vectors in 8 bits, the rest in half precision.

        Args:
            exact: Store all numbers as they are, in three times the space.
        """
        vectors = self.vectors.weight[1:]
        rest = {k: v for k, v in self.state_dict().items() if k != "vectors.weight"}
        if exact:
            stored = {"vectors": vectors, **rest}
        else:
            scales = vectors.abs().amax(0).clamp_min(torch.finfo(torch.float32).tiny) / _LEVELS
            rounded = (vectors / scales).round().to(torch.int8)
            halves = {name: tensor.half() for name, tensor in rest.items()}
            stored = {"vectors": rounded, "scales": scales, **halves}
        return packed(self.names, {name: tensor.numpy() for name, tensor in stored.items()})

    @classmethod
    def load(cls, path: Path, num_types: int) -> NgramTagger:
        """Read what ``to_bytes`` returned.

        Args:
            path: Of the file.
            num_types: How many types of entities it should know.

        Raises:
            CheckpointError: If the file is missing, damaged, or of another model.
        """
        found = unpacked(path)
        tagger = cls(found.pop("names"), num_types)
        tensors = {name: torch.from_numpy(array) for name, array in found.items()}
        try:
            vectors = tensors.pop("vectors").float() * tensors.pop("scales", torch.ones(()))
            rows = torch.cat([torch.zeros(1, _WIDTH), vectors])
            tagger.load_state_dict({"vectors.weight": rows, **tensors})
        except (KeyError, RuntimeError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise CheckpointError(
                f"{path}: of another model than one of {num_types} types ({reason}); get the "
                "folder again"
            ) from None
        return tagger.eval().requires_grad_(False)


def _planned(sizes: Sequence[Size], seed: int) -> list[list[int]]:
    """Return the batches of all epochs, as indices of texts."""
    rng, plan = random.Random(seed), []
    for epoch in range(_MOST_EPOCHS):
        batches = shuffled_batches(sizes, _BATCH_TOKENS, rng)
        if epoch * len(batches) >= max(_UPDATES, _EPOCHS * len(batches)):
            break
        plan += batches
    return plan


def _hashes(text: EncodedText) -> NDArray[np.uint32]:
    """Return the n-grams of a text between two borders, shorter ones first."""
    return hashed_ngrams(np.pad(tokens_of(text), 1), _ORDERS)


def _counts(hashes: NDArray[np.uint32]) -> list[int]:
    """Say how many n-grams of each order these are: each order has one less than the one before."""
    shortest = (len(hashes) + _ORDERS * (_ORDERS - 1) // 2) // _ORDERS
    return [shortest - order for order in range(_ORDERS)]


def _texts_of(scores: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """Take the rows of each text's tokens; between two texts there are four that mean nothing."""
    gap = 2 * _REACH
    parts = torch.split(scores, [count + gap for count in counts[:-1]] + [counts[-1]])
    return [part[:count] for part, count in zip(parts, counts, strict=True)]
