"""Every network that has an ONNX graph, small and with random weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from zh_albert.distillation import teacher
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import MeanEncoder, SequenceClassifier
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.model.pretraining_heads import AlbertForPretraining, EncoderOutputs
from zh_albert.runtimes.onnx_graph import Graph
from zh_albert.runtimes.onnx_network import (
    GraphOutputs,
    encoder_outputs,
    mean_vectors,
    sequence_logits,
)
from zh_albert.tasks.choice.network import ChoiceScorer
from zh_albert.tasks.ner.networks import HEADS, build_tagger, entity_scores
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.reading.network import SpanReader, border_logits
from zh_albert.tokenization.encoding import PaddedBatch

CONFIG = AlbertConfig(
    vocab_size=90,
    embedding_size=8,
    hidden_size=24,
    num_hidden_layers=3,
    num_attention_heads=3,
    intermediate_size=40,
    max_position_embeddings=20,
    initializer_range=0.3,
)
VARIANTS: list[dict[str, Any]] = [
    {},
    {"sharing": "none", "hidden_act": "gelu"},
    {"sharing": "attention", "norm_position": "pre"},
    {"sharing": "ffn", "embedding_layout": "brightmart", "hidden_act": "relu"},
    {"num_hidden_layers": 4, "num_hidden_groups": 2},
    {"num_hidden_groups": 2, "block_heads": (2, 5), "block_neurons": (33, 7)},
    {"plan": ((0, 0), (1, 0), (0, 1)), "head_size": 6, "norm_position": "pre"},
]


def batch(rows: int = 4, length: int = 13) -> PaddedBatch:
    rng = np.random.default_rng(rows)
    mask = np.arange(length) < rng.integers(2, length + 1, (rows, 1))
    ids = np.where(mask, rng.integers(1, CONFIG.vocab_size, mask.shape), 0)
    return PaddedBatch(ids, rng.integers(2, size=mask.shape), mask)


class LayerStates(nn.Module):
    """The states after the first two layers, beside each other, as an int8 teacher gives them."""

    def __init__(self, encoder: AlbertEncoder) -> None:
        super().__init__()
        self.encoder = encoder
        encoder.plan = encoder.plan[:2]

    def forward(self, *inputs: Tensor) -> Tensor:
        states = self.encoder(*inputs, return_states=True).states
        return torch.cat([*states[1:]], dim=-1)


def layer_states(network: LayerStates, graph: Graph) -> None:
    teacher.layer_states(network.encoder, graph, layers=(1, 2))


class Exported(NamedTuple):
    """A network, and what writes its graph."""

    network: Any
    outputs: GraphOutputs


def heads(config: AlbertConfig = CONFIG) -> dict[str, Exported]:
    """All networks that have an export, with spread weights."""
    torch.manual_seed(0)
    taggers = {
        name: Exported(build_tagger(config, TagSet.of("abc"), name), entity_scores)
        for name in HEADS
    }
    networks: dict[str, Exported] = {
        **taggers,
        "reader": Exported(SpanReader(config), border_logits),
        "choice": Exported(ChoiceScorer(config), sequence_logits),
        "vectors": Exported(MeanEncoder(config), mean_vectors),
        "states": Exported(LayerStates(build_encoder(config)), layer_states),
        "encoder": Exported(EncoderOutputs(build_encoder(config)), encoder_outputs),
        "masked_lm": Exported(EncoderOutputs(AlbertForPretraining(config)), encoder_outputs),
        "first": Exported(SequenceClassifier(config, 5, pooling="first"), sequence_logits),
        "mean": Exported(SequenceClassifier(config, 5, pooling="mean"), sequence_logits),
    }
    for one in networks.values():
        one.network.eval()
    return networks
