"""Multiple choice: learned from a made-up file, asked from Python and the shell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from tests.helpers.commands import QUICK, Cli, refused
from tests.helpers.jobs import batches, encoded
from tests.helpers.task_files import THINGS, write
from zh_albert import load
from zh_albert.checkpoints.store import load_weights
from zh_albert.configio import build, parse_overrides
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import ChoiceExample, Question, read_choice_examples
from zh_albert.tasks.choice.finetune import ChoiceJob, FinetuneConfig, evaluate, finetune

LEARN = (
    *QUICK,
    "--set=train.epochs=20",
    "--set=model.pooling=mean",
    "--set=train.batch_tokens=512",
)
LEARN_ONCE: dict[str, Any] = {
    "window": {"max_length": 32, "stride": 8},
    "train": {"max_updates": 1, "batch_tokens": 512},
}


def questions(path: Path) -> Path:
    """Which of two to four things is good: the one that is always so."""
    rows = []
    for number in range(48):
        choices = [f"{THINGS[(number + step) % 8]}" for step in range(2 + number % 3)]
        label = number % len(choices)
        choices[label] = "满意"
        rows.append(
            {
                "context": f"今天{THINGS[number % 5]}。",
                "question": "什么？",
                "choices": choices,
                "label": label,
            }
        )
    return write(path, rows)


@pytest.fixture(scope="session")
def chooser(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder, trained by the job."""
    folder = tmp_path_factory.mktemp("choice")
    examples = read_choice_examples(questions(folder / "train.jsonl"))
    config = build(FinetuneConfig, parse_overrides([item.removeprefix("--set=") for item in LEARN]))
    finetune(examples, examples, config, init=micro, out=folder / "model")
    return folder / "model"


def probabilities(model: TextChooser, asked: list[Question]) -> list[Any]:
    return model.probabilities_of(model.encode(asked))


def job(examples: list[ChoiceExample], model: TextChooser, batch_tokens: int = 10_000) -> ChoiceJob:
    """A job with a trained model."""
    settings = {"train": {"batch_tokens": batch_tokens, "seed": 1}}
    return encoded(ChoiceJob(examples, [], build(FinetuneConfig, settings)), model)


def test_it_learns_and_answers_in_order(chooser: Path) -> None:
    three = ("今天房间。", "什么？", ["满意", "服务", "早餐"])
    two = ("今天味道。", "什么？", ("物流", "满意"))
    first, second = load(str(chooser))([three, two])
    assert (first.index, first.text, len(first.scores)) == (0, "满意", 3)
    assert (second.index, second.text, len(second.scores)) == (1, "满意", 2)
    assert first.score == max(first.scores)
    assert sum(first.scores) == pytest.approx(1, abs=1e-5)
    assert load(str(chooser))([]) == []


def test_alone_and_among_others_and_in_windows_the_answer_is_the_same(
    chooser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TextChooser.load(chooser)
    asked = [
        Question("好", "", ("坏", "很好", "不错", "太差", "退货")),
        Question("今天房间很好。" * 30, "哪里？" * 20, ("早餐", "服务" * 30)),
        Question("今天", "什么？", ("房间", "满意")),
    ]
    with monkeypatch.context() as small:
        small.setattr(TorchRuntime, "batch_tokens", 64)
        together = probabilities(model, asked)
    for question, expected in zip(asked, together, strict=True):
        np.testing.assert_allclose(probabilities(model, [question])[0], expected, atol=2e-5)


def test_a_choices_odds_are_averaged_over_windows_in_prediction_and_in_training(
    chooser: Path,
) -> None:
    model = TextChooser.load(chooser)
    question = Question("今天房间很好。" * 9 + "满意！" + "早餐太差。" * 12, "", ("房间", "满意"))
    [encoded] = model.encode([question])
    assert len(encoded[0].windows) > 3
    alone = [
        model.logits_of([[replace(text, windows=[window]) for window in text.windows]])[:, 0]
        for text in encoded
    ]
    expected = [
        torch.tensor([len(w) / text.tokens for w in text.windows]).mul(odds.exp()).sum().log()
        for text, odds in zip(encoded, alone, strict=True)
    ]
    found = model.logits_of([encoded])[:, 0]
    np.testing.assert_allclose(found, torch.stack(expected), atol=2e-5)

    one = job([ChoiceExample(question, 1)], model)
    [batch] = batches(one)
    with torch.inference_mode():
        loss = one.loss(model.module, batch.inputs).loss
    assert float(loss) == pytest.approx(-float(found.log_softmax(0)[1]), rel=1e-4)


def test_a_batch_has_the_same_windows_of_a_long_context_for_all_choices(chooser: Path) -> None:
    model = TextChooser.load(chooser)
    long = ChoiceExample(Question("今天房间很好。" * 99, "", ("房间", "满意", "早餐")), 1)
    one, seen = job([long], model, batch_tokens=256), set()
    for epoch in range(4):
        [batch] = batches(one, epoch)
        inputs = batch.inputs
        assert inputs["token_ids"].numel() <= 256
        rows = {
            choice: [ids[:-4].tolist() for ids in inputs["token_ids"][inputs["owner"] == choice]]
            for choice in range(3)
        }
        assert rows[0] == rows[1] == rows[2]
        sums = torch.zeros(3).index_add(0, inputs["owner"], inputs["share"])
        np.testing.assert_allclose(sums, 1, rtol=1e-6)
        seen.add(str(rows[0]))
    assert len(seen) > 1  # each epoch others


def test_the_loss_is_the_mean_of_each_questions_own_cross_entropy(chooser: Path) -> None:
    model, examples = (
        TextChooser.load(chooser),
        read_choice_examples(questions(chooser / "q.jsonl")),
    )
    all_of_them = job(examples, model)
    [batch] = batches(all_of_them)
    with torch.inference_mode():
        loss = all_of_them.loss(model.module, batch.inputs).loss / batch.weight
    rows = probabilities(model, [example.asked for example in examples])
    expected = -np.mean([np.log(row[e.label]) for row, e in zip(rows, examples, strict=True)])
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)
    assert all_of_them.chance_loss() == pytest.approx(np.mean(np.log([len(row) for row in rows])))


def test_in_training_a_questions_choices_are_told_apart_without_noise(
    micro: Path, tmp_path: Path
) -> None:
    examples = read_choice_examples(questions(tmp_path / "q.jsonl"))

    def losses(config: FinetuneConfig) -> list[float]:
        untaught = encoded(ChoiceJob(examples, [], config, init=micro))
        network, [batch, *_] = untaught.model.module.train(), batches(untaught)
        return [untaught.loss(network, batch.inputs).loss.item() for _ in range(2)]

    first, second = losses(FinetuneConfig())
    assert first == second
    first, second = losses(build(FinetuneConfig, {"model": {"dropout": 0.1}}))
    assert first != second


def test_transformers_computes_the_same_logits(micro: Path, tmp_path: Path) -> None:
    from zh_albert.checkpoints.store import load_config
    from zh_albert.checkpoints.tokenizers import matching_tokenizer
    from zh_albert.tasks.windows import WindowConfig

    config, _ = load_config(micro)
    ours = TextChooser(config, matching_tokenizer(micro, config), window=WindowConfig())
    ours.save(tmp_path / "model", card="", dtype=torch.float32)
    load_weights(ours.module, tmp_path / "model")
    theirs = transformers.AutoModelForMultipleChoice.from_pretrained(tmp_path / "model").eval()
    question = Question("房间很好，服务太差", "什么好？", ("房间", "服务"))
    windows = [choice.windows[0] for choice in ours.encode([question])[0]]
    separator = ours.tokenizer.special.sep
    assert [window.token_ids.count(separator) for window in windows] == [3, 3]
    ids, types = (
        torch.tensor([[getattr(w, k) for w in windows]]) for k in ("token_ids", "type_ids")
    )
    with torch.inference_mode():
        expected = theirs(input_ids=ids, token_type_ids=types).logits.softmax(-1)
    np.testing.assert_allclose(probabilities(ours, [question])[0], expected[0], atol=1e-5)
    config_file = tmp_path / "model" / "config.json"
    content = json.loads(config_file.read_text())
    del content["zh_albert"]  # as transformers would write it
    config_file.write_text(json.dumps(content))
    config_file.with_name("manifest.json").unlink()
    assert len(load(str(tmp_path / "model"))([question])) == 1


def test_predict_evaluate_and_baseline(chooser: Path, cli: Cli, tmp_path: Path) -> None:
    path = questions(tmp_path / "dev.jsonl")
    scores = json.loads(cli("evaluate", chooser, path, "--json").out)
    assert scores["accuracy"] > 0.9
    assert scores["examples"] == 48
    path.write_text(path.read_text().replace("\n", "\n\n", 1), encoding="utf-8")
    ran = cli("predict", chooser, path)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert len(rows) == 49
    assert rows[1]["index"] is None
    assert "dev.jsonl, line 2: the question has an empty context" in rows[1]["error"]
    assert rows[0]["text"] == "满意"
    ran = cli("baseline", "--task", "choice", "--train", path, "--dev", path, "--json")
    assert 0 <= json.loads(ran.out)["accuracy"] <= 1


def test_finetune_writes_its_card_and_resumes_a_finished_run(
    micro: Path, cli: Cli, tmp_path: Path
) -> None:
    path, out = questions(tmp_path / "t.jsonl"), tmp_path / "out"
    files = ("--task", "choice", "--train", path, "--dev", path, "--out", out, "--init", micro)
    result = json.loads(cli("finetune", *files, *LEARN, "--json").out)
    assert f"| accuracy | {result['accuracy']:.4f} |" in (out / "README.md").read_text()
    again = json.loads(cli("finetune", *files, *LEARN, "--resume", "--json").out)
    assert again["accuracy"] == result["accuracy"]


def test_questions_of_a_group_take_different_choices(chooser: Path) -> None:
    ask, choices = load(str(chooser)), ["满意", "房间", "服务"]
    alone = ask([("今天。", "", choices), ("今天味道。", "", choices)])
    assert [answer.text for answer in alone] == ["满意", "满意"]
    grouped = ask([("今天。", "", choices, "a"), ("今天味道。", "", choices, "a")])
    first, second = (answer.index for answer in grouped)
    assert first != second
    assert [answer.scores for answer in grouped] == [answer.scores for answer in alone]
    other = ask([("今天。", "", choices, "a"), ("今天味道。", "", choices, "b")])
    assert [answer.text for answer in other] == ["满意", "满意"]
    streamed = list(ask.stream([Question("今天。", "", tuple(choices), "a")] * 3))
    assert sorted(answer.index for answer in streamed) == [0, 1, 2]


ROW: dict[str, Any] = {"context": "好", "question": "什", "choices": ["甲", "乙"], "label": 0}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"choices": ["甲"]}, "line 2: \"choices\" must hold at least two, found ['甲']"),
        ({"choices": "甲乙"}, 'line 2: "choices" must be a list of strings'),
        ({"choices": ["甲", 2]}, 'line 2: "choices" must be a list of strings'),
        ({"choices": ["甲", " "]}, "line 2: a choice is empty"),
        ({"context": ""}, 'line 2: "context" is empty'),
        ({"label": 2}, 'line 2: "label" must be from 0 to 1, or a choice, found 2'),
        ({"label": "丙"}, "or a choice, found '丙'"),
        ({"label": "2"}, "must be from 0 to 1, or a choice, found 2"),
        ({"label": "甲", "choices": ["甲", "甲"]}, "stands among the choices more than once"),
        ({"label": True}, "or a choice, found True"),
        ({"group": "a"}, "line 2: group 'a' already has a question with the same answer"),
        ({"group": "a", "choices": ["甲", "丙"]}, "already has a question with other choices"),
        ({"group": 3}, 'line 2: "group" must be a string, found 3'),
    ],
)
def test_a_bad_file_is_named_with_its_line(
    cli: Cli, tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    path = write(tmp_path / "train.jsonl", [{**ROW, "group": "a"}, {**ROW, **changes}])
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out")
    refused(cli("finetune", "--task", "choice", *files), problem)


def test_nothing_left_to_learn_from_is_said(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [ROW])
    files = ("--train", path, "--dev", path, "--exclude", path, "--out", tmp_path / "out")
    refused(cli("finetune", "--task", "choice", *files), "expected texts to learn from")


def test_of_a_long_context_the_sentences_about_the_question_are_read(
    micro: Path, tmp_path: Path
) -> None:
    examples = read_choice_examples(questions(tmp_path / "q.jsonl"))
    settings = build(FinetuneConfig, {**LEARN_ONCE, "model": {"context_tokens": 20}})
    model, _ = finetune(examples, [], settings, init=micro, out=tmp_path / "model")
    assert model.context_tokens == 20
    about = "小明的早餐很好吃。"
    asked = Question(about, "小明的早餐？", ("满意", "差"))
    among = asked._replace(context=f"今天很热，大家都不说话。{about}后来下雨了，路上没有人。")
    alone, found = (probabilities(model, [one])[0] for one in (asked, among))
    assert alone.tolist() == found.tolist()
    # One without a question asks in the context itself: all of it is read.
    gap, all_of_it = among._replace(question=""), model.encode([among._replace(question="")])
    model.context_tokens = 0
    assert model.encode([gap]) == all_of_it
    assert model.encode([among]) != model.encode([asked])
    opened = TextChooser.load(tmp_path / "model")
    assert probabilities(opened, [among])[0].tolist() == alone.tolist()
    with pytest.raises(ConfigError, match="context_tokens must be at least 0, got -1"):
        build(FinetuneConfig, {"model": {"context_tokens": -1}})
    with pytest.raises(DataError, match="expected questions to learn from, found none"):
        finetune([], [], settings, init=micro)


def test_a_label_may_be_the_choice_itself(tmp_path: Path) -> None:
    rows = [{**ROW, "label": "乙"}, {**ROW, "label": "1"}]
    rows.append({**ROW, "choices": ["1", "0"], "label": "1"})  # a choice before it is a number
    path = write(tmp_path / "a.jsonl", rows)
    assert [example.label for example in read_choice_examples(path)] == [1, 1, 0]


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("一个字符串", r"questions\[0\]: expected \(context, question, choices\)"),
        (("好", "什", "甲乙"), r"questions\[0\]: expected \(context, question, choices\)"),
        (("好", "什", ["甲", 3]), r"questions\[0\]: expected \(context, question, choices\)"),
        ({"context": "好", "question": "什", "choices": ["甲", "乙"]}, r"expected \(context"),
        (("好", "什", ["甲", "乙"], 3), r"questions\[0\]: expected \(context"),
        (("好", "什", ["甲"]), r"questions\[0\]: expected two choices or more, found \['甲'\]"),
        ((" ", "什", ["甲", "乙"]), r"questions\[0\] has an empty context or choice"),
    ],
)
def test_a_bad_question_is_refused_by_index(chooser: Path, question: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        load(str(chooser))([question])


def test_a_teacher_outweighs_wrong_labels(chooser: Path, micro: Path, tmp_path: Path) -> None:
    examples = read_choice_examples(questions(tmp_path / "train.jsonl"))
    wrong = [replace(e, label=(e.label + 1) % len(e.asked.choices)) for e in examples]
    values = parse_overrides([item.removeprefix("--set=") for item in LEARN])
    values["teacher"] = {"model": str(chooser), "weight": 1.0}
    config = build(FinetuneConfig, values)
    taught, _ = finetune(wrong, examples, config, init=micro, out=tmp_path / "out")
    assert evaluate(taught, examples)["accuracy"] == 1.0
    [kept] = (tmp_path / "out" / "training").glob("teacher-*.npy")
    assert np.load(kept).shape == (sum(len(e.asked.choices) for e in examples), 1)


def test_a_teacher_of_another_task_is_refused(trained: Path, micro: Path, tmp_path: Path) -> None:
    examples = read_choice_examples(questions(tmp_path / "train.jsonl"))
    config = build(FinetuneConfig, {"teacher": {"model": str(trained)}})
    with pytest.raises(CheckpointError, match="for the task choice, found a model for class"):
        finetune(examples, [], config, init=micro)
