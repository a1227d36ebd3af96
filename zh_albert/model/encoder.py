"""ALBERT encoder: embeddings, then every layer of the sharing plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig, LayerKind
from zh_albert.model.embeddings import FactorizedEmbeddings
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock
from zh_albert.model.sharing import LayerBlocks, heads_of, neurons_of, plan_of


class EncoderOutput(NamedTuple):
    """Output of an encoder; optional parts are None unless requested."""

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

    Attributes:
        config: Sizes and variant.
        plan: The blocks that each layer runs.
        layers_in_training: The attention and feed-forward module of each layer that run in place of
            the plan's in training mode, as methods ask that drop layers or mix in another
            encoder's; none: the embeddings' output only. None, the default, is the plan.
            Evaluation mode always runs the plan. These modules are not part of this one: neither
            its parameters nor its mode or device are theirs, unless they are its own blocks.
    """

    architecture: ClassVar[str] = "AlbertModel"
    """The class of ``transformers`` that computes the same."""
    layer: ClassVar[LayerKind] = "transformer"
    """The kind of layer that the class runs; ``lstm_encoder.build_encoder`` chooses the class."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        assert config.layer == self.layer, "build_encoder chooses the class"
        self.config = config
        self.plan = plan_of(config)
        self.layers_in_training: Sequence[tuple[nn.Module, nn.Module]] | None = None
        self.embeddings = FactorizedEmbeddings(config)
        self.attention = nn.ModuleList(AttentionBlock(config, heads) for heads in heads_of(config))
        self.ffn = nn.ModuleList(FeedForwardBlock(config, size) for size in neurons_of(config))
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

        A row without any True in ``mask`` attends to all its tokens: its outputs are meaningless
        but finite, so a loss that ignores the row stays finite, too.

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to, bool. Shape: (batch, length).
            return_states: Also return the output of the embeddings and of each layer.
            return_attention: Also return attention probabilities; slower.
            plan: The blocks to run, in order, also in training; None: the encoder's own plan, or
                ``layers_in_training``.

        Raises:
            ConfigError: If length exceeds ``max_position_embeddings``.
        """
        attendable = _attendable(mask)
        hidden = self.embeddings(token_ids, type_ids)
        states, attention = [hidden], []
        for attend, feed_forward in self._running(plan):
            attended, probabilities = attend(
                hidden, attendable, return_probabilities=return_attention
            )
            hidden = feed_forward(attended)
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
        """Return the last layer's output for selected tokens of each text only.

        Otherwise the same as ``forward``, with a cheaper last layer: it computes only keys and
        values for the other tokens.

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True where a token may be attended to, bool. Shape: (batch, length).
            columns: Selected tokens; may repeat. Shape: (batch, selected).

        Returns:
            Shape: (batch, selected, hidden).
        """
        attendable = _attendable(mask)
        hidden = self.embeddings(token_ids, type_ids)
        layers = self._running()
        for attend, feed_forward in layers[:-1]:
            attended, _ = attend(hidden, attendable)
            hidden = feed_forward(attended)
        output: Tensor = hidden.gather(1, columns[:, :, None].expand(-1, -1, hidden.shape[-1]))
        for attend, feed_forward in layers[-1:]:
            attended, _ = attend(hidden, attendable, queries=output)
            output = feed_forward(attended)
        return output

    def _running(
        self, plan: Sequence[LayerBlocks] | None = None
    ) -> Sequence[tuple[nn.Module, nn.Module]]:
        """Return the modules of each layer that runs now; see ``forward``."""
        if plan is None and self.training and self.layers_in_training is not None:
            return self.layers_in_training
        blocks = self.plan if plan is None else plan
        return [(self.attention[layer.attention], self.ffn[layer.ffn]) for layer in blocks]

    def pool(self, hidden: Tensor) -> Tensor:
        """Return a summary of each text, from its first token. Shape: (batch, hidden), values in
        (-1, 1).

        Args:
            hidden: The encoder's last output. Shape: (batch, length, hidden).
        """
        return torch.tanh(self.pooler(hidden[:, 0]))


def _attendable(mask: Tensor) -> Tensor:
    """Let rows without a token attend to all. Shape: (batch, length) → (batch, 1, 1, length)."""
    return (mask | ~mask.any(-1, keepdim=True))[:, None, None, :]


def init_weights(module: nn.Module, std: float) -> None:
    """Initialize matrices from a normal distribution; biases 0, norms 1, padding rows 0.

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


def encoder_of(network: nn.Module) -> AlbertEncoder:
    """Return the encoder of a network with a head, or the encoder that the network is."""
    encoder = network if isinstance(network, AlbertEncoder) else network.encoder
    assert isinstance(encoder, AlbertEncoder)
    return encoder
