"""The n-gram ensemble member of a tagger: n-gram embeddings, one convolution, a CRF.

An n-gram model memorises names faster than an encoder; the encoder recognises names from their
context. Their combined scores are better than either (docs/experiments/ngrams.md).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from zh_albert.checkpoints.finite import refuse_not_finite
from zh_albert.errors import CheckpointError
from zh_albert.model.crf import LearnedTransitions, log_likelihood
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.ngrams import hashed_ngrams, known_places, packed, tokens_of, unpacked
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.batching import Size, shuffled_batches
from zh_albert.training.events import Observer
from zh_albert.training.stages import StageMeter, silent

_ORDERS = 3  # single tokens, pairs and triples
_WIDTH = 12  # size of the n-gram embeddings
_REACH = 2  # a token sees the n-grams that begin up to this many tokens to each side
_SEEN = 2  # minimum count, or the highest count if that is lower; rarer n-grams are left out
_MOST = 100_000  # n-grams, those seen most often: 1.2 MB
_RATE, _BATCH_TOKENS = 0.05, 1024
_EPOCHS, _UPDATES, _MOST_EPOCHS = 3, 400, 20  # more epochs if three make fewer updates
_FORGOTTEN = 0.2  # share of n-grams dropped at each update, so that no name depends on a single one
_ROWS = 65_536  # read at a time: bounds memory
_LEVELS = 127  # levels of a number's magnitude in 8 bits


class NgramTagger(nn.Module):
    """A network that scores tags from the n-grams around each token.

    Attributes:
        names: Sorted hashes of the known n-grams. Shape: (n-grams,).
        vectors: Embeddings of the n-grams; row 0 is for unknown n-grams and for none.
        near: The convolution from the n-grams that begin near a token to its tags.
        transitions: Their scores between tags.
    """

    def __init__(self, names: NDArray[np.uint32], tags: TagSet) -> None:
        super().__init__()
        self.names, self._tags = names, tags
        self.vectors = nn.Embedding(len(names) + 1, _WIDTH, padding_idx=0)
        self.near = nn.Conv1d(_ORDERS * _WIDTH, len(tags.names), 2 * _REACH + 1)
        self.transitions = LearnedTransitions(tags.legal)

    @classmethod
    def fit(
        cls,
        passages: Sequence[Passage],
        tags: TagSet,
        *,
        seed: int,
        progress: Observer = silent,
    ) -> NgramTagger:
        """Train on texts with entities that do not overlap; ``progress`` observes it."""
        hashes = [_hashes(passage.text) for passage in passages]
        names, seen = np.unique(np.concatenate(hashes), return_counts=True)
        often = np.argsort(-seen, kind="stable")[:_MOST]
        often = np.sort(often[seen[often] >= min(_SEEN, seen.max())])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            tagger = cls(names[often], tags)
            nn.init.normal_(tagger.vectors.weight[1:].detach(), std=0.05)
            tagger._learn([tagger._rows(h) for h in hashes], passages, seed, progress)
        return tagger.eval().requires_grad_(False)

    def _learn(
        self, rows: list[Tensor], passages: Sequence[Passage], seed: int, progress: Observer
    ) -> None:
        optimizer = torch.optim.Adagrad(self.parameters(), lr=_RATE)
        tags = [torch.tensor(self._tags.of_spans(one.spans, one.tokens)) for one in passages]
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
        """Return the scores of tags, except for the first two and the last two rows.

        Args:
            rows: Indices of the n-grams that begin at each token. Shape: (rows, orders).

        Returns:
            Shape: (rows - 4, tags).
        """
        return self._scores(rows, self.vectors.weight.dtype)

    def _scores(self, rows: Tensor, dtype: torch.dtype) -> Tensor:
        inputs, near = self.vectors(rows).flatten(1).T[None], self.near
        assert near.bias is not None
        outputs = F.conv1d(inputs.to(dtype), near.weight.to(dtype), near.bias.to(dtype))
        return outputs[0].T

    def emissions(self, texts: Sequence[EncodedText]) -> list[Tensor]:
        """Return the scores of tags of each text. Shape of each: (tokens, tags).

        They are summed up in double precision, so that how many texts there are does not show in
        the last bit.
        """
        if not texts:
            return []
        each = [self._rows(_hashes(text)) for text in texts]
        rows, edge = torch.cat(each), 2 * _REACH
        chunks = (rows[at : at + _ROWS + edge] for at in range(0, len(rows) - edge, _ROWS))
        parts = [self._scores(chunk, torch.float64).float() for chunk in chunks]
        return _texts_of(torch.cat(parts), [len(own) - edge for own in each])

    def _rows(self, hashes: NDArray[np.uint32]) -> Tensor:
        """Return the indices of a text's n-grams by first token. Shape: (tokens + 4, orders).

        The second row and the last but one are the text's borders; the outer ones are empty, so
        that adjacent texts have no influence.
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
        """Return the content of ``ngrams.npz``: vectors in 8 bits, the rest in half precision.

        Args:
            exact: Store all numbers without loss, in three times the space.
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
    def load(cls, path: Path, tags: TagSet) -> NgramTagger:
        """Read a file written by ``to_bytes``.

        Args:
            path: Path of the file.
            tags: The expected tags.

        Raises:
            CheckpointError: If the file is missing, damaged, or of another model.
        """
        found = unpacked(path)
        tagger = cls(found.pop("names"), tags)
        tensors = {name: torch.from_numpy(array) for name, array in found.items()}
        try:
            vectors = tensors.pop("vectors").float() * tensors.pop("scales", torch.ones(()))
            rows = torch.cat([torch.zeros(1, _WIDTH), vectors])
            tagger.load_state_dict({"vectors.weight": rows, **tensors})
            refuse_not_finite(tagger.state_dict(), path)
        except CheckpointError:
            raise
        except (KeyError, RuntimeError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise CheckpointError(
                f"{path}: of another model than one of {len(tags.types)} types ({reason}); get the "
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
    """Return the number of n-grams of each order; each order has one less than the one before."""
    shortest = (len(hashes) + _ORDERS * (_ORDERS - 1) // 2) // _ORDERS
    return [shortest - order for order in range(_ORDERS)]


def _texts_of(scores: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """Return the rows of each text's tokens; the four rows between two texts are skipped."""
    gap = 2 * _REACH
    parts = torch.split(scores, [count + gap for count in counts[:-1]] + [counts[-1]])
    return [part[:count] for part, count in zip(parts, counts, strict=True)]
