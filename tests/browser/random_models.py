"""Serve the demo with some models: python -m tests.browser.random_models FOLDER [NAME …].

A bundled model is taken where there is one, else one with random weights. A process of its own:
Gradio's warnings stay out of the tests, and the page is served as it is.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from apps.gradio_demo import serve
from apps.texts import LABELS
from tests.micro import save_micro_pretrained
from zh_albert.checkpoints.locate import bundled_names
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, new_classifier
from zh_albert.tasks.classification.heads import OneClass

NEWS = [label for label in LABELS if label.startswith("news_")]
CLASSES = {"sentiment": ["negative", "positive"], "news": NEWS}


def open_or_write(folder: Path, name: str) -> str:
    """Return the name of a bundled model, or the folder of one with random weights."""
    if name in bundled_names():
        return name
    if name == "encoder":
        return str(save_micro_pretrained(folder / name, max_length=128))
    config = FinetuneConfig(model=ModelConfig(preset="tiny"))
    made = new_classifier(OneClass(CLASSES[name]), config, init=None)
    made.save(folder / name, card="Random weights.\n")
    return str(folder / name)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(port=0, models=[open_or_write(Path(sys.argv[1]), name) for name in sys.argv[2:]])
