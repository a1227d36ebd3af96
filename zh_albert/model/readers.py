"""Networks that find the answer to a question in a text."""

from __future__ import annotations

from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import AlbertEncoder, init_weights


class SpanReader(nn.Module):
    """Score for each token whether the answer starts there and whether it ends there.

    The first token, ``[CLS]``, stands for "the answer is not in this window".
    ``transformers.AlbertForQuestionAnswering`` computes the same.

    Args:
        config: Sizes of the encoder.
    """

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.encoder = AlbertEncoder(config)
        self.encoder.pooler.requires_grad_(False)  # kept for other tasks; no answer needs it
        self.dropout = Dropout(config.classifier_dropout_prob)
        self.answer = nn.Linear(config.hidden_size, 2)
        init_weights(self.answer, config.initializer_range)

    def forward(self, token_ids: Tensor, type_ids: Tensor, mask: Tensor) -> Tensor:
        """Return logits of start and end. Shape: (batch, length, 2).

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the question, 1 for the text. Shape: (batch, length).
            mask: True where a token may be attended to. Shape: (batch, length).
        """
        hidden = self.encoder(token_ids, type_ids, mask).hidden
        logits: Tensor = self.answer(self.dropout(hidden))
        return logits
