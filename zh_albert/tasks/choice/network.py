"""The network of multiple choice: a score for each choice."""

from __future__ import annotations

from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import Pooling, SequenceClassifier


class ChoiceScorer(SequenceClassifier):
    """A scorer of single choices, each read as a pair with its question; higher is more likely.

    As ``transformers.AlbertForMultipleChoice``, but choices come as rows of their own, so that
    questions may have different numbers of them.

    Args:
        config: Sizes of the encoder.
        pooling: See ``SequenceClassifier``.
    """

    def __init__(self, config: AlbertConfig, *, pooling: Pooling = "first") -> None:
        super().__init__(config, 1, pooling=pooling)

    @property
    def architecture(self) -> str | None:
        """See ``SequenceClassifier``."""
        return "AlbertForMultipleChoice" if self.pooling == "first" else None
