"""How ``AlbertClassifier()`` learns from few and from many texts."""

from __future__ import annotations

from functools import partial

import pytest

from zh_albert import AlbertClassifier
from zh_albert.estimators import classifier
from zh_albert.tasks.classification.class_contrast import ClassContrastConfig

SUBJECTS = ["足球", "股票", "电影", "手机", "汽车", "房价", "考试", "旅游", "军舰", "小麦"]


def news(classes: int, each: int) -> tuple[list[str], list[str]]:
    """Return texts of the first classes, so many of each, and their labels."""
    rows = [(f"{subject}的消息{n}", subject) for subject in SUBJECTS[:classes] for n in range(each)]
    return [text for text, _ in rows], [label for _, label in rows]


@pytest.mark.parametrize(
    ("classes", "each", "contrast"),
    [(2, 8, False), (2, 32, False), (3, 4, True)],
)
def test_of_few_texts_a_head_on_sentence_vectors_is_learned(
    classes: int, each: int, contrast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = partial(ClassContrastConfig, updates=2)
    monkeypatch.setattr(classifier, "ClassContrastConfig", quick)
    texts, labels = news(classes, each)
    model = AlbertClassifier().fit(texts, labels)

    assert model.classifier_.metadata["init"] == "embedder"
    assert model.config_.train.epochs == 0
    assert (model.config_.contrast is not None) == contrast
    assert model.classifier_.ngrams is not None
    assert model.score(texts, labels) == 1


@pytest.mark.slow
def test_of_more_the_encoder_is_trained() -> None:
    model = AlbertClassifier().fit(*news(2, 33))
    assert model.classifier_.metadata["init"] == "encoder"
    assert model.config_.train.epochs > 0


@pytest.mark.parametrize("asked", [{"epochs": 1}, {"pooling": "first", "epochs": 1}])
def test_whoever_asks_for_training_gets_it(asked: dict[str, object]) -> None:
    model = AlbertClassifier(**asked).fit(*news(2, 4))
    assert model.classifier_.metadata["init"] == "encoder"
    assert model.config_.train.epochs == 1


@pytest.mark.parametrize("init", ["encoder", "embedder"])
def test_a_named_encoder_is_trained(init: str) -> None:
    model = AlbertClassifier(init).fit(*news(2, 4))
    assert model.classifier_.metadata["init"] == init
    assert model.config_.train.epochs > 0


@pytest.mark.slow
def test_pairs_and_several_labels_are_trained() -> None:
    texts, _ = news(2, 2)
    of_pairs = AlbertClassifier(max_length=64).fit([[text, text] for text in texts], [0, 1, 0, 1])
    of_several = AlbertClassifier().fit(texts, [[1, 0], [1, 1], [0, 1], [0, 0]])

    for model in (of_pairs, of_several):
        assert model.classifier_.metadata["init"] == "encoder"
        assert model.config_.train.epochs > 0


def test_ngrams_beside_a_head_alone_are_those_of_few_texts() -> None:
    few, many = (AlbertClassifier("embedder", epochs=0).fit(*news(2, each)) for each in (4, 40))
    assert few.classifier_.ngrams is not None
    assert many.classifier_.ngrams is None
