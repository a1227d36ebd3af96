"""The interface of the entity heads, in training and in prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from zh_albert.tasks.ner.alignment import ScoredSpan, SkippedEntities, TokenSpan
from zh_albert.tasks.windows import EncodedText


@dataclass(frozen=True, slots=True)
class Passage:
    """A training text: its windows, and its entities in tokens."""

    text: EncodedText
    spans: list[TokenSpan]

    @property
    def tokens(self) -> int:
        """Tokens of the text itself, each counted once."""
        return self.text.text_tokens


class EntityHead(Protocol):
    """Interface of a head, which converts between entities and a network's scores.

    In training a head receives whole texts. In prediction it receives single windows in any order,
    keeps from each the part that the window decides, and returns a text's entities when all its
    pieces are there. So only the pieces are in memory.
    """

    flat: bool
    """Whether predicted entities never overlap."""

    def teachable(self, passage: Passage, skipped: SkippedEntities) -> list[TokenSpan]:
        """Return the entities of a passage that this head can mark; count the others."""

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return the inputs of ``loss`` other than the scores.

        Args:
            passages: The texts of one batch.
            length: Tokens of the batch's longest window.
        """

    def loss(self, scores: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the loss, summed over the units that ``weight`` counts. Shape: ().

        Args:
            scores: The network's scores for all windows of the batch.
            inputs: The batch, including ``targets``.
        """

    def weight(self, passages: Sequence[Passage]) -> float:
        """Return the number of units in a batch's loss: tokens or windows."""

    def chance_loss(self, passages: Sequence[Passage]) -> float | None:
        """Return the loss of always predicting the frequencies; None if it is not meaningful."""

    def piece(self, scores: Tensor, part: range, decided: range) -> Any:
        """Return the part of a window's scores to keep.

        Args:
            scores: The network's scores for this window, on the CPU, padding included.
            part: The tokens in the window.
            decided: The range that the window decides, see ``window_ownership.decided_by``.
        """

    def entities(
        self, texts: Sequence[Sequence[Any]], breaks: Sequence[Sequence[int]]
    ) -> list[list[ScoredSpan]]:
        """Return the entities of each text from all of its pieces, in order.

        Args:
            texts: The pieces of each.
            breaks: The tokens before which each text breaks off; no entity goes on behind them.
        """
