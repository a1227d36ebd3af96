"""Encoders small enough that a test can train them in a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.store import save_model
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

CONFIG = AlbertConfig(
    vocab_size=default_tokenizer().vocab_size,
    embedding_size=16,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    initializer_range=0.15,
    classifier_dropout_prob=0.0,
)
CURVE = "".join(
    f'{{"update": {update}, "tokens": {2048 * update}, "masked_loss": {9 - update / 200}, '
    f'"masked_accuracy": {update / 2000}, "order_accuracy": {0.5 + update / 4000}}}\n'
    for update in range(100, 700, 100)
)


def save_micro_encoder(folder: Path) -> Path:
    """Write the model folder of an encoder with random weights, wide enough to learn at once."""
    files = default_tokenizer().save_files()
    torch.manual_seed(0)
    save_model(folder, model=AlbertEncoder(CONFIG), config=CONFIG, files=files, task={})
    return folder


def save_micro_pretrained(folder: Path, *, max_length: int = 24) -> Path:
    """Write what pretraining writes, with random weights: an encoder that can fill masks."""
    torch.manual_seed(0)
    save_model(
        folder,
        model=AlbertForPretraining(CONFIG),
        config=CONFIG,
        files={**default_tokenizer().save_files(), "curve.jsonl": CURVE},
        task={
            "name": "encoder",
            "max_length": max_length,
            "dev": {"masked_accuracy": 0.3, "order_accuracy": 0.6},
            "trained_on": "nothing: random weights",
        },
    )
    return folder


def save_micro_models(folder: Path) -> dict[str, Path]:
    """Write a model folder of each kind, with random weights, under a name for the kind."""
    tokenizer, window = default_tokenizer(), WindowConfig(max_length=32, stride=8)
    heads: dict[str, LabelHead] = {
        "classifier": OneClass(["positive", "negative", "neither"]),
        "labeller": LabelSet(["房间", "服务", "味道"]),
        "regressor": Value(mean=2.0, spread=1.0, labels=["value"]),
    }
    saved: dict[str, Path] = {"encoder": save_micro_pretrained(folder / "encoder")}
    torch.manual_seed(1)
    models: dict[str, Any] = {
        **{
            name: TextClassifier(CONFIG, tokenizer, head, window=window)
            for name, head in heads.items()
        },
        "pair": TextClassifier(CONFIG, tokenizer, OneClass(["0", "1"]), window=window, pairs=True),
        "tagger": TextTagger(CONFIG, tokenizer, ["地", "人"], window=window),
        "reader": TextReader(CONFIG, tokenizer, window=window),
        "chooser": TextChooser(CONFIG, tokenizer, window=window),
        "embedder": TextEmbedder(CONFIG, tokenizer, window=window),
    }
    for name, model in models.items():
        model.save(folder / name, card="random weights", dtype=torch.float32)
        saved[name] = folder / name
    return saved
