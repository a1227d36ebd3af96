"""The multiple-choice model: tokenizer, network and windows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import Pooling
from zh_albert.runtimes.onnx_network import sequence_logits
from zh_albert.tasks.batched_inference import predicted_outputs
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.choice.network import ChoiceScorer
from zh_albert.tasks.choice.relevance import relevant_part
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_pair
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import Tokenizer


class TextChooser(TaskModel[Question, list[EncodedText]]):
    """A multiple-choice model: questions → the probability of each of their choices.

    A choice is read as ``[CLS] context [SEP] question [SEP] choice [SEP]``, the context as the
    first text of a pair and the rest as the second, and gets one logit; the softmax over a
    question's logits compares its choices. Of a long context the relevant part is read, in windows
    if need be; see ``encode_pair``.

    Attributes:
        context_tokens: Tokens of a context that are read at most; see ``relevant_part``. 0: all.
    """

    names = ("choice",)
    required = frozenset({"pooling"})
    kept = ("pooling", "context_tokens")
    plural = "questions"
    outputs = staticmethod(sequence_logits)

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        pooling: Pooling = "first",
        context_tokens: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        network = ChoiceScorer(config, pooling=pooling)
        super().__init__(config, tokenizer, network, window=window, metadata=metadata)
        self.pooling, self.context_tokens = pooling, context_tokens

    def no_content(self, content: Question) -> str:  # noqa: ARG002
        """See ``TaskModel``."""
        return (
            "has an empty context or choice (or only spaces and control characters): there is "
            "nothing to choose"
        )

    def encode_or_none(
        self,
        contents: Sequence[Question],
        *,
        counted_from: int = 0,  # noqa: ARG002
    ) -> list[list[EncodedText] | None]:
        """See ``TaskModel``: a text for each choice of each question."""
        special, encode = self.tokenizer.special, self.tokenizer.encode_batch
        contexts = encode([question.context for question in contents])
        asked = encode([question.question for question in contents])
        every = iter(encode([choice for question in contents for choice in question.choices]))
        encoded: list[list[EncodedText] | None] = []
        for question, context, lead in zip(contents, contexts, asked, strict=True):
            choices = list(itertools.islice(every, len(question.choices)))
            if not (context.ids and choices and all(choice.ids for choice in choices)):
                encoded.append(None)
                continue
            ids, room = [choice.ids for choice in choices], self.context_tokens
            part = relevant_part(question.context, context, lead.ids, ids, room)
            head = [*lead.ids, special.sep] if lead.ids else []
            seconds = [Encoding([*head, *choice.ids], []) for choice in choices]
            encoded.append([encode_pair(part, one, special, self.window) for one in seconds])
        return encoded

    def probabilities_of(
        self, encoded: Sequence[Sequence[EncodedText]]
    ) -> list[NDArray[np.float32]]:
        """Return the probability of each choice of each question. Shape of each: (choices,).

        Args:
            encoded: Questions that ``encode`` cut.
        """
        logits = self.logits_of(encoded)
        parts = torch.split(logits[:, 0], [len(choices) for choices in encoded])
        return [np.asarray(part.softmax(0)) for part in parts]

    def logits_of(self, encoded: Sequence[Sequence[EncodedText]]) -> Tensor:
        """Return the logit of every choice of every question. Shape: (choices of all, 1)."""
        every = [choice for choices in encoded for choice in choices]
        return predicted_outputs(self.runtime, every, width=1, config=self.config, odds=True)

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:
        """See ``TaskModel``."""
        return ChoiceScorer(config, pooling=settings.get("pooling", "first"))
