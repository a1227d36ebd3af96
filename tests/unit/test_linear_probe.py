"""Heads that begin with what the encoder's vectors tell, before anything else is trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from sklearn.linear_model import LogisticRegression
from torch import nn

from tests.micro import CONFIG, save_micro_encoder
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, OneClass, Value
from zh_albert.tasks.classification.linear_probe import probe_head
from zh_albert.tasks.fields import Label
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.linear_probe import Standard, fit_linear
from zh_albert.training.loop import Batch, resolved

TEXTS = [f"这家店{word}{thing}" for word in "好棒赞坏差糟" for thing in "菜饭汤茶"]
IS_GOOD = [True] * 12 + [False] * 12
WINDOW = WindowConfig(max_length=16, stride=4)


@pytest.fixture
def micro(tmp_path: Path) -> Path:
    return save_micro_encoder(tmp_path / "micro")


def test_the_fit_is_that_of_logistic_regression() -> None:
    torch.manual_seed(0)
    vectors = 3 * torch.randn(300, 6) + 1
    classes = (vectors[:, :3] + torch.randn(300, 3)).argmax(1)
    layer = nn.Linear(6, 3)
    fit_linear(layer, vectors, lambda logits: F.cross_entropy(logits, classes), penalty=0.01)

    mean, spread = Standard.of(vectors)
    scaled = ((vectors - mean) / spread).numpy()
    wanted = LogisticRegression(C=1 / (0.01 * 300), tol=1e-8).fit(scaled, classes.numpy())
    with torch.no_grad():
        found = layer(vectors).softmax(-1).numpy()
    np.testing.assert_allclose(found, wanted.predict_proba(scaled), atol=2e-3)


def test_a_direction_that_never_varies_is_no_trouble() -> None:
    vectors = torch.cat([torch.ones(4, 1), torch.tensor([[0.0], [1], [2], [3]])], dim=1)
    layer = nn.Linear(2, 1)
    fit_linear(layer, vectors, lambda out: ((out[:, 0] - vectors[:, 1]) ** 2).mean(), penalty=1e-4)
    assert torch.isfinite(layer.weight).all()
    assert torch.allclose(layer(vectors)[:, 0], vectors[:, 1], atol=0.05)


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


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_scores_of_choices_know_their_questions_before_training(
    micro: Path, pooling: Literal["first", "mean"]
) -> None:
    examples = [
        ChoiceExample(Question(f"{place}的早上", "怎么样？", choices), choices.index("很好"))
        for place in ("北京", "上海", "杭州", "南京")
        for choices in (("很好", "很差"), ("太吵", "很好"), ("很差", "太吵", "很好"))
    ]
    config = choice.FinetuneConfig(
        model=choice.ModelConfig(pooling=pooling),
        window=WINDOW,
        train=TrainConfig(peak_lr=1e-9, max_updates=1),
    )
    started = choice.finetune(examples, [], config, init=micro)[0]
    assert choice.evaluate(started, examples)["accuracy"] > 0.9
    unstarted = choice.finetune(examples, [], config)[0].module.encoder.pooler.weight
    assert not torch.equal(unstarted, torch.diag(unstarted.diagonal()))


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_emissions_know_their_tokens_before_training(
    micro: Path, head: Literal["softmax", "crf"]
) -> None:
    examples = [
        EntityExample(f"{name}昨天去了{place}", (EntitySpan(0, 2, "人"), EntitySpan(6, 8, "地")))
        for name in ("李华", "王明", "张伟")
        for place in ("北京", "上海", "杭州")
    ]
    config = ner.FinetuneConfig(
        model=ner.ModelConfig(head=head),
        window=WINDOW,
        train=TrainConfig(peak_lr=1e-9, max_updates=1),
    )
    tagger, _ = ner.finetune(examples, [], config, init=micro)
    assert isinstance(tagger.module, TokenTagger)
    assert ner.evaluate(tagger, examples)["f1"] > 0.9


@pytest.mark.parametrize(("updates", "epochs"), [(1, 10), (8, 10), (10, 8), (30, 4), (5000, 4)])
def test_epochs_depend_on_how_many_texts_there_are(updates: int, epochs: int) -> None:
    assert TrainConfig(epochs="auto").epochs_of(updates) == epochs
    assert TrainConfig(epochs=2).epochs_of(updates) == 2


def test_so_do_they_on_how_many_processes_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forty:
        def plan(self, epoch: int) -> range:
            return range(40)

        def load(self, item: int) -> Batch:
            return Batch({}, weight=1, tokens=1)

    config = TrainConfig(epochs="auto")
    assert resolved(config, Forty()).epochs == 4
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert resolved(config, Forty()).epochs == 8
