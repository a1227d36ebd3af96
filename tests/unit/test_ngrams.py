"""N-grams beside a classifier's network: what they weigh, and that the two together are kept."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from tests.micro import save_micro_encoder
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.inference.classification import Classifier
from zh_albert.inference.loading import load
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.classification.ngrams import (
    NGRAMS,
    NgramVoter,
    hashed_ngrams,
    tokens_of,
    weighted_ngrams,
)
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig

SUBJECTS = ["房间", "早餐", "服务", "位置", "价格", "电视", "毛巾", "前台"]
TEXTS = [f"{subject}{word}" for subject in SUBJECTS for word in ("很好很好", "太差了", "一般吧")]
LABELS = ["good", "bad", "middling"] * len(SUBJECTS)
CONFIG = FinetuneConfig(
    model=ModelConfig(pooling="mean", ngrams=True),
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


def encode(texts: list[str], max_length: int = 16) -> list[EncodedText]:
    tokenizer = default_tokenizer()
    window = WindowConfig(max_length=max_length, stride=max_length // 4)
    return [
        encode_windows(text, tokenizer.special, window) for text in tokenizer.encode_batch(texts)
    ]


def examples() -> list[TextExample]:
    return [TextExample(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]


def test_margins_are_those_of_sklearns_tfidf_and_svm() -> None:
    classes = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
    voter = NgramVoter.fit(encode(TEXTS), classes, np.ones(len(TEXTS), np.float32))

    theirs = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=3, sublinear_tf=True)
    rows = theirs.fit_transform(TEXTS)
    svm = LinearSVC(C=0.2, random_state=0).fit(rows, classes)
    unseen = ["浴室很好很好", "前台太差了，太差了", "完全不同"]
    assert len(voter.names) == rows.shape[1]
    wanted = svm.decision_function(theirs.transform(unseen))
    np.testing.assert_allclose(voter.margins(encode(unseen)), wanted, atol=2e-3)


def test_two_classes_have_opposite_margins() -> None:
    classes = np.array([int(label == "good") for label in LABELS])
    found = NgramVoter.fit(encode(TEXTS), classes, np.ones(24, np.float32)).margins(encode(TEXTS))

    np.testing.assert_allclose(found[:, 0], -found[:, 1], atol=1e-6)
    assert (found.argmax(1) == classes).all()


def test_windows_count_each_token_once() -> None:
    text = "".join(chr(0x4E00 + i) for i in range(60))
    (short,), (long,) = encode([text], max_length=16), encode([text], max_length=128)

    assert len(short.windows) > 1
    assert tokens_of(short).tolist() == tokens_of(long).tolist()


def test_ngrams_are_told_apart_by_order_and_content() -> None:
    ids = np.array([7, 8, 7, 8, 8], np.uint64)
    names = hashed_ngrams(ids).tolist()
    spelled = [tuple(ids[i : i + n].tolist()) for n in (1, 2, 3) for i in range(len(ids) - n + 1)]

    assert len(names) == len(spelled)
    assert len(set(names)) == len(set(spelled))
    assert all((a == b) == (names[i] == names[i + 1]) for i, (a, b) in enumerate(pairwise(spelled)))
    assert hashed_ngrams(np.zeros(0, np.uint64)).size == 0


def test_a_text_without_known_ngrams_has_an_empty_bag() -> None:
    names = np.sort(hashed_ngrams(np.array([5], np.uint64)))
    bags = weighted_ngrams(encode(["天气"]), names, np.ones(1, np.float32))

    assert bags.ends.tolist() == [0, 0]
    assert not math.isnan(bags.values.sum())


def test_a_trained_classifier_keeps_them_and_answers_the_same(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    out = tmp_path / "model"
    made, position = finetune(examples(), examples(), CONFIG, init=init, out=out)

    assert made.voter_weight > 0  # one epoch of the network alone has not learned it
    assert position.best_metrics["accuracy"] == 1.0
    assert (out / NGRAMS).exists()
    opened = load(str(out))
    assert isinstance(opened, Classifier)
    answers = opened(TEXTS)
    assert [answer.label for answer in answers] == LABELS
    scores = TextClassifier.load(out).scores(TEXTS)
    np.testing.assert_allclose(scores, made.scores(TEXTS), atol=1e-6)
    found = json.loads((out / "config.json").read_text())["zh_albert"]["task"]["ngrams"]
    assert found == {"weight": made.voter_weight, "scale": made.voter_scale}
    alone = TextClassifier.load(out)
    alone.voter = None
    assert np.abs(alone.scores(TEXTS) - scores).max() > 0.01

    (out / NGRAMS).unlink()
    with pytest.raises(CheckpointError, match=r"ngrams.safetensors: missing or damaged"):
        load(str(out))


def test_the_sum_is_scaled_so_that_probabilities_mean_what_they_say(tmp_path: Path) -> None:
    init = save_micro_encoder(tmp_path / "micro")
    # Every third label is wrong: a model that is right in two of three cases should say so.
    noisy = [TextExample(text, LABELS[i + 1 if i % 3 == 0 else i]) for i, text in enumerate(TEXTS)]
    made, _ = finetune(examples(), noisy, CONFIG, init=init)

    sure = made.scores(TEXTS).max(1).mean()
    assert 0.5 < sure < 0.8
    made.voter_scale = 1.0
    assert made.scores(TEXTS).max(1).mean() > sure + 0.05


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='needs pooling = "mean"'):
        ModelConfig(ngrams=True)
    pairs = [TextExample(("一", "二"), "a"), TextExample(("三", "四"), "b")]
    with pytest.raises(ConfigError, match="single texts with one class"):
        finetune(pairs, [], CONFIG, init=save_micro_encoder(tmp_path / "micro"))
