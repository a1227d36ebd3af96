"""The model card of a pretrained encoder."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

import torch

from zh_albert.model.config import AlbertConfig
from zh_albert.model.size import described, parameter_counts


def encoder_card(
    config: AlbertConfig, scores: Mapping[str, float], settings: str, corpus_tokens: int
) -> str:
    """Return the model card (``README.md``) of a pretrained encoder."""
    counts = parameter_counts(config)
    rows = "\n".join(f"| {name} | {value} |" for name, value in scores.items())
    return f"""---
language: zh
library_name: zh-albert
pipeline_tag: fill-mask
---
# Chinese ALBERT encoder

- {described(config)}; {counts["encoder_parameters"]:,} parameters, \
{counts["parameters"]:,} with its masked-LM and sentence-order heads.
- Corpus: {corpus_tokens:,} tokens; its source is named in the recipe under `trained_on`.

## Held-out text
Whole words masked, every chosen token hidden, the same masks at every evaluation.

| metric | value |
| --- | --- |
{rows}

## Recipe

```toml
{settings.strip()}
```

Made by zh-albert {version("zh-albert")}, torch {torch.__version__.split("+")[0]}.
"""
