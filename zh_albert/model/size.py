"""Size of a config in words, in parameters and in arithmetic, without allocating them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.sharing import head_size_of, heads_of, neurons_of, plan_of


def described(config: AlbertConfig) -> str:
    """Return a description of an encoder's sizes for a model card.

    >>> from zh_albert.model.config import PRESETS
    >>> described(PRESETS["tiny"])
    '4 layers of width 312 that share all parameters, embeddings of width 128, vocabulary 21,128'

    A pruned encoder's heads and neurons are those of each block, in order.
    """
    words = f"embeddings of width {config.embedding_size}, vocabulary {config.vocab_size:,}"
    if config.layer == "lstm":
        layers = "layer" if config.num_hidden_layers == 1 else "layers"
        units = f"{config.hidden_size // 2} units a direction"
        return f"{config.num_hidden_layers} bidirectional LSTM {layers} of {units}, {words}"
    shared = {
        "all": "that share all parameters",
        "attention": "that share their attention",
        "ffn": "that share their feed-forward parts",
        "none": "that share nothing",
    }[config.sharing]
    if config.sharing == "all" and config.num_hidden_groups > 1:
        shared = f"in {config.num_hidden_groups} groups that share all parameters"
    if config.plan:
        attention, ffn = (len({*blocks}) for blocks in zip(*config.plan, strict=True))
        shared = f"that run {attention} attention and {ffn} feed-forward blocks"
    sizes = ""
    if config.block_heads or config.head_size:
        heads = _listed(heads_of(config))
        sizes += f", heads {heads} of width {head_size_of(config)}"
    if config.block_neurons:
        sizes += f", neurons {_listed(config.block_neurons)}"
    return (
        f"{config.num_hidden_layers} layers of width {config.hidden_size} {shared}{sizes}, {words}"
    )


def parameter_counts(config: AlbertConfig) -> dict[str, int]:
    """Return the exact numbers of parameters of an encoder and its pretraining heads.

    They are counted on modules without storage, so that xxlarge needs no memory. Shared blocks
    count once; the masked-LM head's output matrix is the word table and is not counted again.

    Returns:
        ``embeddings``, ``attention``, ``ffn`` (instead of both ``lstm``, if layers are LSTMs),
        ``pooler``; ``encoder_parameters``, their sum; ``mlm_head``, ``sentence_order_head``;
        ``parameters``, the total.

    >>> from zh_albert.model.config import PRESETS
    >>> parameter_counts(PRESETS["tiny"])["encoder_parameters"]
    4080520
    """
    with torch.device("meta"):
        model = AlbertForPretraining(config)
    encoder = model.encoder
    kinds = ("lstm",) if config.layer == "lstm" else ("attention", "ffn")
    return {
        "embeddings": _count(encoder.embeddings),
        **{kind: _count(encoder.get_submodule(kind)) for kind in kinds},
        "pooler": _count(encoder.pooler),
        "encoder_parameters": _count(encoder),
        "mlm_head": _count(model.masked_lm),
        "sentence_order_head": _count(model.sentence_order),
        "parameters": _count(model),
    }


def macs_per_token(config: AlbertConfig, length: int) -> int:
    """Return the multiply-accumulates per token of a text, through the embeddings' projection and
    all layers.

    Counted are the matrices of the linear layers and of LSTMs, and both products of attention. Not
    counted are sums and products of single numbers (norms, biases, softmax, gates), the pooler and
    heads. Layers that share a block each run it.

    Args:
        config: Sizes; pruned ones, plans and LSTMs, too.
        length: Tokens of the text, special ones included; each attends to all.

    >>> from zh_albert.model.config import PRESETS
    >>> macs_per_token(PRESETS["tiny"], 128)
    5031936
    """
    heads, neurons, size = heads_of(config), neurons_of(config), head_size_of(config)
    hidden = config.hidden_size
    count = config.embedding_size * hidden
    if config.layer == "lstm":  # two directions, four gates of hidden / 2 units, of input and state
        return count + config.num_hidden_layers * 4 * hidden * (hidden + hidden // 2)
    for layer in plan_of(config):
        width = heads[layer.attention] * size
        count += 4 * hidden * width  # query, key, value, dense
        count += 2 * length * width  # scores, and the means of the values
        count += 2 * hidden * neurons[layer.ffn]
    return count


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
