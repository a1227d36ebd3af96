"""The tagger: tokenizer, network with its head, entity types, n-gram model and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import Transitions
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.breaks import breaks_of
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.ner.alignment import ScoredSpan, flat, to_characters
from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.heads import EntityHead
from zh_albert.tasks.ner.metrics import entity_metrics
from zh_albert.tasks.ner.networks import Head, build_tagger, entity_scores
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.span_head import SpanHead
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tags import TagSet, best_spans
from zh_albert.tasks.tagging.merging import EncodedPassage, encode_passages, pieces_of, whole
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tasks.windows import EncodedText, WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer

_SHARE = 0.3  # of the n-gram model in the scores, without dev examples to tune it
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_NEGLIGIBLE = 0.005  # difference in F1; less than that between two seeds

Found = list[list[tuple[EntitySpan, float]]]
"""The entities of each text, sorted, with their probabilities."""


class TextTagger(TaskModel[str, EncodedPassage]):
    """A tagger: texts → entities.

    Attributes:
        head: The head, which interprets the network's scores.
        head_name: Its name.
        labels: Types of entities, in the order of their numbers.
        tag_set: The tags; only for a ``softmax`` or ``crf`` head.
        ngrams: An ensemble member that scores tags, for a ``crf`` head; or None.
        ngrams_share: Its weight in the combined scores.
        split_at_breaks: Whether no entity goes on behind a line end, or blanks between two Chinese
            characters.
    """

    names = ("ner",)
    required = frozenset({"head"})
    kept = ("labels", "head", "tags", "split_at_breaks")
    outputs = staticmethod(entity_scores)

    ngrams: NgramTagger | None

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        labels: Sequence[str] = (),
        *,
        window: WindowConfig,
        head: Head = "crf",
        tags: Sequence[str] | None = None,
        split_at_breaks: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.tag_set = _tag_set(labels, tags)
        network = build_tagger(config, self.tag_set, head)
        super().__init__(config, tokenizer, network, window=window, metadata=metadata)
        self.labels, self.head_name = list(self.tag_set.types), head
        self.head = _head_of(self.module, head, self.tag_set)
        self.split_at_breaks = split_at_breaks
        self.ngrams_share = _SHARE

    def encode_or_none(
        self, contents: Sequence[str], *, counted_from: int = 0
    ) -> list[EncodedPassage | None]:
        """See ``TaskModel``; a text without tokens is not an error: it has no entities."""
        refuse_non_strings(contents, counted_from=counted_from)
        passages = encode_passages(contents, self.tokenizer, self.window)
        return [
            passage._replace(
                encoding=passage.encoding.over_marks(text),
                breaks=breaks_of(text, passage.encoding.offsets) if self.split_at_breaks else (),
            )
            for text, passage in zip(contents, passages, strict=True)
        ]

    def entities_of(self, passages: Sequence[EncodedPassage]) -> Found:
        """Return each text's entities with their probabilities, sorted; a text may have none.

        Args:
            passages: Texts that ``encode`` cut.
        """
        texts = [passage.text for passage in passages if passage.encoding.ids]
        breaks = [passage.breaks for passage in passages if passage.encoding.ids]
        pieces = self._pieces(texts)
        with torch.inference_mode():
            if self.ngrams is None:
                return self._found(passages, self.head.entities(pieces, breaks))
            scores, others = whole(pieces), self.ngrams.emissions(texts)
            return self._found(passages, self._joined(scores, others, breaks, self.ngrams))

    def tuned_entities(
        self, passages: Sequence[EncodedPassage], gold: Sequence[Sequence[EntitySpan]]
    ) -> Found:
        """Tune the n-gram share on labelled texts, by F1, and return the entities.

        Memorised names help more in texts of the same source than in others, so the smallest share
        within ``_NEGLIGIBLE`` of the best F1 is chosen.
        """
        if self.ngrams is None:
            return self.entities_of(passages)
        texts = [passage.text for passage in passages if passage.encoding.ids]
        breaks = [passage.breaks for passage in passages if passage.encoding.ids]
        scores, others = whole(self._pieces(texts)), self.ngrams.emissions(texts)
        tried: list[tuple[float, float, Found]] = []
        for self.ngrams_share in _SHARES:
            found = self._found(passages, self._joined(scores, others, breaks, self.ngrams))
            f1 = entity_metrics(gold, [[span for span, _ in spans] for spans in found])["f1"]
            tried.append((f1, self.ngrams_share, found))
        best = max(f1 for f1, _, _ in tried)
        _, self.ngrams_share, found = next(one for one in tried if one[0] >= best - _NEGLIGIBLE)
        return found

    def emissions_of(self, texts: Sequence[EncodedText]) -> list[Tensor]:
        """Return the tag scores of each text, of the network or of the ensemble.

        Only for a head with tags. Shape of each: (tokens, tags).
        """
        scores = whole(self._pieces(texts))
        if self.ngrams is None:
            return scores
        others = self.ngrams.emissions(texts)
        return [a.lerp(b, self.ngrams_share) for a, b in zip(scores, others, strict=True)]

    def _joined(
        self,
        scores: Sequence[Tensor],
        others: Sequence[Tensor],
        breaks: Sequence[Sequence[int]],
        ngrams: NgramTagger,
    ) -> list[list[ScoredSpan]]:
        """Decode the combined scores, transitions included, of network and n-gram model."""
        learned = cast(TokenTagger, self.module).transitions
        assert learned is not None  # only a crf head has an n-gram model
        share = self.ngrams_share
        both = zip(learned(), ngrams.transitions(), strict=True)
        # A GPU has the network.
        transitions = Transitions(*(a.to(b.device).lerp(b, share) for a, b in both))
        emissions = [a.lerp(b, share) for a, b in zip(scores, others, strict=True)]
        return best_spans(emissions, transitions, self.tag_set, breaks)

    def _found(
        self, passages: Sequence[EncodedPassage], entities: Sequence[Sequence[ScoredSpan]]
    ) -> Found:
        """Return entities in characters; ``entities`` are those of the texts that have tokens."""
        result: Found = [[] for _ in passages]
        readable = [index for index, passage in enumerate(passages) if passage.encoding.ids]
        for index, spans in zip(readable, entities, strict=True):
            found = to_characters(spans, passages[index].encoding.offsets, self.labels)
            result[index] = flat(found) if self.head.flat else found
        return result

    def _pieces(self, texts: Sequence[EncodedText]) -> list[list[Any]]:
        """Return the pieces that the head keeps of each window; see ``EntityHead.piece``."""
        return pieces_of(texts, self.runtime, self.config, piece=self.head.piece)

    @classmethod
    def refuse_other(cls, folder: Path, settings: Mapping[str, Any]) -> None:
        """See ``TaskModel``; the tags are checked, too."""
        super().refuse_other(folder, settings)
        cls.tags_in(folder, settings)

    @classmethod
    def tags_in(cls, folder: Path, settings: Mapping[str, Any]) -> TagSet:
        """Return the tags of the model in a folder.

        Raises:
            CheckpointError: If they are not those of one scheme, or of other types than its labels.
        """
        try:
            return _tag_set(settings.get("labels"), settings.get("tags"))
        except CheckpointError as error:
            raise CheckpointError(f"{folder}: {error}") from None

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:
        """See ``TaskModel``."""
        types, tags = settings.get("labels"), settings.get("tags")
        if not isinstance(types if tags is None else tags, list):
            raise CheckpointError(f"there are no labels for the tagger, but {types!r}")
        return build_tagger(config, _tag_set(types, tags), cast(Head, settings.get("head")))

    def settings(self) -> dict[str, Any]:
        """See ``TaskModel``."""
        tagged = isinstance(self.module, TokenTagger)
        tags = {"tags": list(self.tag_set.names)} if tagged else {}
        own = {"head": self.head_name, "split_at_breaks": self.split_at_breaks}
        return {"labels": self.labels, **own, **tags}

    def ngrams_settings(self) -> dict[str, float]:
        """See ``TaskModel``."""
        return {"share": self.ngrams_share}

    def load_ngrams(self, file: Path, settings: Mapping[str, float]) -> None:
        """See ``TaskModel``."""
        self.ngrams = NgramTagger.load(file, self.tag_set)
        self.ngrams_share = float(settings["share"])


def _tag_set(types: Sequence[str] | None, tags: Sequence[str] | None) -> TagSet:
    """Return the tags of these names, or those of the types; a published tagger has no types."""
    if tags is None:
        return TagSet.of(types or ())
    found = TagSet.read(tags)
    if types and list(found.types) != list(types):
        raise CheckpointError(
            f"expected tags of the types {', '.join(types)}, in this order, found those of "
            f"{', '.join(found.types)}; get the folder again"
        )
    return found


def _head_of(module: nn.Module, head: Head, tags: TagSet) -> EntityHead:
    if isinstance(module, TokenTagger):
        return TagHead(module, tags)
    num_types = len(tags.types)
    return SpanHead(num_types) if head == "span" else GlobalPointerHead(num_types)
