"""N-grams beside a classifier's network: what they weigh, and that the two together are kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
from zh_albert.tasks.classification.config import FinetuneConfig, ModelConfig

from tests.helpers.jobs import encoded
from tests.micro import save_micro_encoder
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.inference.loading import load
from zh_albert.tasks.classification import ngram_learning
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.finetune import (
    ClassificationJob,
    FinetuneConfig,
    ModelConfig,
    evaluate,
    finetune,
)
from zh_albert.tasks.classification.linear_probe import probe_pays
from zh_albert.tasks.classification.ngram_learning import (
    PLAIN,
    RECIPES,
    best_recipe,
    fit_ngram_classifier,
)
from zh_albert.tasks.classification.ngrams import NgramClassifier, counted, features_of, weighed
from zh_albert.tasks.classification.predictor import Classifier
from zh_albert.tasks.ngrams import hashed_ngrams, packed, tokens_of, unpacked
from zh_albert.tasks.windows import (
    EncodedText,
    WindowConfig,
    encode_mirrored,
    encode_pair,
    encode_windows,
)
from zh_albert.tokenization.tokenizer import default_tokenizer
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


def encode(texts: list[str], max_length: int = 16) -> list[EncodedText]:
    tokenizer = default_tokenizer()
    window = WindowConfig(max_length=max_length, stride=max_length // 4)
    return [
        encode_windows(text, tokenizer.special, window) for text in tokenizer.encode_batch(texts)
    ]


def examples() -> list[TextExample]:
    return [TextExample(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]


CLASSES = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
ALIKE = np.ones(len(TEXTS), np.float32)
UNSEEN = ["浴室很好很好", "前台太差了，太差了", "完全不同"]


def test_margins_are_those_of_sklearns_tfidf_and_svm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_learning, "RECIPES", (PLAIN,))
    ngrams = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)

    theirs = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=3, sublinear_tf=True)
    rows = theirs.fit_transform(TEXTS)
    svm = LinearSVC(C=0.2, random_state=0).fit(rows, CLASSES)
    assert len(ngrams.names) == rows.shape[1]
    wanted = svm.decision_function(theirs.transform(UNSEEN))
    np.testing.assert_allclose(ngrams.margins(encode(UNSEEN)), wanted, atol=2e-3)


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


def test_of_too_many_ngrams_those_that_count_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_learning, "RECIPES", (RECIPES[-1],))
    whole = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)
    monkeypatch.setattr(ngram_learning, "_MOST", 8)
    few = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)

    assert len(few.names) == 8 < len(whole.names)
    assert np.isin(few.names, whole.names).all()
    assert (few.margins(encode(TEXTS)).argmax(1) == CLASSES).all()


def test_the_length_of_ngrams_is_kept(tmp_path: Path) -> None:
    ngrams = replace(fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE), orders=4)
    for exact in (False, True):
        (tmp_path / NGRAMS).write_bytes(ngrams.to_bytes(exact=exact))
        assert NgramClassifier.load(tmp_path / NGRAMS, 3).orders == 4
    older = unpacked(tmp_path / NGRAMS)
    del older["orders"]  # files of versions before have n-grams of three tokens at most
    (tmp_path / NGRAMS).write_bytes(packed(older.pop("names"), older))
    assert NgramClassifier.load(tmp_path / NGRAMS, 3).orders == 3


def test_two_classes_have_opposite_margins() -> None:
    classes = np.array([int(label == "good") for label in LABELS])
    found = fit_ngram_classifier(encode(TEXTS), classes, np.ones(24, np.float32)).margins(
        encode(TEXTS)
    )

    np.testing.assert_allclose(found[:, 0], -found[:, 1], atol=1e-6)
    assert (found.argmax(1) == classes).all()


def test_windows_count_each_token_once() -> None:
    text = "".join(chr(0x4E00 + i) for i in range(60))
    (short,), (long,) = encode([text], max_length=16), encode([text], max_length=128)

    assert len(short.windows) > 1
    assert tokens_of(short).tolist() == tokens_of(long).tolist()


def test_ngrams_are_told_apart_by_order_and_content() -> None:
    ids = np.array([7, 8, 7, 8, 8], np.uint64)
    names = hashed_ngrams(ids, 3).tolist()
    spelled = [tuple(ids[i : i + n].tolist()) for n in (1, 2, 3) for i in range(len(ids) - n + 1)]

    assert len(names) == len(spelled)
    assert len(set(names)) == len(set(spelled))
    assert all((a == b) == (names[i] == names[i + 1]) for i, (a, b) in enumerate(pairwise(spelled)))
    assert hashed_ngrams(np.zeros(0, np.uint64), 3).size == 0


def test_of_a_pair_what_the_second_adds_and_what_both_share_counts() -> None:
    def features(first: str, second: str, max_length: int = 32) -> set[int]:
        tokenizer = default_tokenizer()
        window = WindowConfig(max_length=max_length, stride=2)
        sides = (tokenizer.encode_batch([text])[0] for text in (first, second))
        return set(features_of(encode_pair(*sides, tokenizer.special, window), 3).tolist())

    none, half, all_ = (features(first, "甲乙") for first in ("丙丁", "甲丁", "甲乙"))
    new, of_each = 3, (11, 11)  # 甲, 乙, 甲乙; shares of 0 to 10 tenths of both
    assert len(none) == 3 + new + 2
    assert len(all_) == 3 + 0 + sum(of_each)
    assert len(half & none) == 3 + 2 + 2  # of what is new, 甲 is not
    assert features("甲乙", "丙丁") != none  # the order of the two matters
    long = "".join(chr(0x4E00 + i) for i in range(40))
    assert features(long, "甲乙", 16) >= features(long, "甲乙", 64) - features(long, long, 64)


def test_of_a_mirrored_pair_the_order_does_not_matter() -> None:
    def features(first: str, second: str) -> list[int]:
        tokenizer = default_tokenizer()
        window = WindowConfig(max_length=32, stride=0)  # n-grams at the borders are cut
        sides = (tokenizer.encode_batch([text])[0] for text in (first, second))
        found = features_of(encode_mirrored(*sides, tokenizer.special, window), 3)
        return sorted(found.tolist())

    none, half, all_ = (features(first, "甲乙") for first in ("丙丁戊", "甲丁", "甲乙"))
    assert len(none) == 6 + 3 + 2  # 丙, 丁, 戊, 丙丁, 丁戊, 丙丁戊; 甲, 乙, 甲乙; shares of 0
    assert len(half) == 1 + (2 + 2) + (4 + 4)  # 甲; 丁, 甲丁, 乙, 甲乙; 3 tenths of each
    assert len(all_) == 3 + (11 + 11)  # 甲, 乙, 甲乙; 10 tenths of each
    for first in ("丙丁戊", "甲丁", "甲乙", "甲乙丙丁", "甲乙" * 9 + "丙", "丁甲" * 30):
        for second in ("甲乙", "乙丙甲" * 12):
            assert features(first, second) == features(second, first)


def test_a_mirrored_pair_counts_once_for_the_heads_start() -> None:
    tokenizer = default_tokenizer()
    window = WindowConfig(max_length=128, stride=32)
    sides = (tokenizer.encode_batch([text])[0] for text in ("甲" * 30, "乙" * 30))
    assert probe_pays([encode_mirrored(*sides, tokenizer.special, window)], 2)


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


def test_a_text_without_known_ngrams_has_an_empty_bag() -> None:
    names = np.sort(hashed_ngrams(np.array([5], np.uint64), 3))
    bags = weighed(counted(encode(["天气"]), 3), names, np.ones(1, np.float32))

    assert bags.ends.tolist() == [0, 0]
    assert not math.isnan(bags.values.sum())


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

    (out / NGRAMS).unlink()
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
    assert made.head.metrics(LABELS, made.tuned_scores(encoded, LABELS))["accuracy"] == 1.0


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


@given(st.lists(st.integers(0, 2**32 - 1), unique=True))
def test_an_archive_keeps_names_and_numbers(
    tmp_path_factory: pytest.TempPathFactory, hashes: list[int]
) -> None:
    names = np.sort(np.array(hashes, np.uint32))
    path = tmp_path_factory.mktemp("archive") / NGRAMS
    content = packed(names, {"rarity": names.astype(np.float32)})
    path.write_bytes(content)
    found = unpacked(path)
    assert found["names"].dtype == np.uint32
    assert np.array_equal(found["names"], names)
    assert np.array_equal(found["rarity"], names.astype(np.float32))
    assert content == packed(names, {"rarity": names.astype(np.float32)}), "the same bytes"


@pytest.mark.parametrize(
    "content", [b"", b"no archive", packed(np.arange(99, dtype=np.uint32), {})]
)
def test_a_damaged_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NGRAMS).write_bytes(content[:-30])
    with pytest.raises(CheckpointError, match=r"ngrams\.npz: missing or damaged"):
        unpacked(tmp_path / NGRAMS)


def test_an_archive_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / NGRAMS).write_bytes(packed(np.arange(9, dtype=np.uint32), {}))
    with pytest.raises(CheckpointError, match="has no 'rarity'"):
        NgramClassifier.load(tmp_path / NGRAMS, 2)


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


@pytest.mark.parametrize("orders", [np.array([4, 4]), np.array("4"), np.array(0), np.array(2.5)])
def test_a_length_of_ngrams_that_is_none_is_refused(
    tmp_path: Path, orders: np.ndarray[Any, Any]
) -> None:
    fitted = fit_ngram_classifier(encode(TEXTS), CLASSES, ALIKE)
    (tmp_path / NGRAMS).write_bytes(fitted.to_bytes())
    found = unpacked(tmp_path / NGRAMS) | {"orders": orders}
    (tmp_path / NGRAMS).write_bytes(packed(found.pop("names"), found))
    with pytest.raises(CheckpointError, match="expected orders to be a whole number"):
        NgramClassifier.load(tmp_path / NGRAMS, 3)
