"""Serve the demo with some models: python -m tests.browser.random_models FOLDER [NAME …].

A bundled model is taken where there is one, else one with random weights. A process of its own:
Gradio's warnings stay out of the tests, and the page is served as it is.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from apps.gradio_demo import serve
from apps.i18n.names import CHINESE
from tests.helpers.micro import CONFIG, save_micro_pretrained
from zh_albert.checkpoints.resolve import bundled_models
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import OneClass, Value
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

NEWS = [label for label in CHINESE.classes if label.startswith("news_")]
CLASSES = {
    "sentiment": ["negative", "neutral", "positive"],
    "news": NEWS,
    "nli": ["contradiction", "entailment", "neutral"],
}


def open_or_write(folder: Path, name: str) -> str:
    """Return the name of a bundled model, or the folder of one with random weights."""
    if name in bundled_models():
        return name
    if name == "encoder":
        return str(save_micro_pretrained(folder / name, max_length=128))
    if name == "reader":  # one that may decline
        reader = TextReader(CONFIG, default_tokenizer(), window=WindowConfig(), threshold=0.0)
        reader.save(folder / name, card="Random weights.\n")
        return str(folder / name)
    if name == "embedder":
        embedder = TextEmbedder(CONFIG, default_tokenizer(), window=WindowConfig())
        embedder.save(folder / name, card="Random weights.\n")
        return str(folder / name)
    head = OneClass(CLASSES[name]) if name in CLASSES else Value(2.5, 1, ["value"], 0, 5)
    pairs, window = name in ("nli", "similarity"), WindowConfig()
    made = TextClassifier(CONFIG, default_tokenizer(), head, window=window, pairs=pairs)
    made.save(folder / name, card="Random weights.\n")
    return str(folder / name)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(port=0, models=[open_or_write(Path(sys.argv[1]), name) for name in sys.argv[2:]])
