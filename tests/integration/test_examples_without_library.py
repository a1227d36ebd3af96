"""The examples that open an exported network by themselves answer as this library does."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.helpers.micro import CONFIG
from zh_albert import load
from zh_albert.checkpoints.resolve import BUNDLED, bundled_models
from zh_albert.inference.export import export
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import LabelSet, OneClass, Value
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "onnx"
WINDOW = WindowConfig(max_length=48, stride=8)
TEXTS = ["房间很好。", "服务太差，味道也糟糕", "好", "早餐喜欢，ok", "物流失望，2011年。", "😀真的"]
PAIRS = list(zip(TEXTS[::2], TEXTS[1::2], strict=True))
RARE = {"span": 4.0, "global_pointer": -10.0}  # what makes random weights find some entities
Run = Callable[..., list[list[str]]]


@pytest.fixture
def run(tmp_path: Path, show: Run) -> Run:
    """Export a model and return the words of each line that an example prints of it."""

    def running(model: Any, example: str, *arguments: str) -> list[list[str]]:
        for name, parameter in model.module.named_parameters():
            if parameter.ndim == 2 and "embeddings" not in name:
                parameter.data *= 3  # so that answers differ
        model.save(tmp_path / "model", card="")
        export(tmp_path / "model", tmp_path / "fast", form="onnx")
        return show(example, tmp_path / "fast", *arguments)

    torch.manual_seed(0)
    return running


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the words of each line that an example prints of an exported folder."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def showing(example: str, folder: Path, *arguments: str) -> list[list[str]]:
        # In a process of its own: what this one has imported would hide what an example lacks.
        command = [sys.executable, str(EXAMPLES / example), str(folder), *arguments]
        ran = subprocess.run(command, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
        return [line.split() for line in ran.stdout.decode().splitlines()]

    return showing


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short_and_needs_nothing_of_this_library(example: Path) -> None:
    source = example.read_text(encoding="utf-8")
    assert not re.search(r"(import|from) (zh_albert|torch)", source)
    lines = source.partition('"""\n\n')[2].splitlines()
    code = [line for line in lines if line and not line.startswith(("import ", "from ", "#"))]
    assert len(code) <= (60 if example.name == "ngrams.py" else 41)


@pytest.mark.parametrize("pairs", [False, True])
def test_classes(run: Run, tmp_path: Path, pairs: bool) -> None:
    tokenizer, head = default_tokenizer(), OneClass(["一", "二", "三"])
    model = TextClassifier(CONFIG, tokenizer, head, window=WINDOW, pairs=pairs, pooling="mean")
    shown = run(model, "pair.py" if pairs else "classify.py", *TEXTS)
    answers = load(str(tmp_path / "model"))(PAIRS if pairs else TEXTS)
    assert [label for label, _ in shown] == [answer.label for answer in answers]
    scores = [float(score) for _, score in shown]
    assert scores == pytest.approx([answer.score for answer in answers], abs=1e-3)


def test_letters_are_read_as_the_vocabulary_has_them(run: Run, tmp_path: Path) -> None:
    tokenizer = WordPieceTokenizer(default_tokenizer().vocabulary, lowercase=False)
    texts = ["早餐OK", "早餐ok", "早餐ｏｋ"]
    model = TextClassifier(CONFIG, tokenizer, OneClass(["一", "二", "三"]), window=WINDOW)
    scores = [float(score) for _, score in run(model, "classify.py", *texts)]
    answers = load(str(tmp_path / "model"))(texts)
    assert scores == pytest.approx([answer.score for answer in answers], abs=1e-3)
    assert scores[0] == pytest.approx(scores[2], abs=1e-3)  # both unknown
    assert scores[0] != pytest.approx(scores[1], abs=1e-3)


@pytest.mark.parametrize("example", ["classify.py", "pair.py"])
def test_a_blank_text_is_refused_in_a_line(show: Run, tmp_path: Path, example: str) -> None:
    head, tokenizer = OneClass(["一", "二"]), default_tokenizer()
    model = TextClassifier(CONFIG, tokenizer, head, window=WINDOW, pairs=example == "pair.py")
    model.save(tmp_path / "model", card="")
    export(tmp_path / "model", tmp_path / "fast", form="onnx")
    with pytest.raises(AssertionError, match=r"^a text is empty: there is nothing to classify\n"):
        show(example, tmp_path / "fast", "房间很好", " ")


def test_several_classes(run: Run, tmp_path: Path) -> None:
    head = LabelSet(["房间", "服务", "味道"], threshold=0.52)
    shown = run(
        TextClassifier(CONFIG, default_tokenizer(), head, window=WINDOW), "classify.py", *TEXTS
    )
    answers = load(str(tmp_path / "model"))(TEXTS)
    assert [set(labels) for labels in shown] == [set(answer.labels) for answer in answers]
    assert len({len(labels) for labels in shown}) > 1


def test_values(run: Run, tmp_path: Path) -> None:
    head = Value(mean=2.0, spread=1.5, labels=["value"])
    model = TextClassifier(CONFIG, default_tokenizer(), head, window=WINDOW, pairs=True)
    shown = run(model, "pair.py", *TEXTS)
    answers = load(str(tmp_path / "model"))(PAIRS)
    assert [float(value) for (value,) in shown] == pytest.approx(
        [a.value for a in answers], abs=1e-3
    )


@pytest.mark.parametrize(
    ("head", "example", "scheme"),
    [
        ("softmax", "entities.py", "bioes"),
        ("softmax", "entities.py", "bio"),
        ("crf", "entities.py", "bioes"),
        ("crf", "entities.py", "bio"),
        ("span", "entities_by_borders.py", None),
        ("global_pointer", "entities_by_pairs.py", None),
    ],
)
def test_entities(run: Run, tmp_path: Path, head: Any, example: str, scheme: Any) -> None:
    types, tokenizer = ["人", "地"], default_tokenizer()
    tags = TagSet.of(types, scheme).names if scheme else None
    model = TextTagger(CONFIG, tokenizer, types, window=WINDOW, head=head, tags=tags)
    for name, parameter in model.module.named_parameters():
        if name.startswith("transitions"):
            torch.nn.init.normal_(parameter)
        elif name in ("classifier.bias", "types.bias") and head in RARE:
            parameter.data += RARE[head]
    texts = ["", "\u200b", *TEXTS]  # the first two have no token
    shown = run(model, example, *texts)
    answers = load(str(tmp_path / "model"))(texts)
    expected = [[e.text, e.type, str(e.start), str(e.end)] for found in answers for e in found]
    assert len(expected) > 3
    assert sorted(shown) == sorted(expected)


@pytest.mark.parametrize("penalties", [{}, {"length_penalty": 0.5, "repeat_penalty": 2.0}])
def test_answers(run: Run, tmp_path: Path, penalties: dict[str, float]) -> None:
    model = TextReader(CONFIG, default_tokenizer(), window=WINDOW, **penalties)
    for context in ("昨天李华坐火车去了杭州。", "昨天李华坐火车去了杭州，明天回来。" * 9):
        ((shown,),) = run(model, "read.py", "李华去了哪里？", context)
        assert shown == load(str(tmp_path / "model"))("李华去了哪里？", context).text


def test_a_reader_that_may_decline_does(run: Run) -> None:
    model = TextReader(CONFIG, default_tokenizer(), window=WINDOW, threshold=1e3)
    assert run(model, "read.py", "李华去了哪里？", "昨天李华坐火车去了杭州。") == [[]]


def test_choices(run: Run, tmp_path: Path) -> None:
    model = TextChooser(CONFIG, default_tokenizer(), window=WINDOW)
    question = Question("昨天李华坐火车去了杭州。", "怎么去的？", ("开车", "坐火车", "坐飞机去"))
    shown = run(model, "choose.py", question.context, question.question, *question.choices)
    trained = TextChooser.load(tmp_path / "model")
    (shares,) = trained.probabilities_of(trained.encode([question]))
    assert [choice for choice, _ in shown] == list(question.choices)
    assert [float(share) for _, share in shown] == pytest.approx(shares.tolist(), abs=1e-3)


def test_vectors(run: Run, tmp_path: Path) -> None:
    shown = run(TextEmbedder(CONFIG, default_tokenizer(), window=WINDOW), "embed.py", *TEXTS)
    vectors = load(str(tmp_path / "model")).encode(TEXTS, normalize=True)
    np.testing.assert_allclose(np.array(shown, dtype=float), vectors @ vectors.T, atol=2e-3)


REVIEWS = ["房间很干净，早餐也不错", "等了两个小时，味道一般般", "ＡＢＣ酒店：服务差！", "好"]
HEADLINES = ["央行宣布降息，股市大涨", "国足三比零获胜", "５Ｇ手机降价", "好"]
NAMES = ["李华昨天从北京大学去了上海", "《红楼梦》的作者是曹雪芹", "阿里巴巴ＣＥＯ张勇", "今天下雨"]
BESIDE = ["他在北京工作", "他有工作", "女孩在弹钢琴", "她没有去过上海", "猫在睡觉", "一只猫睡着了"]
PASSAGE = "李华1998年生于杭州，2020年毕业于浙江大学。毕业以后他在上海的一家报社做记者。"
MASKED = ["今天天气很[MASK]。", "我[MASK]去北京的路上。"]
BUNDLED_MODELS = {
    "sentiment": ("classify.py", REVIEWS),
    "sentiment-nano": ("classify.py", REVIEWS),
    "news": ("classify.py", HEADLINES),
    "news-nano": ("classify.py", HEADLINES),
    "nli": ("pair.py", BESIDE),
    "similarity": ("pair.py", BESIDE),
    "embedder": ("embed.py", BESIDE),
    "ner": ("entities.py", NAMES),
    "ner-nano": ("entities.py", NAMES),
    "ner-msra": ("entities.py", NAMES),
    "reader": ("read.py", ["他在哪里做记者？", PASSAGE]),
    "encoder": ("fill_mask.py", MASKED),
}


def test_every_bundled_model_has_an_example() -> None:
    assert {*BUNDLED_MODELS} == {*bundled_models()}


@pytest.mark.parametrize("name", BUNDLED_MODELS)
def test_a_bundled_model_answers_alone_as_it_does_here(
    tmp_path: Path, show: Run, name: str
) -> None:
    example, texts = BUNDLED_MODELS[name]
    export(BUNDLED / name, tmp_path, form="onnx")
    shown = show(example, tmp_path, *texts)
    refuse_others(shown, answered(load(name, precision="fp32"), example, texts))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sentiment", "news", "nli", "similarity", "ner"])
def test_a_bundled_model_in_int8_answers_alone_as_it_does_here(
    tmp_path: Path, show: Run, name: str
) -> None:
    """The others are exported in int8 only with a dev file: made-up tokens lead them astray."""
    example, texts = BUNDLED_MODELS[name]
    export(BUNDLED / name, tmp_path, form="onnx", precision="int8")
    refuse_others(show(example, tmp_path, *texts), answered(load(name), example, texts))


def answered(model: Any, example: str, texts: list[str]) -> list[tuple[Any, ...]]:
    """Return what an example prints, by this library."""
    pairs = list(zip(texts[::2], texts[1::2], strict=True)) if example == "pair.py" else texts
    match example:
        case "entities.py":
            found = [entity for entities in model(texts) for entity in entities]
            assert len(found) > 3
            return [(one.text, one.type, one.start, one.end) for one in found]
        case "embed.py":
            vectors = model.encode(texts, normalize=True)
            return [tuple(row) for row in (vectors @ vectors.T).tolist()]
        case "read.py":
            return [(model(question=texts[0], context=texts[1]).text,)]
        case "fill_mask.py":
            return [(one.text, one.score) for (spot,) in model(texts) for one in spot.candidates]
        case _:
            answers = model(pairs)
            values = hasattr(answers[0], "value")
            return [(one.value,) if values else (one.label, one.score) for one in answers]


def refuse_others(shown: list[list[str]], expected: list[tuple[Any, ...]]) -> None:
    for words, answer in zip(shown, expected, strict=True):
        for word, wanted in zip(words, answer, strict=True):
            if isinstance(wanted, str):
                assert word == wanted
            else:
                assert float(word) == pytest.approx(wanted, abs=1e-4)
