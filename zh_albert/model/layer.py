"""Attention and feed-forward blocks of a layer. Layers that share parameters run the same block."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.model.config import Activation, AlbertConfig
from zh_albert.model.dropout import Dropout, dropped
from zh_albert.model.sharing import head_size_of

# Post-norm, the published form, normalizes the sum: norm(x + block(x)). Pre-norm normalizes the
# input: x + block(norm(x)); as in albert_zh, no norm follows the last layer, so the last hidden
# state is not normalized. Source: brightmart/albert_zh, modeling_preln.py,
# prelln_transformer_model.


class AttentionBlock(nn.Module):
    """Multi-head self-attention with residual connection and norm.

    Args:
        config: Sizes and variant.
        heads: Number of heads, where blocks differ; None: ``config.num_attention_heads``.
    """

    def __init__(self, config: AlbertConfig, heads: int | None = None) -> None:
        super().__init__()
        self.heads = heads or config.num_attention_heads
        width = self.heads * head_size_of(config)
        self.pre_norm = config.norm_position == "pre"
        self.probability_dropout = config.attention_probs_dropout_prob
        self.query = nn.Linear(config.hidden_size, width)
        self.key = nn.Linear(config.hidden_size, width)
        self.value = nn.Linear(config.hidden_size, width)
        self.dense = nn.Linear(width, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(
        self,
        hidden: Tensor,
        mask: Tensor,
        *,
        queries: Tensor | None = None,
        return_probabilities: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the block's output, and the attention probabilities if requested.

        Args:
            hidden: Shape: (batch, length, hidden).
            mask: True where a token may be attended to; at least one in each row. The same for all
                heads and queries. Shape: (batch, 1, 1, length).
            queries: The tokens of ``hidden`` to compute the output for; None: all. Shape: (batch,
                queries, hidden).
            return_probabilities: Also return probabilities; slower, because attention is then
                computed step by step.

        Returns:
            Shape: (batch, queries, hidden); None or (batch, heads, queries, length).
        """
        queries = hidden if queries is None else queries
        query_input, source = queries, hidden
        if self.pre_norm:
            query_input, source = self.norm(queries), self.norm(hidden)
        query = self._split(self.query(query_input))
        key, value = self._split(self.key(source)), self._split(self.value(source))
        dropout = self.probability_dropout if self.training else 0.0
        probabilities = None
        # On a CPU the fused kernel is slow in bf16 and with dropout: written out, a training step
        # of "tiny" in bf16 is 1.6 times as fast at length 32, 1.5 times at 128.
        slow_kernel = query.device.type == "cpu" and (query.dtype == torch.bfloat16 or dropout > 0)
        if return_probabilities or slow_kernel:
            probabilities = _probabilities(query, key, mask)
            attended = dropped(probabilities, dropout) @ value
        else:
            attended = F.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, dropout_p=dropout
            )
        joined = attended.transpose(1, 2).flatten(2)  # (batch, queries, heads · head size)
        output = queries + self.dropout(self.dense(joined))
        if not self.pre_norm:
            output = self.norm(output)
        return output, probabilities if return_probabilities else None

    def _split(self, states: Tensor) -> Tensor:
        """Split heads: (batch, length, width) → (batch, heads, length, width / heads)."""
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)


class FeedForwardBlock(nn.Module):
    """Two linear layers with an activation between them, residual connection and norm.

    The output has no dropout, as in ``transformers``; google's and albert_zh's TensorFlow code has
    one there. All published Chinese sizes have a dropout probability of 0, for which both agree.

    Args:
        config: Sizes and variant.
        neurons: Intermediate size, where blocks differ; None: ``config.intermediate_size``.
    """

    def __init__(self, config: AlbertConfig, neurons: int | None = None) -> None:
        super().__init__()
        neurons = neurons or config.intermediate_size
        self.pre_norm = config.norm_position == "pre"
        self.up = nn.Linear(config.hidden_size, neurons)
        self.activation = build_activation(config.hidden_act)
        self.down = nn.Linear(neurons, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the block's output. Shape in and out: (batch, length, hidden)."""
        source = self.norm(hidden) if self.pre_norm else hidden
        output: Tensor = hidden + self.down(self.activation(self.up(source)))
        if not self.pre_norm:
            output = self.norm(output)
        return output


class TanhGelu(nn.Module):
    """GELU in its tanh form.

    In bf16 on a CPU it uses the erf form: that is as close to the exact tanh form as the tanh
    kernel, which rounds, and takes a third of the time.
    """

    def forward(self, states: Tensor) -> Tensor:
        """Apply the activation. Shape in and out: any."""
        use_erf = states.dtype == torch.bfloat16 and states.device.type == "cpu"
        return F.gelu(states, approximate="none" if use_erf else "tanh")


def build_activation(name: Activation) -> nn.Module:
    """Return the activation of a config's ``hidden_act``."""
    if name == "relu":
        return nn.ReLU()
    return TanhGelu() if name == "gelu_new" else nn.GELU()


def _probabilities(query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Return scaled dot-product attention probabilities. Shape: (batch, heads, queries, length)."""
    # The scores are the largest tensor of a layer, so they are read as rarely as possible: scaling
    # is applied to the query, and the mask by a sum, whose gradient costs nothing (unlike that of
    # masked_fill).
    scaled = query * query.shape[-1] ** -0.5
    lowest = torch.finfo(query.dtype).min
    bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, lowest)
    return F.softmax(scaled @ key.transpose(-2, -1) + bias, dim=-1)
