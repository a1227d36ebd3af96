"""Settings of fine-tuning a word segmenter."""

from __future__ import annotations

from dataclasses import dataclass, field

from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.segmentation.segmenter import Head


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    head: Head = "crf"  # "softmax" opens in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """Everything that decides a fine-tuning run, but the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)
