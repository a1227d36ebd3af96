"""The word segmenter: tokenizer, network and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf_decoding import TransitionScores
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.runtimes.onnx_network import token_logits
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.segmentation.examples import WordSpan
from zh_albert.tasks.segmentation.tags import TAGS, legal_transitions, words_of
from zh_albert.tasks.tagging.decoding import decoded
from zh_albert.tasks.tagging.merging import EncodedPassage, encode_passages, pieces_of, whole
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer

Head = Literal["softmax", "crf"]


class TextSegmenter(TaskModel[str, EncodedPassage]):
    """A word segmenter: texts → words, by the best legal sequence of BMES tags.

    Attributes:
        head: ``crf``: transitions between tags are learned; ``softmax``: only their legality
            counts.
    """

    names = ("segmentation",)
    required = frozenset({"head"})
    kept = ("head",)
    outputs = staticmethod(token_logits)

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        head: Head = "crf",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        network = TokenTagger(config, legal_transitions(), transitions=head == "crf")
        super().__init__(config, tokenizer, network, window=window, metadata=metadata)
        self.head = head

    def encode_or_none(
        self, contents: Sequence[str], *, counted_from: int = 0
    ) -> list[EncodedPassage | None]:
        """See ``TaskModel``; a text without tokens is not an error."""
        refuse_non_strings(contents, counted_from=counted_from)
        return [*encode_passages(contents, self.tokenizer, self.window)]

    def words_in(
        self, texts: Sequence[str], passages: Sequence[EncodedPassage]
    ) -> list[list[WordSpan]]:
        """Return the words of texts that ``encode`` cut."""
        tags = iter(self._tags([passage for passage in passages if passage.encoding.ids]))
        return [
            words_of(text, next(tags) if encoding.ids else [], encoding.offsets)
            for text, (encoding, *_) in zip(texts, passages, strict=True)
        ]

    def _tags(self, passages: Sequence[EncodedPassage]) -> list[list[int]]:
        scores = whole(pieces_of([p.text for p in passages], self.runtime, self.config))
        result: list[list[int]] = [[] for _ in scores]
        with torch.inference_mode():
            transitions = TransitionScores.of(self.module.transition_scores())
            for numbers, _, _, tags in decoded(scores, transitions):
                for number, row in zip(numbers, tags.tolist(), strict=True):
                    result[number] = row[: len(scores[number])]
        return result

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:
        """See ``TaskModel``."""
        return TokenTagger(config, legal_transitions(), transitions=settings.get("head") == "crf")

    def settings(self) -> dict[str, Any]:
        """See ``TaskModel``."""
        return {**super().settings(), "tags": list(TAGS)}
