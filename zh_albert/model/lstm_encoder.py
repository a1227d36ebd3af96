"""An encoder of bidirectional LSTMs in the place of transformer layers, and the choice of one.

Above the embeddings it is no ALBERT; below and around it everything stays, so that every task, file
and runtime takes it as a smaller encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig, LayerKind
from zh_albert.model.dropout import Dropout
from zh_albert.model.encoder import AlbertEncoder, EncoderOutput
from zh_albert.model.sharing import LayerBlocks


def build_encoder(config: AlbertConfig) -> AlbertEncoder:
    """Return an untrained encoder of the kind of layers that a config names."""
    return LstmEncoder(config) if config.layer == "lstm" else AlbertEncoder(config)


def encoder_without_pooler(config: AlbertConfig) -> AlbertEncoder:
    """Return an encoder with a frozen pooler: its user does not need it, but other tasks do."""
    encoder = build_encoder(config)
    encoder.pooler.requires_grad_(False)
    return encoder


def refuse_lstm(config: AlbertConfig, what: str) -> None:
    """Check that an encoder has transformer layers.

    Args:
        config: The encoder's.
        what: What needs them, for the error.

    Raises:
        ConfigError: If its layers are LSTMs.
    """
    if config.layer == "lstm":
        raise ConfigError(
            f"{what}: expected an encoder of transformer layers, found one of LSTMs; leave it out, "
            "or take another model"
        )


class BidirectionalLstm(nn.Module):
    """One layer: an LSTM in each direction, side by side.

    Args:
        width: Of its input and its output; even.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cells = nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)

    def forward(self, hidden: Tensor, lengths: Tensor) -> Tensor:
        """Return the states at every token; 0 at padding. Shape in and out: (batch, length, width).

        Both directions read a row's own tokens alone, so neither padding nor other rows have any
        influence. Autocast is off: a CPU is six times slower at an LSTM in bf16.

        Args:
            hidden: Shape: (batch, length, width).
            lengths: Tokens of each row, at least 1, on the CPU. Shape: (batch,).
        """
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.to(next(self.cells.parameters()).dtype)
            packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
            states, _ = self.cells(packed)
            padded: Tensor = pad_packed_sequence(
                states, batch_first=True, total_length=hidden.shape[1]
            )[0]
        return padded


class LstmEncoder(AlbertEncoder):
    """Embed tokens as ALBERT does, then run bidirectional LSTMs, one over the other.

    The embeddings are ALBERT's, positions and types included: so they can be a trained model's to
    the bit, and pairs keep their types. An LSTM needs no positions; they are a fortieth of the
    embeddings of this project's vocabulary. Padding stands at the end of a row, as all windows and
    batches here have it.

    Source: Tang et al. 2019 (arXiv:1903.12136), the student of one layer, of 300 units there.
    """

    layer: ClassVar[LayerKind] = "lstm"

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.lstm = nn.ModuleList(
            BidirectionalLstm(config.hidden_size) for _ in range(config.num_hidden_layers)
        )
        self.dropout = Dropout(config.hidden_dropout_prob)

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

        Args:
            token_ids: Vocabulary ids. Shape: (batch, length).
            type_ids: 0 for the first text, 1 for the second. Shape: (batch, length).
            mask: True for a row's tokens, which stand before its padding. Shape: (batch, length).
            return_states: Also return the output of the embeddings and of each layer.
            return_attention: Refused, for there is none.
            plan: Refused, for there are no blocks.

        Raises:
            ConfigError: If length exceeds ``max_position_embeddings``, or attention or a plan is
                asked for.
        """
        if return_attention or plan is not None:
            refuse_lstm(self.config, "attention" if return_attention else "a plan of blocks")
        hidden = self.embeddings(token_ids, type_ids)
        lengths = mask.sum(1).clamp(min=1).cpu()  # of a row without tokens the first is read
        states = [hidden]
        for number, layer in enumerate(self.lstm):
            hidden = layer(self.dropout(hidden) if number else hidden, lengths)
            if return_states:
                states.append(hidden)
        return EncoderOutput(hidden, tuple(states) if return_states else None, None)

    def encode_some(
        self, token_ids: Tensor, type_ids: Tensor, mask: Tensor, columns: Tensor
    ) -> Tensor:
        """Return the last layer's output for selected tokens; see ``AlbertEncoder``."""
        hidden = self(token_ids, type_ids, mask).hidden
        chosen: Tensor = hidden.gather(1, columns[:, :, None].expand(-1, -1, hidden.shape[-1]))
        return chosen
