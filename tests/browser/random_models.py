"""Serve the demo with untrained models, where none is bundled: python random_models.py FOLDER PORT.

A process of its own: Gradio's warnings stay out of the tests, and the page is served as it is.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from apps.gradio_demo import serve
from apps.texts import LABELS
from zh_albert.tasks.finetune import FinetuneConfig, ModelConfig, new_classifier

NEWS = [label for label in LABELS if label.startswith("news_")]
CLASSES = {"sentiment": ["negative", "positive"], "news": NEWS}


def write_random_models(folder: Path) -> list[str]:
    """Write one model folder for each entry of ``CLASSES``; return their paths."""
    paths = []
    for name, labels in CLASSES.items():
        config = FinetuneConfig(model=ModelConfig(preset="tiny"))
        new_classifier(labels, config, init=None).save(folder / name, card="Random weights.\n")
        paths.append(str(folder / name))
    return paths


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(port=int(sys.argv[2]), models=write_random_models(Path(sys.argv[1])))
