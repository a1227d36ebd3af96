"""Questions about texts in, answers out: from a task file to a folder, its answers and scores."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from tests.helpers.commands import Cli, Ran
from tests.helpers.micro import save_micro_pretrained
from tests.helpers.task_files import FACTS, trips
from zh_albert import AlbertReader, load
from zh_albert.configio import build, parse_overrides
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import CheckpointError, DataError
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.reading.examples import read_reading_examples
from zh_albert.tasks.reading.finetune import FinetuneConfig, ReadingJob, evaluate, finetune
from zh_albert.tasks.reading.predictor import Answer, Reader
from zh_albert.tasks.reading.questions import encode_question
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Evaluation, Event
from zh_albert.training.stages import silent

QUICK = (
    "--set=train.epochs=60",
    "--set=train.evaluate_every=60",
    "--set=train.peak_lr=1e-2",
    "--set=train.batch_tokens=96",
    "--set=window.max_length=48",
    "--set=window.stride=16",
)


def finetuned(cli: Cli, micro: Path, folder: Path, *more: str, **kind: int) -> Ran:
    train = trips(folder / "train.jsonl", **kind)
    files = ("--train", train, "--dev", train, "--out", folder / "model", "--init", micro)
    return cli("finetune", "--task", "reading", *files, *QUICK, *more)


@pytest.fixture(scope="module")
def model(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder, trained on ``trips`` with unanswerable questions by the job."""
    folder = tmp_path_factory.mktemp("reading")
    examples = read_reading_examples(trips(folder / "train.jsonl", unanswerable=True))
    settings = parse_overrides([item.removeprefix("--set=") for item in QUICK])
    finetune(examples, examples, build(FinetuneConfig, settings), init=micro, out=folder / "model")
    return folder / "model"


def test_eight_questions_are_learned_evaluated_predicted_and_loaded(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    result = json.loads(finetuned(cli, micro, tmp_path, "--json").out)
    assert result["exact_match"] == result["f1"] == 100
    assert result["task"] == "reading"
    folder, train = tmp_path / "model", tmp_path / "train.jsonl"
    scores = json.loads(cli("evaluate", folder, train, "--json").out)
    assert scores["exact_match"] == 100  # the folder holds fp16
    assert scores.keys() == {"exact_match", "f1", "examples", "seconds"}
    rows = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
    predicted = [json.loads(line) for line in cli("predict", folder, train).out.splitlines()]
    read = load(str(folder))
    for row, found in zip(rows, predicted, strict=True):
        answer = read(question=row["question"], context=row["context"])
        assert Answer(**found) == answer
        assert answer.text == row["answers"][0]["text"]
        assert row["context"][answer.start : answer.end] == answer.text
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "pipeline_tag: question-answering" in card
    assert "It always gives an answer" in card
    assert (
        json.loads((folder / "config.json").read_text())["zh_albert"]["task"]["threshold"] is None
    )


def test_unanswerable_questions_get_no_answer(model: Path, cli: Cli, tmp_path: Path) -> None:
    train = trips(tmp_path / "t.jsonl", unanswerable=True)
    scores = json.loads(cli("evaluate", model, train, "--json").out)
    assert scores["exact_match"] == 100
    assert scores["per_kind"]["unanswerable"] == {"exact_match": 100, "f1": 100, "support": 4}
    assert scores["per_kind"]["answerable"]["support"] == 8
    shown = cli("evaluate", model, train).out
    assert "per_kind:\n  answerable " in shown
    task = json.loads((model / "config.json").read_text())["zh_albert"]["task"]
    assert isinstance(task["threshold"], float)
    assert "| unanswerable | 100.00 |" in (model / "README.md").read_text(encoding="utf-8")
    answer = load(str(model))("吃了什么？", "昨天李华去了杭州，很高兴。")
    assert (answer.start, answer.end, answer.text) == (0, 0, "")


def test_a_reader_may_learn_from_unanswerable_questions_and_always_answer(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    train = trips(tmp_path / "t.jsonl", unanswerable=True)
    files = ("--train", train, "--dev", train, "--out", tmp_path / "out", "--init", micro)
    ran = cli(
        "finetune", "--task", "reading", *files, *QUICK, "--set=model.predicts_no_answer=false"
    )
    assert ran.code == 0, ran.err
    assert "It always gives an answer" in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert load(str(tmp_path / "out"))("吃了什么？", "昨天李华去了杭州，很高兴。").text


def test_without_unanswerable_questions_to_learn_from_it_always_answers(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    train, dev = trips(tmp_path / "t.jsonl"), trips(tmp_path / "d.jsonl", unanswerable=True)
    files = ("--train", train, "--dev", dev, "--out", tmp_path / "out", "--init", micro)
    ran = cli("finetune", "--task", "reading", *files, *QUICK)
    assert ran.code == 0, ran.err
    task = json.loads((tmp_path / "out" / "config.json").read_text())["zh_albert"]["task"]
    assert task["threshold"] is None
    assert load(str(tmp_path / "out"))("吃了什么？", "昨天李华去了杭州，很高兴。").text


def test_the_threshold_in_the_folder_decides(model: Path) -> None:
    reader = TextReader.load(model)
    context = "昨天李华去了杭州，很高兴。"
    assert Reader(reader)("谁去了？", context).text == "李华"
    reader.threshold = 50.0
    ranked = Reader(reader)("谁去了？", context, top_k=3)
    assert [answer.text for answer in ranked][:2] == ["", "李华"]
    reader.threshold = -50.0
    assert Reader(reader)("吃了什么？", context).text


def test_the_n_best_are_ranked_and_their_scores_are_probabilities(model: Path) -> None:
    read = load(str(model))
    context = "昨天李华去了杭州，很高兴。"
    ranked = read(question="谁去了？", context=context, top_k=500)
    assert ranked[0] == read("谁去了？", context)
    assert [a.score for a in ranked] == sorted((a.score for a in ranked), reverse=True)
    assert sum(a.score for a in ranked) == pytest.approx(1, abs=1e-3)
    possible = 11 * 12 // 2 + 1  # two of 13 signs are outer punctuation
    assert len({(a.start, a.end) for a in ranked}) == len(ranked) == possible
    assert read("谁去了？", context, top_k=2) == ranked[:2]


def test_lists_are_answered_in_order_like_one_alone(model: Path) -> None:
    read = load(str(model))
    contexts = [f"昨天{person}去了{place}，很高兴。" for person, place in FACTS]
    contexts[1] = f"{'很久以前，' * 30}{contexts[1]}"
    together = read(question=["去了哪里？"] * 4, context=contexts)
    for context, answer in zip(contexts, together, strict=True):
        alone = read(question="去了哪里？", context=context)
        assert (alone.start, alone.end) == (answer.start, answer.end)
    of_one = read(question=["谁去了？", "去了哪里？"], context=contexts[0], top_k=1)
    assert [[answer.text for answer in answers] for answers in of_one] == [["李华"], ["杭州"]]
    pairs = [("去了哪里？", context) for context in contexts]
    assert list(read.stream(pairs)) == together
    for wrong in (("谁", "李华", "多余"), ("谁",), "李华去了杭州", {"question": "谁"}, None, 3):
        with pytest.raises(DataError, match=r"texts\[1\]: expected a pair of strings"):
            list(read.stream([pairs[0], wrong]))  # type: ignore[list-item]


def test_answers_are_found_in_whichever_window_they_are(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    more = ("--json", "--set=train.epochs=30")
    ran = finetuned(cli, micro, tmp_path, *more, filler=3)
    assert json.loads(ran.out)["exact_match"] == 100
    assert re.search(
        r"^dev at \d+: exact_match 100\.0000  f1 100\.0000  \(best f1\)$", ran.err, re.M
    )
    context = "天气不错。" * 400 + "昨天Anna去了西湖，很高兴。" + "天气不错。" * 400
    answer = load(str(tmp_path / "model"))(question="去了哪里？", context=context)
    assert 2000 <= answer.start < answer.end <= 2013  # in the one sentence that is no filler


def test_memory_depends_on_the_batch_not_on_the_context(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TorchRuntime, "batch_tokens", 128)
    reader, sizes = TextReader.load(model), []
    reader.module.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[0].numel()))
    questions = reader.encode([("去了哪里？", "昨天李华去了杭州。" * 300), ("谁？", "好")])
    reader.read(questions)
    assert len(sizes) > 20
    assert max(sizes) <= 128


def test_an_empty_context_has_no_answer(model: Path) -> None:
    read = load(str(model))
    for context in ("", " \n", "\u200b"):
        assert read(question="谁去了？", context=context) == Answer(0, 0, "", 1.0)
    reader = TextReader.load(model)
    reader.threshold = None
    assert Reader(reader)("谁去了？", "", top_k=3) == [Answer(0, 0, "", 1.0)]


def test_a_long_question_leaves_half_of_the_window_to_the_text(model: Path) -> None:
    context = "昨天李华去了杭州，很高兴。" * 20
    answer = load(str(model))(question="请问" * 500 + "谁去了？", context=context)
    assert context[answer.start : answer.end] == answer.text


def test_of_a_question_that_is_too_long_the_end_is_read() -> None:
    tokenizer, asked = default_tokenizer(), "王明在哪里吃饭?"
    long, short = tokenizer.encode("请仔细阅读下面的文章。" * 40 + asked), tokenizer.encode(asked)
    context = tokenizer.encode("李华昨天坐火车去了杭州,王明今天在北京吃饭。" * 12)
    kept = encode_question(long, context, WindowConfig(max_length=256, stride=96)).question
    assert len(short) < len(kept) < len(long)
    assert kept[-len(short) :] == short.ids


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"question": " ", "context": "好"}, r"questions\[0\] is empty .* nothing to answer"),
        ({"question": ["谁", ""], "context": "好"}, r"questions\[1\] is empty"),
        ({"question": ["谁"] * 600 + [""], "context": "好"}, r"questions\[600\] is empty"),
        ({"question": 3, "context": "好"}, "question: expected a string or a list of .*found int"),
        (
            {"question": "谁", "context": None},
            "context: expected a string or a list of .*found None",
        ),
        ({"question": ["谁"], "context": [3]}, r"contexts\[0\]: expected a string, found int: 3"),
        ({"question": ["谁"], "context": ["好", "好"]}, "found 1 questions and 2 contexts"),
        ({"question": "谁", "context": ["好"]}, "a string as question goes with a string as cont"),
        *(
            ({"question": "谁", "context": "好", "top_k": top_k}, rf"top_k: .* found {top_k!r}$")
            for top_k in (0, "3", 1.5, True)
        ),
    ],
)
def test_what_cannot_be_asked_is_said(model: Path, arguments: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        load(str(model))(**arguments)


def test_a_bad_line_does_not_stop_a_file(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    good = '{"question": "谁去了？", "context": "昨天李华\\ud800去了杭州。"}'
    empty = '{"question": "", "context": "好"}'
    path.write_text(f"{good}\n{empty}\n\n{good}\n", encoding="utf-8")
    ran = cli("predict", model, path)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[0] == rows[3]
    assert "昨天李华\ud800去了杭州。"[rows[0]["start"] : rows[0]["end"]] == rows[0]["text"]
    for number, row in ((2, rows[1]), (3, rows[2])):
        assert f"q.jsonl, line {number}: the question is empty" in row["error"]
        assert row["text"] is row["start"] is row["score"] is None
    assert "lines not answered: 2;" in ran.err
    path.write_text('{"text": "好"}\n', encoding="utf-8")
    ran = cli("predict", model, path)
    assert ran.code == 2
    assert 'line 1: field "question" is missing' in ran.err
    assert 'Each line is {"question": …, "context": …}' in ran.err


def test_a_file_gets_the_best_answers_in_order(cli: Cli, model: Path, trained: Path) -> None:
    path = model.parent / "several.jsonl"
    context = "昨天李华去了杭州，王芳去了北京。"
    asked = json.dumps({"question": "谁去了？", "context": context})
    path.write_text(f"{asked}\n\n{asked}\n", encoding="utf-8")
    ran = cli("predict", model, path, "--top-k", "3")
    first, blank, again = map(json.loads, ran.out.splitlines())

    assert first == again
    scores = [answer["score"] for answer in first["answers"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert {**first["answers"][0], "answers": first["answers"]} == first
    assert all(context[a["start"] : a["end"]] == a["text"] for a in first["answers"])
    assert blank["answers"] == []
    assert "the question is empty" in blank["error"]
    alone = json.loads(cli("predict", model, path).out.splitlines()[0])
    assert alone == {name: first[name] for name in alone}
    ran = cli("predict", trained, path, "--top-k", "3")
    assert ran.code == 2
    assert "top_k is for readers" in ran.err


def test_models_for_one_task_are_not_opened_for_another(model: Path, trained: Path) -> None:
    with pytest.raises(CheckpointError, match="expected a model for reading, found one for class"):
        TextReader.load(trained)
    with pytest.raises(CheckpointError, match="expected a model for classification or pair, found"):
        TextClassifier.load(model)


def test_convert_keeps_a_reader_and_a_reader_is_a_start_for_another(
    cli: Cli, model: Path, tmp_path: Path
) -> None:
    assert cli("convert", model, tmp_path / "copy").code == 0
    question, context = "谁去了？", "昨天李华去了杭州，很高兴。"
    copy = load(str(tmp_path / "copy"))
    assert copy(question, context) == load(str(model))(question, context)
    train = trips(tmp_path / "t.jsonl")
    files = ("--train", train, "--dev", train, "--out", tmp_path / "out", "--init", model)
    ran = cli("finetune", "--task", "reading", *files, *QUICK, "--set=train.epochs=1")
    assert ran.code == 0, ran.err


def test_interrupted_and_resumed_equals_never_stopped(micro: Path, tmp_path: Path) -> None:
    examples = read_reading_examples(trips(tmp_path / "t.jsonl", unanswerable=True))
    config = FinetuneConfig(
        train=TrainConfig(epochs=5, peak_lr=1e-2, batch_tokens=96, save_every_s=0),
        window=WindowConfig(max_length=48, stride=16),
    )

    def interrupt(event: Event) -> None:
        if isinstance(event, Evaluation) and event.update > event.total / 2:
            raise KeyboardInterrupt

    whole, _ = finetune(examples, examples, config, init=micro, out=tmp_path / "whole")
    parts = tmp_path / "parts"
    with pytest.raises(KeyboardInterrupt):
        finetune(examples, examples, config, init=micro, out=parts, observers=[interrupt])
    resumed, _ = finetune(examples, examples, config, init=micro, out=parts, resume=True)
    for name, tensor in whole.module.state_dict().items():
        assert tensor.equal(resumed.module.state_dict()[name]), name
    assert whole.threshold == resumed.threshold


def test_baseline_scores_the_same_files(cli: Cli, tmp_path: Path) -> None:
    path = trips(tmp_path / "a.jsonl", unanswerable=True)
    files = ("--train", path, "--dev", path)
    result = json.loads(cli("baseline", "--task", "reading", *files, "--json").out)
    assert 0 < result["f1"] < 100
    assert result["examples"] == result["train_examples"] == 12
    assert result["per_kind"]["unanswerable"]["exact_match"] > 0  # it learned when to decline


ROW = '{"context": "他好 吗他", "question": "谁", "answers": [{"text": %s, "start": %s}]}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"context": "他好", "question": "谁"}', 'line 1: field "answers" is missing'),
        (
            '{"context": "他好", "question": "谁", "answers": {}}',
            'line 1: "answers" must be a list, found {}',
        ),
        ('{"context": " ", "question": "谁", "answers": []}', 'line 1: "context" is empty'),
        ('{"context": "他", "question": "", "answers": []}', 'line 1: "question" is empty'),
        ('{"context": "他", "question": 3, "answers": []}', 'line 1: "question" must be a string'),
        (
            '{"context": "他", "question": "谁", "answers": ["他"]}',
            "line 1: an answer must be an object, found '他'",
        ),
        (ROW % ('"他"', "1"), "line 1: the answer '他' does not stand at 1: '好' does; it stands"),
        (ROW % ('"他"', "1"), "it stands at 0, 4."),
        (ROW % ('"她"', "0"), "it is nowhere in the context"),
        (ROW % ('"她"', "0"), 'belong under "reference_texts"'),
        (ROW % ('"吗他"', "-2"), "line 1: the answer '吗他' does not stand at -2"),
        (ROW % ('""', "0"), 'No answer at all is "answers": []'),
        (ROW % ("7", "0"), 'line 1: an answer\'s "text" must be a text'),
        (ROW % ('"他"', '"0"'), "line 1: \"start\" must be a whole number, found '0'"),
        (
            '{"context": "他", "question": "谁", "answers": [], "reference_texts": [""]}',
            'line 1: "reference_texts" must be texts',
        ),
        ("", "no examples: the file is empty"),
    ],
)
def test_a_bad_training_file_is_named_with_its_line(
    cli: Cli, tmp_path: Path, content: str, problem: str
) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(content, encoding="utf-8")
    files = ("--train", path, "--dev", path, "--out", tmp_path / "o")
    ran = cli("finetune", "--task", "reading", *files)
    assert ran.code == 2
    assert problem in ran.err.splitlines()[-1]
    assert not (tmp_path / "o").exists()


def test_windows_too_narrow_for_question_and_text_are_refused(cli: Cli, tmp_path: Path) -> None:
    train = trips(tmp_path / "t.jsonl")
    files = ("--train", train, "--dev", train, "--out", tmp_path / "o")
    narrow = ("--set=window.max_length=32", "--set=window.stride=16")
    ran = cli("finetune", "--task", "reading", *files, *narrow)
    assert ran.code == 2
    assert "stride (16) must be from 1 to 13 for max_length 32" in ran.err


def test_answers_that_cannot_be_taught_are_counted(cli: Cli, micro: Path, tmp_path: Path) -> None:
    path, context = tmp_path / "t.jsonl", "昨天李华去了杭州，" * 4
    rows = [
        {"answers": [{"text": "李华", "start": 2}]},
        {"answers": [{"text": context[:30], "start": 0}]},
        {"answers": [], "reference_texts": ["二李"]},
    ]
    rows = [{"context": context, "question": "谁？", **row} for row in rows]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    files = ("--train", path, "--dev", path, "--out", tmp_path / "o", "--init", micro)
    ran = cli("finetune", "--task", "reading", *files, *QUICK, "--set=train.epochs=1", "--json")
    assert ran.code == 0, ran.err
    assert "of 3 training questions 1 left out, for no answer of theirs stands in" in ran.err
    assert "1 left out, for their answers have more tokens than window.stride" in ran.err
    assert "per_kind" not in json.loads(ran.out)  # the third one has an answer, if not here


def pairs_of(folder: Path) -> tuple[list[tuple[str, str]], list[Any]]:
    lines = trips(folder / "t.jsonl", unanswerable=True).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["question"], row["context"]) for row in rows], [row["answers"] for row in rows]


def estimator(micro: Path, **changes: Any) -> AlbertReader:
    settings = {"max_length": 48, "stride": 16, "batch_tokens": 96, "peak_lr": 1e-2, **changes}
    return AlbertReader(str(micro), **settings)


def test_the_estimator_fits_scores_pickles_and_saves(micro: Path, tmp_path: Path) -> None:
    pairs, answers = pairs_of(tmp_path)
    reader = estimator(micro, epochs=60)
    with pytest.raises(NotFittedError):
        reader.predict(pairs)
    reader.fit(pairs, answers)
    found = reader.predict(pairs)
    assert reader.score(pairs, answers) > 0.95
    assert reader.score(pairs, found) == 1.0  # answers are taken as answers
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.predict(pairs) == found
    assert copy.get_params() == reader.get_params()
    reader.save(tmp_path / "model")
    [(question, context), *_] = pairs
    assert load(str(tmp_path / "model"))(question, context).text == found[0].text


def test_the_estimator_clones_and_cross_validates(micro: Path, tmp_path: Path) -> None:
    pairs, answers = pairs_of(tmp_path)
    reader = clone(estimator(micro, epochs=1))
    assert cross_val_score(reader, pairs, answers, cv=2).shape == (2,)


@pytest.mark.parametrize(
    ("pairs", "answers", "problem"),
    [
        ([("谁", "好")], [], "1 questions, but answers to 0"),
        ([("谁", "好")], ["坏"], "answers to pair 0: '坏' is nowhere in the context"),
        ([("谁", "好")], [(1, "好")], "answers to pair 0: the answer '好' does not stand at 1"),
        ([("谁", "好")], [3], r"answers to pair 0: expected a text, \(start, text\) or an object"),
        ([("谁", " ")], [None], "context of pair 0 is empty"),
        ([("谁", 3)], [None], "context of pair 0: expected a string, found int: 3"),
        (["好"], [None], r"shape \(n, 2\), found shape \(1,\)"),
    ],
)
def test_the_estimator_says_what_it_cannot_learn_from(
    micro: Path, pairs: Any, answers: Any, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        estimator(micro).fit(pairs, answers)


@pytest.fixture
def traditional(tmp_path: Path) -> Iterator[Path]:
    """The data set in traditional characters, with names that conversion changes."""
    text = trips(tmp_path / "t.jsonl").read_text(encoding="utf-8")
    changed = text.maketrans(
        {"华": "華", "张": "張", "丰": "豐", "谁": "誰", "兴": "興", "里": "裡"}
    )
    (tmp_path / "traditional.jsonl").write_text(text.translate(changed), encoding="utf-8")
    return tmp_path / "traditional.jsonl"


def test_traditional_texts_are_read_as_simplified_ones_and_answered_in_their_own(
    cli: Cli, micro: Path, traditional: Path, tmp_path: Path
) -> None:
    files = ("--train", tmp_path / "t.jsonl", "--dev", traditional, "--init", micro)
    out = ("--out", tmp_path / "simplifying", "--set=model.simplify=true", "--json")
    result = json.loads(cli("finetune", "--task", "reading", *files, *QUICK, *out).out)
    assert result["exact_match"] == 100
    answer = load(str(tmp_path / "simplifying"))("誰去了？", "昨天李華去了杭州，很高興。")
    assert answer.text == "李華"
    assert "Traditional characters are read" in (tmp_path / "simplifying/README.md").read_text()


def test_windows_longer_than_the_encoder_was_trained_on_are_told(cli: Cli, tmp_path: Path) -> None:
    encoder = save_micro_pretrained(tmp_path / "encoder", max_length=24)
    ran = finetuned(cli, encoder, tmp_path, "--set=train.epochs=1")
    assert ran.code == 0
    assert "was trained on windows of 24 tokens and knows no position beyond" in ran.err


@pytest.mark.data
def test_the_public_sets_are_read(data: Path) -> None:
    counts = {}
    for name in ("cmrc2018/dev.jsonl.xz", "drcd/dev.jsonl.xz", "dureader_checklist/dev.jsonl"):
        examples = read_reading_examples(data / "tasks" / name)
        unanswerable = sum(not example.references for example in examples)
        counts[name.partition("/")[0]] = (len(examples), unanswerable)
    assert counts == {
        "cmrc2018": (2619, 0),
        "drcd": (3524, 0),
        "dureader_checklist": (1130, 591),
    }


def test_a_teacher_outweighs_wrong_answers(model: Path, micro: Path, tmp_path: Path) -> None:
    examples = read_reading_examples(trips(tmp_path / "train.jsonl"))
    # Who and where change places.
    wrong = [replace(e, answers=examples[n ^ 1].answers) for n, e in enumerate(examples)]
    values = parse_overrides([item.removeprefix("--set=") for item in QUICK])
    values["teacher"] = {"model": str(model), "weight": 1.0}
    config = build(FinetuneConfig, values)
    student, _ = finetune(wrong, examples, config, init=micro, out=tmp_path / "out")
    assert evaluate(student, examples)["f1"] > 90
    [kept] = (tmp_path / "out" / "training").glob("teacher-*.npy")
    assert np.load(kept).shape[1] == 2


def test_what_a_teacher_says_belongs_to_the_windows(model: Path, tmp_path: Path) -> None:
    reader = TextReader.load(model)
    examples = read_reading_examples(trips(tmp_path / "t.jsonl", filler=3))
    teacher = TeacherConfig(model=str(model), weight=1.0, temperature=1.0)
    train = TrainConfig(batch_tokens=200)
    job = ReadingJob(
        examples, [], FinetuneConfig(window=reader.window, train=train, teacher=teacher)
    )
    job.model = reader
    job.prepare(silent)
    for item in job.plan(0):
        inputs = job.load(item).inputs
        with torch.no_grad():
            logits = reader.module(*(inputs[name] for name in INPUT_NAMES))
            assert job.loss(reader.module, inputs).loss < 0.05
        there, soft = inputs["mask"], inputs["soft_targets"]
        torch.testing.assert_close(soft[there], logits[there], atol=0.2, rtol=0.05)
