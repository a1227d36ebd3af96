"""A classifier and the n-grams beside it: that both are kept, and how they are joined."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.micro import save_micro_encoder
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError
from zh_albert.inference.loading import load
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import (
    FinetuneConfig,
    ModelConfig,
    finetune,
)
from zh_albert.tasks.classification.predictor import Classifier
from zh_albert.tasks.windows import (
    WindowConfig,
)
from zh_albert.training.config import TrainConfig

SUBJECTS = ["房间", "早餐", "服务", "位置", "价格", "电视", "毛巾", "前台"]
TEXTS = [f"{subject}{word}" for subject in SUBJECTS for word in ("很好很好", "太差了", "一般吧")]
LABELS = ["good", "bad", "middling"] * len(SUBJECTS)
VALUES = {"good": 3.5, "bad": 1.0, "middling": 2.0}
CONFIG = FinetuneConfig(
    model=ModelConfig(pooling="mean", ngrams=True),
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


def examples() -> list[TextExample]:
    return [TextExample(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]


def test_a_trained_classifier_keeps_them_and_answers_the_same(tmp_path: Path) -> None:
    out = tmp_path / "model"
    untrained = replace(CONFIG, train=replace(CONFIG.train, peak_lr=1e-9))
    made, position = finetune(examples(), examples(), untrained, init=None, out=out)

    assert made.ngrams_weight > 0  # the network alone knows nothing
    assert position.best_metrics["accuracy"] == 1.0
    assert (out / NGRAMS).exists()
    opened = load(str(out))
    assert isinstance(opened, Classifier)
    answers = opened(TEXTS)
    assert [answer.label for answer in answers] == LABELS
    scores = TextClassifier.load(out).scores(TEXTS)
    np.testing.assert_allclose(scores, made.scores(TEXTS), atol=1e-6)
    found = json.loads((out / "config.json").read_text())["zh_albert"]["task"]["ngrams"]
    assert found == {"weight": made.ngrams_weight, "scale": made.calibration_scale}
    for text, answer in zip(TEXTS[:4], answers, strict=False):
        members = opened.members(text)
        assert members.ngrams
        network, ngrams = members.network.scores, members.ngrams.scores
        products = {label: network[label] * ngrams[label] for label in network}
        assert members.together == answer
        for label, product in products.items():
            assert answer.scores[label] == pytest.approx(product / sum(products.values()), abs=1e-4)
        assert network != ngrams
    alone = TextClassifier.load(out)
    alone.ngrams = None
    assert np.abs(alone.scores(TEXTS) - scores).max() > 0.01
    members = Classifier(alone).members(TEXTS[0])
    assert members.ngrams is None
    assert members.network == Classifier(alone)(TEXTS[0])[0]

    for name in (NGRAMS, "manifest.json"):
        (out / name).unlink()
    with pytest.raises(CheckpointError, match=r"ngrams.npz: missing or damaged"):
        load(str(out))


def test_the_sum_is_scaled_so_that_probabilities_mean_what_they_say(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    # Every third label is wrong: a model that is right in two of three cases should say so.
    noisy = [TextExample(text, LABELS[i + 1 if i % 3 == 0 else i]) for i, text in enumerate(TEXTS)]
    made, _ = finetune(examples(), noisy, CONFIG, init=init)

    sure = made.scores(TEXTS).max(1).mean()
    assert 0.5 < sure < 0.8
    made.calibration_scale = 1.0
    assert made.scores(TEXTS).max(1).mean() > sure + 0.05


def test_ngrams_outvote_a_network_that_is_sure_and_wrong() -> None:
    made, _ = finetune(examples(), [], CONFIG)
    with torch.no_grad():
        made.module.classifier.bias.copy_(torch.tensor([25.0, 0.0, 0.0]))  # one class for all

    encoded = made.encode(TEXTS)
    assert made.head.metrics(LABELS, made.scores_of(encoded))["accuracy"] < 0.5
    assert (
        made.head.metrics(LABELS, made.tuned_scores(encoded, LABELS, "accuracy"))["accuracy"] == 1.0
    )


def test_a_value_is_the_weighted_mean_of_both_opinions(tmp_path: Path) -> None:
    init, out = save_micro_encoder(tmp_path / "micro"), tmp_path / "model"
    gold = [VALUES[label] for label in LABELS]
    values = [TextExample(text, value) for text, value in zip(TEXTS, gold, strict=True)]
    train = replace(CONFIG.train, peak_lr=1e-9)  # the network learns nothing
    config = replace(CONFIG, model=replace(CONFIG.model, head="regression"), train=train)

    made, _ = finetune(values, [], config, init=init, out=out)

    assert made.ngrams is not None
    both = made.scores(TEXTS)
    ridge = made.head.scores(torch.from_numpy(made.ngrams.margins(made.encode(TEXTS))))
    assert np.corrcoef(ridge[:, 0], gold)[0, 1] > 0.9
    share = made.ngrams_weight / (1 + made.ngrams_weight)
    made.ngrams_weight, made.calibration_scale = 0.0, 1.0
    np.testing.assert_allclose(both, share * ridge + (1 - share) * made.scores(TEXTS), atol=1e-4)
    np.testing.assert_allclose(TextClassifier.load(out).scores(TEXTS), both, atol=0.05)

    tuned, position = finetune(values, values, config, init=None)

    assert tuned.ngrams_weight > 0  # the network alone knows nothing
    assert position.best_metrics["spearman"] > 0.8
