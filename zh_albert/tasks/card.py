"""The model card written into every model folder of a task."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch

from zh_albert.model.size import described
from zh_albert.tasks.model import TaskModel


@dataclass(frozen=True, kw_only=True)
class CardText:
    """The task's parts of a model card; plain Markdown.

    Attributes:
        title: The heading.
        pipeline: The hub's name of the task.
        answers: The model's outputs, one line.
        windows: The reading of long texts, a list item.
        scores: Further scores, added after those of ``metadata``; may be empty.
        use: Python lines that show an answer.
        limits: The model's limits.
    """

    title: str
    pipeline: str
    answers: str
    windows: str
    scores: str = ""
    use: str
    limits: str


def model_card(text: CardText, model: TaskModel[Any, Any], settings: str) -> str:
    """Return the ``README.md`` of a model: description, origin, scores, recipe and usage.

    Args:
        text: The task's parts of the card.
        model: Its network and its metadata are described.
        settings: The resolved TOML of the run.
    """
    metadata = model.metadata
    parameters = sum(p.numel() for p in model.module.parameters())
    scores = metadata.get("dev") or {}
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items())
    chosen_by = f" by {metadata['metric']}" if "metric" in metadata else ""
    scores_of = (
        f"On {metadata['dev_examples']:,} dev examples, which also chose the best epoch{chosen_by} "
        f"(so slightly optimistic):\n\n| metric | value |\n| --- | --- |\n{rows}{text.scores}"
        if rows
        else "Not evaluated."
    )
    data = metadata.get("trained_on") or "texts of the user's own"
    licence, note, teacher = (metadata.get(name) for name in ("licence", "note", "teacher"))
    commerce = metadata.get("commercial_use") or "not stated"
    unlabelled = metadata.get("unlabelled", 0)
    script = (
        "- Traditional characters are read as simplified ones." + chr(10)
        if model.tokenizer.to_config().get("simplify")
        else ""
    )
    kind = "" if model.config.layer == "lstm" else "ALBERT, "
    further = f", also on {unlabelled:,} texts without labels" if unlabelled else ""
    return f"""---
language: zh
library_name: zh-albert
pipeline_tag: {text.pipeline}
---
# {text.title}

{text.answers}

- Encoder: {kind}{described(model.config)}; {parameters:,} parameters with the head; \
started from {metadata["init"]}.
- Trained on: {data} ({metadata["train_examples"]:,} examples).
{f"- Taught by: {teacher}{further}." + chr(10) if teacher else ""}\
{f"- Data licence: {licence}" + chr(10) if licence else ""}\
- Commercial use: {commerce}.
- {text.windows}
{script}{f"- {note}" + chr(10) if note else ""}
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

{text.use}
```

## Limits

{text.limits}
"""
