"""Size of a config in words and in parameters, without allocating them."""

from __future__ import annotations

import torch
from torch import nn

from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining


def described(config: AlbertConfig) -> str:
    """Return a description of an encoder's sizes for a model card.

    >>> from zh_albert.model.config import PRESETS
    >>> described(PRESETS["tiny"])
    '4 layers of width 312 that share all parameters, embeddings of width 128, vocabulary 21,128'
    """
    shared = {
        "all": "that share all parameters",
        "attention": "that share their attention",
        "ffn": "that share their feed-forward parts",
        "none": "that share nothing",
    }[config.sharing]
    if config.sharing == "all" and config.num_hidden_groups > 1:
        shared = f"in {config.num_hidden_groups} groups that share all parameters"
    return (
        f"{config.num_hidden_layers} layers of width {config.hidden_size} {shared}, embeddings of "
        f"width {config.embedding_size}, vocabulary {config.vocab_size:,}"
    )


def parameter_counts(config: AlbertConfig) -> dict[str, int]:
    """Return the exact numbers of parameters of an encoder and its pretraining heads.

    They are counted on modules without storage, so that xxlarge needs no memory. Shared blocks
    count once; the masked-LM head's output matrix is the word table and is not counted again.

    Returns:
        ``embeddings``, ``attention``, ``ffn``, ``pooler``; ``encoder_parameters``, their sum;
        ``mlm_head``, ``sentence_order_head``; ``parameters``, the total.

    >>> from zh_albert.model.config import PRESETS
    >>> parameter_counts(PRESETS["tiny"])["encoder_parameters"]
    4080520
    """
    with torch.device("meta"):
        model = AlbertForPretraining(config)
    encoder = model.encoder
    return {
        "embeddings": _count(encoder.embeddings),
        "attention": _count(encoder.attention),
        "ffn": _count(encoder.ffn),
        "pooler": _count(encoder.pooler),
        "encoder_parameters": _count(encoder),
        "mlm_head": _count(model.masked_lm),
        "sentence_order_head": _count(model.sentence_order),
        "parameters": _count(model),
    }


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
