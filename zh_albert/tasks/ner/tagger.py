"""A tagger as one thing: tokenizer, encoder with its head, types of entities, windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import Moves
from zh_albert.model.taggers import Head, TokenTagger, build_tagger
from zh_albert.runtimes.exported import exported_runtimes
from zh_albert.runtimes.selection import plain_runtimes
from zh_albert.tasks.ner.alignment import ScoredSpan, flat, to_characters
from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.heads import EntityHead
from zh_albert.tasks.ner.metrics import entity_metrics
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.span_head import SpanHead
from zh_albert.tasks.ner.tag_decoding import best_spans
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tags import tag_names
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tasks.windows import (
    EncodedText,
    WindowConfig,
    decided_by,
    encode_windows,
    window_outputs,
)
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import Tokenizer

_POOL = 2048  # texts read together: bounds the scores that wait to be decoded
_SHARE = 0.3  # of the n-grams in the scores, where no dev examples progress
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_HARDLY = 0.005  # of F1: less than two seeds differ by

Found = list[list[tuple[EntitySpan, float]]]
"""The entities of each text, sorted, with their probabilities."""


class EncodedPassage(NamedTuple):
    """A text's tokens, and its windows."""

    encoding: Encoding
    text: EncodedText


class TextTagger:
    """Texts → entities.

    Attributes:
        module: The network.
        head: How its scores stand for entities.
        head_name: Which head that is.
        tokenizer: Text → token ids.
        labels: Types of entities, in the order of their numbers.
        window: See ``WindowConfig``.
        runtimes: What runs the network when it predicts.
        ngrams: A second opinion on each token's tags, joined with that of a ``crf`` head.
        ngrams_share: Its part in the joined scores.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        *,
        window: WindowConfig,
        head: Head = "crf",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        self.config, self.tokenizer = config, tokenizer
        self.labels, self.window, self.head_name = list(labels), window, head
        self.metadata = dict(metadata or {})
        self.module = build_tagger(config, len(self.labels), head).eval()
        self.head = _head_of(self.module, head, len(self.labels))
        self.runtimes = plain_runtimes(self.module)
        self.ngrams: NgramTagger | None = None
        self.ngrams_share = _SHARE

    def predict(self, texts: Sequence[str], *, batch_tokens: int | None = None) -> Found:
        """Return each text's entities with their probabilities, sorted; a text may have none.

        Args:
            texts: Any length each, also empty.
            batch_tokens: Padded tokens of one forward pass; None: what is fastest.

        Raises:
            DataError: If an element is not a string.
        """
        refuse_non_strings(texts)
        result = []
        for start in range(0, len(texts), _POOL):
            encoded = self.encode(texts[start : start + _POOL])
            result += self.entities_of(encoded, batch_tokens=batch_tokens)
        return result

    def encode(self, texts: Sequence[str]) -> list[EncodedPassage]:
        """Tokenize and cut into windows.

        Raises:
            DataError: If an element is not a string.
        """
        refuse_non_strings(texts)
        special = self.tokenizer.special
        return [
            EncodedPassage(encoding, encode_windows(encoding, special, self.window))
            for encoding in self.tokenizer.encode_batch(texts)
        ]

    def entities_of(
        self, passages: Sequence[EncodedPassage], *, batch_tokens: int | None = None
    ) -> Found:
        """Return the entities of encoded texts; see ``predict``."""
        texts = [passage.text for passage in passages if passage.encoding.ids]
        pieces = self.pieces_of(texts, batch_tokens=batch_tokens)
        with torch.inference_mode():
            if self.ngrams is None:
                return self._found(passages, self.head.entities(pieces))
            scores, others = _whole(pieces), self.ngrams.emissions(texts)
            return self._found(passages, self._joined(scores, others, self.ngrams))

    def tuned_entities(
        self, passages: Sequence[EncodedPassage], gold: Sequence[Sequence[EntitySpan]]
    ) -> Found:
        """Choose on labelled texts, by F1, what the n-grams weigh, and return the entities.

        Names learned by heart are worth more in texts of the same source than in any other, so the
        n-grams weigh no more than they must to come within ``_HARDLY`` of the best.
        """
        if self.ngrams is None:
            return self.entities_of(passages)
        texts = [passage.text for passage in passages if passage.encoding.ids]
        scores, others = _whole(self.pieces_of(texts)), self.ngrams.emissions(texts)
        tried: list[tuple[float, float, Found]] = []
        for self.ngrams_share in _SHARES:
            found = self._found(passages, self._joined(scores, others, self.ngrams))
            f1 = entity_metrics(gold, [[span for span, _ in spans] for spans in found])["f1"]
            tried.append((f1, self.ngrams_share, found))
        best = max(f1 for f1, _, _ in tried)
        _, self.ngrams_share, found = next(one for one in tried if one[0] >= best - _HARDLY)
        return found

    def emissions_of(self, texts: Sequence[EncodedText]) -> list[Tensor]:
        """Return the scores of tags of each text: of the network, joined with the n-grams' if any.

        Only of a head that has tags. Shape of each: (tokens, tags).
        """
        scores = _whole(self.pieces_of(texts))
        if self.ngrams is None:
            return scores
        others = self.ngrams.emissions(texts)
        return [a.lerp(b, self.ngrams_share) for a, b in zip(scores, others, strict=True)]

    def _joined(
        self, scores: Sequence[Tensor], others: Sequence[Tensor], ngrams: NgramTagger
    ) -> list[list[ScoredSpan]]:
        """Decode the network's and the n-grams' scores together, moves among them."""
        learned = cast(TokenTagger, self.module).transitions
        assert learned is not None  # n-grams stand beside a conditional random field only
        share = self.ngrams_share
        both = zip(learned(), ngrams.transitions(), strict=True)
        moves = Moves(*(a.to(b.device).lerp(b, share) for a, b in both))  # a GPU has the network
        return best_spans([a.lerp(b, share) for a, b in zip(scores, others, strict=True)], moves)

    def _found(
        self, passages: Sequence[EncodedPassage], entities: Sequence[Sequence[ScoredSpan]]
    ) -> Found:
        """Return the characters of entities; ``entities``: of the texts that have a token."""
        result: Found = [[] for _ in passages]
        readable = [index for index, passage in enumerate(passages) if passage.encoding.ids]
        for index, spans in zip(readable, entities, strict=True):
            found = to_characters(spans, passages[index].encoding.offsets, self.labels)
            result[index] = flat(found) if self.head.flat else found
        return result

    def pieces_of(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int | None = None
    ) -> list[list[Any]]:
        """Return what the head keeps of each window of each text; see ``EntityHead.piece``."""
        decided = [decided_by(text.parts) for text in encoded]
        pieces: list[list[Any]] = [[None] * len(text.windows) for text in encoded]
        outputs = window_outputs(encoded, self.runtimes, self.config, batch_tokens=batch_tokens)
        with torch.inference_mode():
            for places, scores in outputs:
                for row, (t, w) in zip(torch.from_numpy(scores), places, strict=True):
                    pieces[t][w] = self.head.piece(row, encoded[t].parts[w], decided[t][w])
        return pieces

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        tagged = isinstance(self.module, TokenTagger)
        task = {
            "name": "ner",
            "labels": self.labels,
            "head": self.head_name,
            **({"tags": tag_names(self.labels)} if tagged else {}),
            **asdict(self.window),
            **self.metadata,
        }
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        if self.ngrams:
            task["ngrams"] = {"share": self.ngrams_share}
            files[NGRAMS] = self.ngrams.to_bytes(exact=dtype == torch.float32)
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextTagger:
        """Open a model folder; what was exported into it runs the network, else PyTorch.

        Raises:
            CheckpointError: If it is none, or a model for something else.
            MissingExtraError: If the runtime it was exported for is not installed.
        """
        config, task = load_config(folder)
        if task.get("name") != "ner" or not {"labels", "head", "max_length", "stride"} <= set(task):
            raise CheckpointError(
                f"{folder}: expected a model for ner, found one for "
                f"{task.get('name') or 'no task (an encoder)'}; fine-tune it first: "
                "zh-albert finetune --task ner --init …"
            )
        task.pop("name")
        task.pop("tags", None)
        labels, head = task.pop("labels"), task.pop("head")
        ngrams = task.pop("ngrams", None)
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        tokenizer = matching_tokenizer(folder, config)
        tagger = cls(config, tokenizer, labels, window=window, head=head, metadata=task)
        load_weights(tagger.module, folder)
        tagger.module.eval()
        tagger.runtimes = exported_runtimes(folder, tagger.module) or tagger.runtimes
        if ngrams:
            tagger.ngrams = NgramTagger.load(folder / NGRAMS, len(labels))
            tagger.ngrams_share = float(ngrams["share"])
        return tagger


def _head_of(module: nn.Module, head: Head, num_types: int) -> EntityHead:
    if isinstance(module, TokenTagger):
        return TagHead(module, num_types)
    return SpanHead(num_types) if head == "span" else GlobalPointerHead(num_types)


def _whole(pieces: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Put the pieces of each text's windows in a row."""
    return [torch.cat(list(parts)) for parts in pieces]
