"""Heads of classifiers that begin fitted to the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from tests.helpers.micro import CONFIG
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.classification.linear_probe import probe_head, probe_pays
from zh_albert.tasks.fields import Label
from zh_albert.tasks.windows import (
    WindowConfig,
    encode_mirrored,
)
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig

TEXTS = [f"这家店{word}{thing}" for word in "好棒赞坏差糟" for thing in "菜饭汤茶"]
IS_GOOD = [True] * 12 + [False] * 12
WINDOW = WindowConfig(max_length=16, stride=4)


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (OneClass, ["good" if good else "bad" for good in IS_GOOD]),
        (LabelSet, [("good", "any") if good else ("any",) for good in IS_GOOD]),
        (Value, [1.0 if good else 3.0 for good in IS_GOOD]),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_a_head_knows_its_texts_before_training(
    kind: type[LabelHead], labels: Sequence[Label], pooling: Literal["first", "mean"]
) -> None:
    head = kind.for_labels(labels)
    torch.manual_seed(0)
    tokenizer = default_tokenizer()
    classifier = TextClassifier(CONFIG, tokenizer, head, window=WINDOW, pooling=pooling)
    before = {name: weight.clone() for name, weight in classifier.module.state_dict().items()}
    encoded, targets = classifier.encode(TEXTS), head.targets(labels)
    probe_head(
        classifier, encoded, lambda logits: head.losses(logits, targets), torch.ones(len(TEXTS))
    )

    losses = head.losses(classifier.logits_of(encoded), targets)
    assert losses.mean() < 0.75 * head.chance_loss(targets, torch.ones(len(TEXTS)))
    changed = {
        name.partition(".")[2] if name.startswith("encoder") else "head"
        for name, weight in classifier.module.state_dict().items()
        if not torch.equal(weight, before[name])
    }
    pooler = {"pooler.weight", "pooler.bias"} if pooling == "mean" else set()
    assert changed == {"head"} | pooler


def test_texts_of_no_weight_do_not_count() -> None:
    labels = ["good" if good else "bad" for good in IS_GOOD]
    head = OneClass.for_labels(labels)
    torch.manual_seed(0)
    classifier = TextClassifier(CONFIG, default_tokenizer(), head, window=WINDOW, pooling="mean")
    encoded = classifier.encode(TEXTS)
    lies = head.targets(["bad" if good else "good" for good in IS_GOOD])
    both = torch.cat([lies, head.targets(labels)])
    weights = torch.cat([torch.zeros(len(TEXTS)), torch.ones(len(TEXTS))])
    probe_head(classifier, encoded + encoded, lambda logits: head.losses(logits, both), weights)
    right = classifier.logits_of(encoded).argmax(1) == head.targets(labels)
    assert right.float().mean() > 0.8


def classifier_after(micro: Path | None, updates: int, rest: str = "") -> TextClassifier:
    examples = [
        TextExample(text + rest, "good" if good else "bad")
        for text, good in zip(TEXTS, IS_GOOD, strict=True)
    ]
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(ngrams=False),
        window=WINDOW,
        train=TrainConfig(peak_lr=1e-9, max_updates=updates),
    )
    return classification.finetune(examples, [], config, init=micro)[0]


def test_a_run_from_an_encoder_begins_so_and_one_from_nothing_does_not(micro: Path) -> None:
    gold = np.array(IS_GOOD).astype(int)  # of the classes bad, good
    started = classifier_after(micro, 1).scores(TEXTS).argmax(1)
    assert (started == gold).mean() > 0.8
    unstarted = classifier_after(None, 1).module.encoder.pooler.weight
    assert not torch.equal(unstarted, torch.diag(unstarted.diagonal()))


def test_a_head_of_long_texts_begins_at_random(micro: Path) -> None:
    pooler = classifier_after(micro, 1, rest="，还要再说几句" * 12).module.encoder.pooler.weight
    assert not torch.equal(pooler, torch.diag(pooler.diagonal()))


def test_of_many_classes_it_begins_fitted_though_texts_are_long(micro: Path) -> None:
    rest, dishes = (
        "，还要再说几句" * 12,
        [word + thing for word in "好棒赞坏差糟" for thing in "菜饭汤茶"],
    )
    examples = [TextExample(f"{dish * 9}{end}{rest}", dish) for dish in dishes for end in "了的吧"]
    config = classification.FinetuneConfig(
        model=classification.ModelConfig(ngrams=False),
        window=WindowConfig(max_length=64, stride=4),
        train=TrainConfig(peak_lr=1e-9, max_updates=1),
    )
    model = classification.finetune(examples, [], config, init=micro)[0]
    right = model.scores([example.text for example in examples]).argmax(1)
    gold = [model.labels.index(str(example.label)) for example in examples]
    assert (right == np.array(gold)).mean() > 10 / len(dishes), "at random one of all is right"


def test_a_mirrored_pair_counts_once_for_the_heads_start() -> None:
    tokenizer = default_tokenizer()
    window = WindowConfig(max_length=128, stride=32)
    sides = (tokenizer.encode_batch([text])[0] for text in ("甲" * 30, "乙" * 30))
    assert probe_pays([encode_mirrored(*sides, tokenizer.special, window)], 2)
