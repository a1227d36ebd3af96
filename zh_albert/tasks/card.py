"""The model card written into every model folder."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from zh_albert.tasks.classifier import TextClassifier


def classifier_card(classifier: TextClassifier, settings: str) -> str:
    """Return the ``README.md`` of a classifier: what it is, from what, how good, how to use it."""
    facts = classifier.facts
    config = classifier.config
    parameters = sum(p.numel() for p in classifier.module.parameters())
    scores = facts.get("dev") or {}
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items())
    scores_of = (
        f"On {facts['dev_examples']:,} dev examples, which also chose the best epoch (so slightly "
        "optimistic):\n\n"
        f"| metric | value |\n| --- | --- |\n{rows}"
        if rows
        else "Not evaluated."
    )
    data = facts.get("trained_on") or "texts of the user's own"
    licence, note = facts.get("licence"), facts.get("note")
    return f"""---
language: zh
library_name: zh-albert
pipeline_tag: text-classification
---
# Chinese text classifier

Classes: {", ".join(classifier.labels)}.

- Encoder: ALBERT, {config.num_hidden_layers} layers of width {config.hidden_size}, \
embeddings of width {config.embedding_size}, vocabulary {config.vocab_size:,}, sharing \
`{config.sharing}`, {parameters:,} parameters with the head; started from {facts["init"]}.
- Trained on: {data} ({facts["train_examples"]:,} examples).
{f"- Data licence: {licence}" + chr(10) if licence else ""}\
- Windows of {classifier.window.max_length} tokens, overlapping by {classifier.window.stride}; \
logits of a long text's windows are averaged by their tokens.
{f"- {note}" + chr(10) if note else ""}
## Scores

{scores_of}

## Recipe

```toml
{settings.strip()}
```

Made by zh-albert {version("zh-albert")}, torch {torch.__version__.split("+")[0]}.

## Use

```python
from zh_albert import load

print(load("PATH_OF_THIS_FOLDER")(["要分类的文本"]))
```

## Limits

A small model that knows its classes from its training data alone: other kinds of text, irony and
mixed opinions are often judged wrongly, always with some probability that looks like confidence.
"""
