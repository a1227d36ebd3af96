"""The interface of the heads that mark entities, in training and in prediction."""

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
    """How a network's scores stand for entities.

    In training it sees whole texts. In prediction it sees one window after the other, in any
    order, takes from each what that window decides, and answers when a text's pieces are all
    there: no more than the pieces is ever in memory.
    """

    flat: bool
    """Whether no two entities overlap."""

    def teachable(self, passage: Passage, skipped: SkippedEntities) -> list[TokenSpan]:
        """Return the entities of a passage that this head can mark; count the others."""

    def targets(self, passages: Sequence[Passage], length: int) -> dict[str, Tensor]:
        """Return what ``loss`` needs beside the scores.

        Args:
            passages: The texts of one batch.
            length: Tokens of the batch's longest window.
        """

    def loss(self, scores: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        """Return the loss summed over what ``weight`` counts. Shape: ().

        Args:
            scores: The network's, of all windows of the batch.
            inputs: The batch, ``targets`` among them.
        """

    def weight(self, passages: Sequence[Passage]) -> float:
        """Return what a batch's loss is a sum of: tokens, or windows."""

    def chance_loss(self, passages: Sequence[Passage]) -> float | None:
        """Return the loss of always answering with the frequencies; None if that says nothing."""

    def piece(self, scores: Tensor, part: range, decided: range) -> Any:
        """Return what is to be kept of one window.

        Args:
            scores: The network's for this window, on the CPU, padding included.
            part: The tokens in it.
            decided: What it decides, see ``windows.decided_by``.
        """

    def entities(self, texts: Sequence[Sequence[Any]]) -> list[list[ScoredSpan]]:
        """Return the entities of each text, of which all pieces are given, in order."""
