"""A Chinese ALBERT: pretraining, fine-tuning, compression, fast inference on a plain CPU.

The public names are loaded when first used, so ``import zh_albert`` does not load PyTorch.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zh_albert.checkpoints.resolve import bundled_models
    from zh_albert.estimators.classifier import AlbertClassifier
    from zh_albert.estimators.embedder import AlbertEmbedder
    from zh_albert.estimators.reader import AlbertReader
    from zh_albert.estimators.tagger import AlbertTagger
    from zh_albert.inference.loading import load
    from zh_albert.tasks.classification.cascade import Cascade
    from zh_albert.tasks.embedding.search import SemanticSearch

__version__ = importlib.metadata.version("zh-albert")
__all__ = [
    "AlbertClassifier",
    "AlbertEmbedder",
    "AlbertReader",
    "AlbertTagger",
    "Cascade",
    "SemanticSearch",
    "bundled_models",
    "load",
]

_HOMES = {
    "AlbertClassifier": "zh_albert.estimators.classifier",
    "AlbertEmbedder": "zh_albert.estimators.embedder",
    "AlbertReader": "zh_albert.estimators.reader",
    "AlbertTagger": "zh_albert.estimators.tagger",
    "Cascade": "zh_albert.tasks.classification.cascade",
    "SemanticSearch": "zh_albert.tasks.embedding.search",
    "bundled_models": "zh_albert.checkpoints.resolve",
    "load": "zh_albert.inference.loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'zh_albert' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
