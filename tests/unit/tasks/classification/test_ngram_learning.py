"""What n-grams weigh, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from tests.helpers.encoded_texts import encode
from zh_albert.tasks.classification import ngram_learning
from zh_albert.tasks.classification.ngram_learning import (
    PLAIN,
    RECIPES,
    best_recipe,
    fit_ngram_classifier,
)
from zh_albert.tasks.windows import (
    EncodedText,
)

SUBJECTS = ["房间", "早餐", "服务", "位置", "价格", "电视", "毛巾", "前台"]
TEXTS = [f"{subject}{word}" for subject in SUBJECTS for word in ("很好很好", "太差了", "一般吧")]
LABELS = ["good", "bad", "middling"] * len(SUBJECTS)
CLASSES = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
ALIKE = np.ones(len(TEXTS), np.float32)
UNSEEN = ["浴室很好很好", "前台太差了，太差了", "完全不同"]


@pytest.fixture
def enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the texts here count as many."""
    monkeypatch.setattr(ngram_learning, "_FEW", 0)


@pytest.mark.parametrize(("few", "seen_in"), [(0, 3), (8, 1)])
def test_margins_are_those_of_sklearns_tfidf_and_svm(
    few: int, seen_in: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngram_learning, "_FEW", few)  # texts of each class; there are 8
    monkeypatch.setattr(ngram_learning, "RECIPES", (PLAIN,))
    ngrams = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)

    theirs = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=seen_in, sublinear_tf=True)
    rows = theirs.fit_transform(TEXTS)
    svm = LinearSVC(C=0.2, random_state=0).fit(rows, CLASSES)
    assert len(ngrams.names) == rows.shape[1]
    wanted = svm.decision_function(theirs.transform(UNSEEN))
    np.testing.assert_allclose(ngrams.margins(encode(UNSEEN)), wanted, atol=2e-3)


@pytest.mark.usefixtures("enough")
@pytest.mark.parametrize("classes", [CLASSES, np.minimum(CLASSES, 1)])
def test_contrasted_margins_are_those_of_an_svm_over_scaled_tfidf(
    classes: np.ndarray[Any, np.dtype[np.int64]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngram_learning, "RECIPES", (RECIPES[-1],))
    ngrams = fit_ngram_classifier(encode(TEXTS), classes, ALIKE)

    theirs = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=2, sublinear_tf=True)
    rows = theirs.fit_transform(TEXTS).toarray()
    found = ngrams.margins(encode(UNSEEN))
    unseen = theirs.transform(UNSEEN).toarray()
    for number in range(classes.max() + 1):
        inside, outside = ((rows[classes == number] > 0), (rows[classes != number] > 0))
        ratio = np.log((1 + inside.sum(0)) / (1 + inside.sum(0)).sum())
        ratio -= np.log((1 + outside.sum(0)) / (1 + outside.sum(0)).sum())
        svm = LinearSVC(C=RECIPES[-1].c, random_state=0).fit(rows * ratio, classes == number)
        wanted = svm.decision_function(unseen * ratio)
        if classes.max() == 1:
            wanted /= 2  # half of it for this class, half against the other
        np.testing.assert_allclose(found[:, number], wanted, atol=5e-3)


def test_the_plainest_recipe_is_taken_where_others_are_no_better() -> None:
    assert best_recipe(encode(TEXTS), CLASSES, ALIKE) == PLAIN


def titles(count: int) -> tuple[list[EncodedText], np.ndarray[Any, np.dtype[np.int64]]]:
    """Short texts of many classes, told apart by rare words among common ones."""
    rng = np.random.default_rng(0)
    common = [chr(0x4E00 + i) for i in range(300)]
    names = [[chr(0x5E00 + 40 * c + i) for i in range(40)] for c in range(12)]
    classes = rng.integers(12, size=count)
    texts = [
        "".join(rng.permutation([*rng.choice(common, 12), *rng.choice(names[c], 2)]))
        for c in classes
    ]
    return encode(texts, 32), classes


def test_a_recipe_that_is_clearly_better_is_taken() -> None:
    texts, classes = titles(900)
    found = best_recipe(texts, classes, np.ones(900, np.float32))

    assert found.contrasted


def test_few_texts_do_not_change_the_recipe_by_chance() -> None:
    texts, classes = titles(60)
    halves = classes % 2
    assert best_recipe(texts, halves, np.ones(60, np.float32)) == PLAIN


def test_only_how_weights_compare_counts() -> None:
    texts, weights = encode(TEXTS), np.linspace(1, 2, len(TEXTS), dtype=np.float32)
    one, other = (fit_ngram_classifier(texts, CLASSES, weights * by) for by in (1, 1 / 600))

    np.testing.assert_allclose(one.margins(texts), other.margins(texts), atol=1e-4)


def test_a_class_without_a_text_that_counts_is_never_preferred() -> None:
    texts, weights = encode(TEXTS), (CLASSES > 0).astype(np.float32)
    ngrams = fit_ngram_classifier(texts, CLASSES, weights)
    margins = ngrams.margins(texts)

    assert margins.shape == (len(TEXTS), 3)
    assert (margins.argmax(1) > 0).all()


@pytest.mark.usefixtures("enough")
def test_of_too_many_ngrams_those_that_count_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_learning, "RECIPES", (RECIPES[-1],))
    whole = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)
    monkeypatch.setattr(ngram_learning, "_MOST", 8)
    few = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)

    assert len(few.names) == 8 < len(whole.names)
    assert np.isin(few.names, whole.names).all()
    assert (few.margins(encode(TEXTS)).argmax(1) == CLASSES).all()


def test_two_classes_have_opposite_margins() -> None:
    classes = np.array([int(label == "good") for label in LABELS])
    found = fit_ngram_classifier(encode(TEXTS), classes, np.ones(24, np.float32)).margins(
        encode(TEXTS)
    )

    np.testing.assert_allclose(found[:, 0], -found[:, 1], atol=1e-6)
    assert (found.argmax(1) == classes).all()
