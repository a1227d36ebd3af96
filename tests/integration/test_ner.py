"""Texts in, entities out: from a task file to a model folder, its answers and its scores."""

from __future__ import annotations

import csv
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from tests.helpers.commands import QUICK_TAGGER, Cli, Ran
from tests.helpers.task_files import travels
from zh_albert import AlbertTagger, load
from zh_albert.configio import build, parse_overrides
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import CheckpointError, DataError, ZhAlbertError
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.ner.examples import (
    EntityExample,
    EntitySpan,
    read_entity_examples,
    read_unlabelled_texts,
)
from zh_albert.tasks.ner.finetune import FinetuneConfig, ModelConfig, TaggingJob, evaluate, finetune
from zh_albert.tasks.ner.networks import HEADS, Head
from zh_albert.tasks.ner.predictor import Entity, Tagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.training_texts import training_passages
from zh_albert.tasks.tagging.merging import merged
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.config import TrainConfig
from zh_albert.training.stages import silent


def finetuned(cli: Cli, micro: Path, folder: Path, head: str, *more: str, **kind: bool) -> Ran:
    train = travels(folder / "train.jsonl", **kind)
    files = ("--train", train, "--dev", train, "--out", folder / "model", "--init", micro)
    return cli(
        "finetune", "--task", "ner", *files, *QUICK_TAGGER, f"--set=model.head={head}", *more
    )


@pytest.fixture(scope="module")
def model(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger's folder, trained on ``travels`` by the fine-tuning job."""
    folder = tmp_path_factory.mktemp("ner")
    examples = read_entity_examples(travels(folder / "train.jsonl"))
    settings = parse_overrides([item.removeprefix("--set=") for item in QUICK_TAGGER])
    finetune(examples, examples, build(FinetuneConfig, settings), init=micro, out=folder / "model")
    return folder / "model"


@pytest.mark.parametrize("head", HEADS)
def test_every_head_learns_evaluates_predicts_and_loads(
    head: Head, cli: Cli, micro: Path, tmp_path: Path
) -> None:
    result = json.loads(finetuned(cli, micro, tmp_path, head, "--json").out)
    assert result["f1"] > 0.95
    assert result["task"] == "ner"
    folder = tmp_path / "model"
    scores = json.loads(cli("evaluate", folder, tmp_path / "train.jsonl", "--json").out)
    assert scores["f1"] == pytest.approx(result["f1"], abs=0.02)  # the folder holds fp16
    assert {"precision", "recall", "examples", "seconds"} < scores.keys()
    assert scores["per_type"]["PER"]["support"] == 16
    rows = [
        json.loads(s) for s in cli("predict", folder, tmp_path / "train.jsonl").out.splitlines()
    ]
    texts = [json.loads(s)["text"] for s in (tmp_path / "train.jsonl").read_text().splitlines()]
    answers = load(str(folder))(texts)
    for row, text, entities in zip(rows, texts, answers, strict=True):
        assert [Entity(**entity) for entity in row["entities"]] == entities
        assert all(text[e.start : e.end] == e.text for e in entities)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "pipeline_tag: token-classification" in card
    assert f"| PER | {scores['per_type']['PER']['precision']:.2f}" in card
    assert json.loads((folder / "config.json").read_text())["zh_albert"]["task"]["head"] == head


def test_nested_entities_are_learned_where_the_head_allows_them(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    result = json.loads(
        finetuned(cli, micro, tmp_path, "global_pointer", "--json", nested=True).out
    )
    assert result["f1"] > 0.95
    [entities] = load(str(tmp_path / "model"))("李华昨天去了北京市。")
    assert {(e.text, e.type) for e in entities} >= {("李华", "PER"), ("北京市", "LOC")}
    assert ("李华昨天去了北京市。", "EVENT") in {(e.text, e.type) for e in entities}


def test_overlaps_that_a_head_cannot_mark_are_told(cli: Cli, micro: Path, tmp_path: Path) -> None:
    ran = finetuned(cli, micro, tmp_path, "crf", "--json", "--set=train.epochs=1", nested=True)
    assert ran.code == 0
    assert "of 48 training entities 32 left out, for they overlap a longer one" in ran.err
    assert json.loads(ran.out)["recall"] < 0.5  # scores count all of them


def test_a_text_alone_and_among_others_gets_the_same_answer(model: Path) -> None:
    tag = load(str(model))
    assert isinstance(tag, Tagger)
    texts = ["李华昨天去了杭州。", "", "在北京市的Anna很高兴", "王小明和朋友住西湖，" * 30, " \n"]
    together = tag(texts)
    assert [text_entities != [] for text_entities in together] == [True, False, True, True, False]
    assert list(tag.stream(texts)) == together
    for text, entities in zip(texts, together, strict=True):
        alone = tag(text)[0]
        assert [(e.start, e.end, e.type) for e in alone] == [
            (e.start, e.end, e.type) for e in entities
        ]


def test_a_long_text_is_read_to_its_end(model: Path) -> None:
    sentence = "李华昨天去了杭州。"
    [entities] = load(str(model))([sentence * 500])
    assert len(entities) > 500
    assert max(e.end for e in entities) > 495 * len(sentence)


def test_memory_depends_on_the_batch_not_on_the_longest_text(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TorchRuntime, "batch_tokens", 128)
    tagger, sizes = TextTagger.load(model), []
    tagger.module.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[0].numel()))
    passages = tagger.encode(["李华昨天去了杭州。" * 300, "好"])
    tagger.entities_of(passages)
    assert len(sizes) > 20
    assert max(sizes) <= 128


@pytest.mark.parametrize("head", HEADS)
def test_a_long_training_text_is_taught_in_pieces(head: Head) -> None:
    text, window = "李华昨天去了杭州。" * 100, WindowConfig(max_length=24, stride=8)
    entities = [EntitySpan(9 * n, 9 * n + 2, "PER") for n in range(100)]
    examples, train = [EntityExample(text, tuple(entities))], TrainConfig(batch_tokens=100)
    config = FinetuneConfig(window=window, model=ModelConfig(head=head, ngrams=False), train=train)
    job = TaggingJob(examples, [], config)
    job.prepare(silent)
    passages, skipped = training_passages(job.model, examples, batch_tokens=100)
    batches = [job.load(item) for item in job.plan(0)]
    assert max(batch.inputs["token_ids"].numel() for batch in batches) <= 100
    assert sum(passage.tokens for passage in passages) == len(text)
    assert sum(len(passage.spans) for passage in passages) == 100
    assert str(skipped) == ""


def test_something_that_is_no_string_is_refused(model: Path) -> None:
    with pytest.raises(DataError, match=r"texts\[1\]: expected a string, found int"):
        load(str(model))(["好", 3])  # type: ignore[list-item]


def test_half_a_surrogate_pair_is_written_as_json(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "李华\\ud800昨天去了杭州。"}\n')
    ran = cli("predict", model, path)
    entities = json.loads(ran.out)["entities"]
    assert all("李华\ud800昨天去了杭州。"[e["start"] : e["end"]] == e["text"] for e in entities)


def test_models_for_one_task_are_not_opened_for_another(model: Path, trained: Path) -> None:
    with pytest.raises(CheckpointError, match="expected a model for ner, found one for classif"):
        TextTagger.load(trained)
    with pytest.raises(CheckpointError, match="expected a model for classification or pair, found"):
        TextClassifier.load(model)


def test_an_encoder_is_not_evaluated(cli: Cli, micro: Path, tmp_path: Path) -> None:
    ran = cli("evaluate", micro, travels(tmp_path / "t.jsonl"))
    assert ran.code == 2
    assert "expected a model for classification or " in ran.err


def test_a_tagger_is_a_start_for_other_types(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "好的", "entities": [{"start": 0, "end": 1, "type": "X"}]}\n')
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out", "--init", model)
    ran = cli("finetune", "--task", "ner", *files, *QUICK_TAGGER, "--set=train.epochs=1")
    assert ran.code == 0, ran.err
    assert load(str(tmp_path / "out")).labels == ["X"]


def test_convert_keeps_a_tagger(cli: Cli, model: Path, tmp_path: Path) -> None:
    assert cli("convert", model, tmp_path / "copy").code == 0
    texts = ["李华昨天去了杭州。"]
    assert load(str(tmp_path / "copy"))(texts) == load(str(model))(texts)
    refused = cli("convert", model, tmp_path / "theirs", "--to", "huggingface")
    assert refused.code == 2
    assert "head or pooling of this kind" in refused.err


def test_baseline_scores_the_same_files(cli: Cli, tmp_path: Path) -> None:
    path = travels(tmp_path / "a.jsonl")
    result = json.loads(
        cli("baseline", "--task", "ner", "--train", path, "--dev", path, "--json").out
    )
    assert result["f1"] > 0.95
    assert result["per_type"]["LOC"]["support"] == result["examples"] == 16
    shown = cli("baseline", "--task", "ner", "--train", path, "--dev", path).out
    assert "per_type:\n  LOC " in shown


ENTITY = '{"text": "他好 吗", "entities": [{"start": %s, "end": %s, "type": %s}]}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"text": "他好"}', 'line 1: field "entities" is missing'),
        ('{"text": "他好", "entities": {}}', 'line 1: "entities" must be a list, found {}'),
        ('{"text": " ", "entities": []}', 'line 1: "text" is empty'),
        ('{"text": "他好", "entities": [3]}', "line 1: an entity must be an object, found 3"),
        ('{"text": "他好", "entities": [{"start": 0}]}', 'line 1: field "end" is missing'),
        (ENTITY % (0, 5, '"P"'), "line 1: entity 0–5 lies outside the text of 4 characters"),
        (ENTITY % (2, 2, '"P"'), "line 1: entity 2–2 lies outside"),
        (ENTITY % (-1, 2, '"P"'), "line 1: entity -1–2 lies outside"),
        (ENTITY % (0, 3, '"P"'), "line 1: entity 0–3 is '他好 ', with white space at an edge"),
        (ENTITY % ("true", 1, '"P"'), 'line 1: "start" must be a whole number, found True'),
        (ENTITY % (0, 1, '""'), 'line 1: "type" is empty'),
        (ENTITY % (0, 1, "7"), 'line 1: "type" must be a string, found 7'),
        (ENTITY % (0, 2, '"P", "text": "好"'), "line 1: entity 0–2 is '他好', but says '好'"),
        ('{"text": "他好", "entities": []}', "expected texts with entities, found none"),
        ("", "no examples: the file is empty"),
    ],
)
def test_a_bad_training_file_is_named_with_its_line(
    cli: Cli, tmp_path: Path, content: str, problem: str
) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(content, encoding="utf-8")
    ran = cli("finetune", "--task", "ner", "--train", path, "--dev", path, "--out", tmp_path / "o")
    assert ran.code == 2
    assert problem in ran.err.splitlines()[-1]
    assert not (tmp_path / "o").exists()


def test_a_type_unseen_in_training_is_named(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "好的", "entities": [{"start": 0, "end": 1, "type": "X"}]}\n')
    ran = cli("evaluate", model, path)
    assert ran.code == 2
    assert "types ['X'] do not occur in training; the model knows LOC, PER" in ran.err
    train = travels(tmp_path / "t.jsonl")
    ran = cli(
        "finetune", "--task", "ner", "--train", train, "--dev", path, "--out", tmp_path / "out"
    )
    assert ran.code == 2
    assert f"{path}, line 1: types ['X']" in ran.err


def test_an_unknown_head_is_named(cli: Cli, tmp_path: Path) -> None:
    train = travels(tmp_path / "t.jsonl")
    files = ("--train", train, "--dev", train, "--out", tmp_path / "out")
    ran = cli("finetune", "--task", "ner", *files, "--set=model.head=crff")
    assert ran.code == 2
    assert (
        "model.head: expected 'softmax', 'crf', 'span' or 'global_pointer', found 'crff'" in ran.err
    )


def data(folder: Path) -> tuple[list[str], list[Any]]:
    rows = [json.loads(line) for line in travels(folder / "t.jsonl").read_text().splitlines()]
    return [row["text"] for row in rows], [row["entities"] for row in rows]


def estimator(micro: Path, **changes: Any) -> AlbertTagger:
    settings = {"max_length": 24, "stride": 8, "batch_tokens": 96, "peak_lr": 1e-2, **changes}
    return AlbertTagger(str(micro), **settings)


def test_the_estimator_fits_scores_pickles_and_saves(micro: Path, tmp_path: Path) -> None:
    texts, entities = data(tmp_path)
    tagger = estimator(micro, epochs=30)
    with pytest.raises(NotFittedError):
        tagger.predict(texts)
    tagger.fit(texts, entities)
    assert tagger.types_ == ["LOC", "PER"]
    found = tagger.predict(texts)
    assert tagger.score(texts, entities) > 0.95
    assert tagger.score(texts, found) == 1.0  # answers are taken as entities
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.predict(texts) == found
    assert copy.get_params() == tagger.get_params()
    tagger.save(tmp_path / "model")
    assert load(str(tmp_path / "model")).labels == ["LOC", "PER"]


def test_the_estimator_clones_and_cross_validates(micro: Path, tmp_path: Path) -> None:
    texts, entities = data(tmp_path)
    tagger = clone(estimator(micro, epochs=1, head="softmax"))
    assert tagger.get_params()["head"] == "softmax"
    assert cross_val_score(tagger, texts, entities, cv=2).shape == (2,)


@pytest.mark.parametrize(
    ("texts", "entities", "problem"),
    [
        (["好"], [], "1 texts, but entities of 0"),
        (["好"], [[(0, 2, "X")]], r"entities of texts\[0\]: entity 0–2 lies outside"),
        (["好", " "], [[(0, 1, "X")], []], r"texts\[1\] is empty"),
        (["好"], [[]], "expected texts with entities, found none"),
        ("好", [[]], "expected a list of texts, found one string"),
    ],
)
def test_the_estimator_says_what_it_cannot_learn_from(
    micro: Path, texts: Any, entities: Any, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        estimator(micro).fit(texts, entities)


def taught_by(teacher: Path, head: Head, **settings: float) -> FinetuneConfig:
    values = parse_overrides([item.removeprefix("--set=") for item in QUICK_TAGGER])
    values |= {"model": {"head": head}, "teacher": {"model": str(teacher), **settings}}
    return build(FinetuneConfig, values)


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_a_teacher_outweighs_wrong_types(
    model: Path, micro: Path, tmp_path: Path, head: Head
) -> None:
    examples = read_entity_examples(travels(tmp_path / "train.jsonl"))
    swapped = {"PER": "LOC", "LOC": "PER"}
    wrong = [
        EntityExample(e.text, tuple(EntitySpan(s, t, swapped[name]) for s, t, name in e.entities))
        for e in examples
    ]
    config = taught_by(model, head, weight=1.0)
    taught, _ = finetune(wrong, examples, config, init=micro, out=tmp_path / "out")
    assert evaluate(taught, examples)["f1"] > 0.7  # by the labels it would be near 0
    [kept] = (tmp_path / "out" / "training").glob("teacher-*.npy")
    assert np.load(kept).shape[1] == 9  # tags


def test_texts_without_entities_marked_are_learned_from_a_teacher(
    model: Path, micro: Path, tmp_path: Path
) -> None:
    file = travels(tmp_path / "train.jsonl")
    examples, unlabelled = read_entity_examples(file), read_unlabelled_texts(file)
    config = taught_by(model, "softmax")
    few = examples[:2]
    taught, _ = finetune(few, [], config, unlabelled=unlabelled, init=micro)
    assert evaluate(taught, examples)["f1"] > 0.9
    assert taught.metadata["unlabelled"] == len(examples) - 2


def test_what_a_teacher_says_is_cut_and_padded_like_its_passages(model: Path) -> None:
    tagger = TextTagger.load(model)
    examples = [EntityExample("王芳到北京", ()), EntityExample("张伟离开上海。" * 9, ())]
    teacher = TeacherConfig(model=str(model), weight=1.0, temperature=1.0)
    config = FinetuneConfig(
        window=tagger.window,
        model=ModelConfig(head=tagger.head_name, ngrams=False),
        train=TrainConfig(batch_tokens=96),
        teacher=teacher,
    )
    known = [
        EntityExample("李华昨天去了杭州。", (EntitySpan(0, 2, "PER"), EntitySpan(6, 8, "LOC")))
    ]
    job = TaggingJob([*known, *examples], [], config)
    job.model = tagger
    job.prepare(silent)
    for item in job.plan(0):
        inputs = job.load(item).inputs
        with torch.no_grad():
            scores = tagger.module(*(inputs[name] for name in INPUT_NAMES))
            assert job.loss(tagger.module, inputs).loss < 0.05
        emissions, mask = merged(scores, inputs)
        soft = inputs["soft_targets"]
        torch.testing.assert_close(soft[mask], emissions[mask], atol=0.1, rtol=0.05)


@pytest.mark.parametrize(
    ("head", "change", "told"),
    [
        ("span", {}, "a teacher teaches tags: model.head=span has none"),
        ("crf", {"head": "span"}, "expected a teacher whose head is softmax or crf, found span"),
        (
            "crf",
            {"labels": ["PER"], "tags": ["O", "B-PER", "I-PER"]},
            "expected a teacher of the training data's types",
        ),
        (
            "crf",
            {"tags": ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]},
            "expected a teacher of the tags O, B-LOC, I-LOC, E-LOC, .* set model.scheme",
        ),
        ("crf", {"labels": ["PER"]}, "/teacher: expected tags of the types PER, .* LOC, PER"),
        ("crf", {"vocab.txt": "x"}, "expected a teacher with the student's vocabulary"),
    ],
)
def test_a_teacher_that_cannot_teach_entities_is_refused(
    model: Path, micro: Path, tmp_path: Path, head: Head, change: dict[str, Any], told: str
) -> None:
    teacher = tmp_path / "teacher"
    shutil.copytree(model, teacher, ignore=shutil.ignore_patterns("manifest.json"))
    config = json.loads((teacher / "config.json").read_text())
    config["zh_albert"]["task"] |= change
    (teacher / "config.json").write_text(json.dumps(config))
    if "vocab.txt" in change:
        rows = (teacher / "vocab.txt").read_text().replace("京", "㐀")
        (teacher / "vocab.txt").write_text(rows)
    examples = read_entity_examples(travels(tmp_path / "train.jsonl"))
    with pytest.raises(ZhAlbertError, match=told):
        finetune(examples, [], taught_by(teacher, head), init=micro, out=tmp_path / "out")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_positions_are_those_of_the_cell_whatever_ends_its_lines(
    cli: Cli, tmp_path: Path, end: str
) -> None:
    cell = f"第一行{end}李华昨天去了{end}杭州。"
    path = tmp_path / "cells.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator=end).writerows([["text"], [cell]])
    for given in ((path,), ("--format", "csv", path)):
        (row,) = map(json.loads, cli("predict", "ner", *given).out.splitlines())
        assert row["entities"]
        assert all(cell[e["start"] : e["end"]] == e["text"] for e in row["entities"])
