"""Fine-tuning of classifiers with n-grams, of pairs, and without a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.jobs import encoded
from tests.helpers.micro import save_micro_encoder
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import (
    ClassificationJob,
    FinetuneConfig,
    ModelConfig,
    evaluate,
    finetune,
)
from zh_albert.tasks.windows import (
    WindowConfig,
)
from zh_albert.training.config import TrainConfig

SUBJECTS = ["房间", "早餐", "服务", "位置", "价格", "电视", "毛巾", "前台"]
TEXTS = [f"{subject}{word}" for subject in SUBJECTS for word in ("很好很好", "太差了", "一般吧")]
LABELS = ["good", "bad", "middling"] * len(SUBJECTS)
CONFIG = FinetuneConfig(
    model=ModelConfig(pooling="mean", ngrams=True),
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


def examples() -> list[TextExample]:
    return [TextExample(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]


def test_pairs_are_learned_in_another_order_in_another_epoch(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    pairs = [TextExample((f"{word}很好", "不好"), word) for word in SUBJECTS]
    train = replace(CONFIG.train, batch_tokens=1)  # a batch for each pair
    config = replace(CONFIG, model=ModelConfig(pooling="mean", symmetric=True), train=train)
    job = encoded(ClassificationJob(pairs, [], config, init=init))
    seen: dict[int, set[str]] = {}
    for epoch in range(8):
        for item in job.plan(epoch):
            [number] = item.texts
            seen.setdefault(number, set()).add(str(job.load(item).inputs["token_ids"].tolist()))
    assert len(seen) == len(pairs)
    assert all(len(orders) == 2 for orders in seen.values())


def test_pairs_learn_from_them(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    pairs = [
        TextExample((f"{a}很好", f"{b}很好"), "same" if a == b else "other")
        for a in SUBJECTS
        for b in SUBJECTS
    ]
    made, position = finetune(pairs, pairs, CONFIG, init=init, out=tmp_path / "model")
    assert made.ngrams_weight > 0
    assert position.best_metrics["accuracy"] == 1.0
    found = TextClassifier.load(tmp_path / "model").scores([pair.text for pair in pairs])
    np.testing.assert_allclose(found, made.scores([pair.text for pair in pairs]), atol=1e-6)


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='needs pooling = "mean"'):
        ModelConfig(ngrams=True, pooling="first")
    with pytest.raises(ConfigError, match=r'needs pooling = "mean".* in one order'):
        ModelConfig(symmetric=True, pooling="first")
    single = [TextExample("一", "a"), TextExample("三", "b")]
    with pytest.raises(ConfigError, match="for pairs of texts, the examples are single texts"):
        finetune(single, [], replace(CONFIG, model=ModelConfig(symmetric=True)), init=None)
    sets = [TextExample("一", ("a", "b")), TextExample("三", ("b",))]
    with pytest.raises(ConfigError, match="one class or value each, the examples have several"):
        finetune(sets, [], CONFIG, init=save_micro_encoder(tmp_path / "micro"))


def test_two_texts_without_a_common_token_are_enough(tmp_path: Path) -> None:
    alone = [TextExample("一", "a"), TextExample("三", "b")]
    made, _ = finetune(alone, [], CONFIG, init=save_micro_encoder(tmp_path / "micro"))
    assert made.ngrams is not None
    assert made.ngrams.margins(made.encode(["一", "三"])).argmax(1).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("model", "label", "votes"),
    [
        (ModelConfig(), "a", True),
        (ModelConfig(ngrams=False), "a", False),
        (ModelConfig(pooling="first"), "a", False),
        (ModelConfig(), ("a", "b"), False),
        (ModelConfig(head="regression"), 1.0, True),
        (ModelConfig(head="regression", ngrams=False), 1.0, False),
    ],
)
def test_ngrams_vote_wherever_they_can(
    model: ModelConfig, label: Any, votes: bool, tmp_path: Path
) -> None:
    other = {str: "b", tuple: ("b",), float: 2.5}[type(label)]
    texts = [TextExample("一", label), TextExample("三", other)]
    config = replace(CONFIG, model=model)
    made, _ = finetune(texts, [], config, init=save_micro_encoder(tmp_path / "micro"))
    assert (made.ngrams is not None) == votes


@pytest.mark.slow
def test_without_a_folder_the_best_weights_are_returned_as_with_one(tmp_path: Path) -> None:
    train = TrainConfig(epochs=6, peak_lr=3e-3, batch_tokens=64, precision="fp32")
    config = replace(CONFIG, train=train)
    init = save_micro_encoder(tmp_path / "micro")
    # Learned from wrong labels, the model gets worse, so the best weights are not the last.
    wrong = [TextExample(text, LABELS[i - 1]) for i, text in enumerate(TEXTS)]
    made, position = finetune(wrong, examples(), config, init=init)
    kept, _ = finetune(wrong, examples(), config, init=init, out=tmp_path / "kept")

    assert position.best_update < position.update
    assert evaluate(made, examples())["accuracy"] == position.best_metrics["accuracy"]
    assert made.ngrams_weight == kept.ngrams_weight
    np.testing.assert_allclose(made.scores(TEXTS), kept.scores(TEXTS), atol=0.02)  # float16
