"""Weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight

from tests.helpers.jobs import encoded
from tests.helpers.micro import save_micro_encoder
from zh_albert import AlbertClassifier
from zh_albert.configio import build, parse_overrides, read_toml, write_toml
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.classification.class_weights import class_weights
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import (
    ClassificationJob,
    FinetuneConfig,
    ModelConfig,
    finetune,
)
from zh_albert.tasks.classification.head_selection import head_for
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

LABELS = ["好评"] * 6 + ["差评"] * 2 + ["中评"]
EXAMPLES = [TextExample(f"第{n}个{label}", label) for n, label in enumerate(LABELS)]
CONFIG = FinetuneConfig(
    model=ModelConfig(ngrams=False),
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=48),
)


def weights_of(given: Any, labels: list[Any] = LABELS) -> torch.Tensor:
    found = class_weights(given, head_for(labels, None), labels)
    assert found is not None
    return found


def test_balanced_is_what_scikit_learn_means() -> None:
    wanted = compute_class_weight("balanced", classes=np.unique(LABELS), y=LABELS)
    np.testing.assert_allclose(weights_of("balanced"), wanted, rtol=1e-6)


def test_a_class_that_a_table_lacks_has_one() -> None:
    assert weights_of({"差评": 4}).tolist() == [1.0, 1.0, 4.0]  # 中评, 好评, 差评


def test_a_class_of_a_model_that_is_trained_on_may_have_no_text() -> None:
    given = class_weights("balanced", OneClass(["中评", "好评", "差评"]), ["好评", "差评", "好评"])
    assert given is not None
    assert given.tolist() == [1.0, 0.75, 1.5]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"中差评": 2.0}, "no training text has the label '中差评'; did you mean '差评'"),
        ({"spam": 2.0}, "no training text has the label 'spam'; known: 中评, 好评, 差评"),
        ({"差评": 0.0}, "a finite number > 0 for '差评', found 0.0"),
        ({"差评": -1.0}, "a finite number > 0 for '差评', found -1.0"),
        ({"差评": float("nan")}, "a finite number > 0 for '差评', found nan"),
        ({"差评": float("inf")}, "a finite number > 0 for '差评', found inf"),
    ],
)
def test_a_table_that_cannot_be_is_refused(given: Mapping[str, float], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        weights_of(given)


@pytest.mark.parametrize(
    ("labels", "head", "found"),
    [
        ([("好",), ("坏",)], None, "several classes each"),
        ([1.0, 2.0], "regression", "a value each"),
    ],
)
def test_other_heads_have_none(labels: list[Any], head: Any, found: str) -> None:
    with pytest.raises(ConfigError, match=f"class_weights is for one class each, .* {found}"):
        class_weights("balanced", head_for(labels, head), labels)


def test_a_batch_is_divided_by_the_weights_of_its_texts(tmp_path: Path) -> None:
    """With equal losses the mean loss is that loss, whatever the weights are."""
    init = save_micro_encoder(tmp_path / "micro")
    config = replace(CONFIG, class_weights={"差评": 10.0, "中评": 0.5})
    job = encoded(ClassificationJob(EXAMPLES, [], config, init=init))
    torch.nn.init.zeros_(job.model.module.classifier.weight)
    torch.nn.init.zeros_(job.model.module.classifier.bias)
    batches = [job.load(item) for item in job.plan(0)]
    assert sum(batch.weight for batch in batches) == pytest.approx(6 + 2 * 10 + 0.5)
    for batch in batches:
        mean = job.loss(job.model.module, batch.inputs).loss / batch.weight
        assert mean.item() == pytest.approx(np.log(3), rel=1e-5)


def test_the_ngram_model_has_them_too(tmp_path: Path) -> None:
    """One text for a class against one of another; the heavier side wins a text of both."""
    init = save_micro_encoder(tmp_path / "micro")
    made = {}
    for name in ("good", "bad"):
        examples = [TextExample("房间很好", "good"), TextExample("房间太差", "bad")] * 4
        config = replace(CONFIG, model=ModelConfig(ngrams=True), class_weights={name: 20.0})
        classifier, _ = finetune(examples, [], config, init=init)
        assert classifier.ngrams is not None
        [margins] = classifier.ngrams.margins(classifier.encode(["房间"]))
        made[name] = classifier.labels[int(margins.argmax())]
    assert made == {"good": "good", "bad": "bad"}


def test_settings_read_back_the_same(tmp_path: Path) -> None:
    overrides = ["class_weights.差评=4", 'class_weights."a b_"=2']
    values = {"class_weights": {"差评": 4.0, "a b_": 2.0}}
    config = build(FinetuneConfig, values)
    (tmp_path / "c.toml").write_text(write_toml(config), encoding="utf-8")
    assert build(FinetuneConfig, read_toml(tmp_path / "c.toml")) == config
    table = parse_overrides(overrides[:1])
    assert build(FinetuneConfig, table).class_weights == {"差评": 4.0}
    assert build(FinetuneConfig, parse_overrides(["class_weights=balanced"])).class_weights == (
        "balanced"
    )


def estimator(micro: Path, **settings: Any) -> AlbertClassifier:
    return AlbertClassifier(init=str(micro), epochs=2, max_length=16, stride=4, **settings)


def test_the_estimator_takes_them_as_scikit_learn_does(tmp_path: Path) -> None:
    """A text that has either label is answered by the heavier one; labels may be numbers."""
    micro = save_micro_encoder(tmp_path / "micro")
    texts, labels = ["房间不错"] * 8, [0, 1] * 4
    for heavy in (0, 1):
        model = estimator(micro, class_weight={heavy: 50}).fit(texts, labels)
        assert model.predict(texts[:1]).tolist() == [heavy]


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ("balance", DataError, "class_weight: expected None, 'balanced' or a weight for each"),
        ({"a": "much"}, DataError, "class_weight: expected None"),
        ({"c": 2}, ConfigError, "no training text has the label 'c'"),
    ],
)
def test_the_estimator_says_what_it_cannot_take(
    given: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        AlbertClassifier(init=None, epochs=1, class_weight=given).fit(["好", "坏"], ["a", "b"])
