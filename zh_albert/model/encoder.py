"""The encoder: embeddings, then every layer of the sharing plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.embeddings import FactorizedEmbeddings
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.sharing import LayerBlocks, sharing_plan


class EncoderOutput(NamedTuple):
    """What an encoder returns; the optional parts are None unless they were asked for."""

    hidden: Tensor
    """The last layer's output. Shape: (batch, length, hidden)."""
    states: tuple[Tensor, ...] | None
    """The embeddings' output, then each layer's. Shape of each: (batch, length, hidden)."""
    attention: tuple[Tensor, ...] | None
    """Each layer's probabilities. Shape of each: (batch, heads, length, length)."""


class AlbertEncoder(nn.Module):
    """Embed tokens, then run every layer of the sharing plan in order.

    Source: Lan et al. 2020 (arXiv:1909.11942), section 3.1; for a post-norm encoder in google's
    embedding layout, ``transformers.AlbertModel`` with the same weights gives the same outputs.
    """

    architecture: ClassVar[str] = "AlbertModel"
    """The class of ``transformers`` that computes the same."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.config = config
        self.plan = sharing_plan(config.sharing, config.num_hidden_layers, config.num_hidden_groups)
        attention, ffn = ({*blocks} for blocks in zip(*self.plan, strict=True))
        self.embeddings = FactorizedEmbeddings(config)
        self.attention = nn.ModuleList(AttentionBlock(config) for _ in attention)
        self.ffn = nn.ModuleList(FeedForwardBlock(config) for _ in ffn)
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)
        init_weights(self, config.initializer_range)

    def forward(
        self,
        token_ids: Tensor,
        type_ids: Tensor,
        mask: Tensor,
        *,
        return_states: bool = False,
        return_attention: bool = False,
        plan: Sequence[LayerBlocks] | None = None,
    ) -> EncoderOutput:
        """Encode a batch.

        A row without any True in ``mask`` attends to all its tokens: its outputs mean nothing,
        but they are numbers, so that a loss that leaves the row out stays a number too.

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to, bool. Shape: (batch, length).
            return_states: Also return the output of the embeddings and of each layer.
            return_attention: Also return attention probabilities; slower.
            plan: The blocks that this pass runs, in order; None: the encoder's own plan.

        Raises:
            ConfigError: If length exceeds ``max_position_embeddings``.
        """
        attendable = _attendable(mask)
        hidden = self.embeddings(token_ids, type_ids)
        states, attention = [hidden], []
        for layer in self.plan if plan is None else plan:
            attended, probabilities = self.attention[layer.attention](
                hidden, attendable, return_probabilities=return_attention
            )
            hidden = self.ffn[layer.ffn](attended)
            if return_states:
                states.append(hidden)
            if return_attention:
                attention.append(probabilities)
        return EncoderOutput(
            hidden,
            tuple(states) if return_states else None,
            tuple(attention) if return_attention else None,
        )

    def encode_some(
        self, token_ids: Tensor, type_ids: Tensor, mask: Tensor, columns: Tensor
    ) -> Tensor:
        """Return the last layer's output for some tokens of each text; the others' is not made.

        As ``forward`` otherwise. The last layer is cheap then: only keys and values are needed of
        every token.

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to, bool. Shape: (batch, length).
            columns: Which tokens, any as often as you like. Shape: (batch, some).

        Returns:
            Shape: (batch, some, hidden).
        """
        attendable = _attendable(mask)
        hidden = self.embeddings(token_ids, type_ids)
        *layers, last = self.plan
        for layer in layers:
            attended, _ = self.attention[layer.attention](hidden, attendable)
            hidden = self.ffn[layer.ffn](attended)
        queries = hidden.gather(1, columns[:, :, None].expand(-1, -1, hidden.shape[-1]))
        attended, _ = self.attention[last.attention](hidden, attendable, queries=queries)
        output: Tensor = self.ffn[last.ffn](attended)
        return output

    def pool(self, hidden: Tensor) -> Tensor:
        """Sum up each text by its first token. Shape: (batch, hidden), values in (-1, 1).

        Args:
            hidden: The encoder's last output. Shape: (batch, length, hidden).
        """
        return torch.tanh(self.pooler(hidden[:, 0]))


def _attendable(mask: Tensor) -> Tensor:
    """Let a row without a token attend to all. Shape: (batch, length) → (batch, 1, 1, length)."""
    return (mask | ~mask.any(-1, keepdim=True))[:, None, None, :]


def init_weights(module: nn.Module, std: float) -> None:
    """Draw all matrices from a normal distribution; biases 0, norms 1, padding rows 0.

    Args:
        module: Changed in place, with everything in it.
        std: Standard deviation, ``config.initializer_range``.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            nn.init.zeros_(part.weight[part.padding_idx])
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()
