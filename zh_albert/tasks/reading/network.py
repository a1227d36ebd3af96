"""The network that finds the answer to a question in a text."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import init_weights
from zh_albert.model.lstm_encoder import encoder_without_pooler
from zh_albert.runtimes.onnx_encoder import encoded
from zh_albert.runtimes.onnx_graph import Graph


class SpanReader(nn.Module):
    """A network that scores starts and ends of the answer for each token.

    The first token, ``[CLS]``, stands for "the answer is not in this window".
    ``transformers.AlbertForQuestionAnswering`` computes the same.

    Args:
        config: Sizes of the encoder.
    """

    architecture: ClassVar[str] = "AlbertForQuestionAnswering"

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.encoder = encoder_without_pooler(config)
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


def border_logits(network: SpanReader, graph: Graph) -> None:
    """Add the network to an ONNX graph, with its logits as output. Shape: (batch, length, 2)."""
    logits = graph.linear(encoded(network.encoder, graph), network.answer, int8=False)
    graph.output(logits, ("batch", "length", 2))
