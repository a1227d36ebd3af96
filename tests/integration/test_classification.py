"""Texts in, labels out: what a programmer and the command line get from a trained folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.commands import QUICK, Cli
from tests.helpers.task_files import reviews, write
from zh_albert import AlbertClassifier, load
from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.configio import build, parse_overrides
from zh_albert.errors import ConfigError, DataError
from zh_albert.runtimes.runtime import TorchRuntime
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import FinetuneConfig, evaluate, finetune
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig


def test_it_learns_and_answers_in_order(trained: Path) -> None:
    classify = load(str(trained))
    results = classify(["房间很好。", "服务太差。", "早餐喜欢。"])
    assert [result.label for result in results] == ["positive", "negative", "positive"]
    for result in results:
        assert result.score == max(result.scores.values())
        assert sum(result.scores.values()) == pytest.approx(1, abs=1e-5)
        assert next(iter(result.scores)) == result.label
    assert classify("房间很好。") == classify(["房间很好。"])
    assert classify([]) == []


def test_a_text_alone_and_among_others_gets_the_same_answer(trained: Path) -> None:
    classifier = TextClassifier.load(trained)
    texts = ["好", "房间很好。" * 3, "服务太差" * 20, "味道不错，" * 90, "中"]
    together = classifier.scores(texts)
    alone = np.concatenate([classifier.scores([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=2e-5)


def test_a_text_that_fits_one_window_is_read_as_without_windows(trained: Path) -> None:
    classifier = TextClassifier.load(trained)
    text = "房间很好服务太差早餐喜欢"
    expected = classifier.scores([text])
    assert len(classifier.encode([text])[0].windows) == 1
    module, encoded = classifier.module, classifier.encode([text])[0].windows[0]
    ids = torch.tensor([encoded.token_ids])
    with torch.inference_mode():
        logits = module(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
    np.testing.assert_allclose(logits.softmax(-1).numpy(), expected, atol=1e-5)


def test_no_part_of_a_long_text_is_cut_away(trained: Path) -> None:
    classifier = TextClassifier.load(trained)
    filler = "这是一段没有什么意思的话" * 40
    head, tail = ("太差失望糟糕难吃退货" + filler, filler + "太差失望糟糕难吃退货")
    plain, *others = classifier.logits_of(classifier.encode([filler, head, tail]))
    for logits in others:
        assert (logits - plain).abs().max() > 1e-3


def test_a_hundred_thousand_characters_are_read(trained: Path) -> None:
    [result] = load(str(trained))(["服务很好，" * 20_000])
    assert result.label == "positive"


def test_memory_depends_on_the_batch_not_on_the_longest_text(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TorchRuntime, "batch_tokens", 128)
    classifier, sizes = TextClassifier.load(trained), []
    classifier.module.register_forward_pre_hook(lambda _, inputs: sizes.append(inputs[0].numel()))
    classifier.scores(["服务很好，" * 500, "好"])
    assert len(sizes) > 20
    assert max(sizes) <= 128


@pytest.mark.parametrize("text", ["", "   \n\t", "\u3000", "\x00\x01"])
def test_a_text_without_content_is_refused_by_index(trained: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"texts\[1\] is empty"):
        load(str(trained))(["好", text])


def test_odd_characters_are_no_problem(trained: Path) -> None:
    results = load(str(trained))(["好\ud800吃", "很\x00好", "🀄️𠮷野家", "İ ß é", "“很好”——……"])
    assert len(results) == 5


def test_something_that_is_no_string_is_refused(trained: Path) -> None:
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found int"):
        load(str(trained))([3])  # type: ignore[list-item]


def test_predict_keeps_lines_in_order_and_survives_empty_ones(
    trained: Path, cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("房间很好。\n\n服务太差。\n", encoding="utf-8")
    ran = cli("predict", trained, path)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [row["label"] for row in rows] == ["positive", None, "negative"]
    assert "texts.txt, line 2" in rows[1]["error"]
    assert "lines not answered: 1;" in ran.err


def test_predict_reads_task_files_and_standard_input(
    trained: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    path = reviews(tmp_path / "texts.jsonl", count=16)
    rows = [json.loads(line) for line in cli("predict", trained, path).out.splitlines()]
    assert [row["label"] for row in rows] == ["positive"] * 8 + ["negative"] * 8

    class Stdin:
        buffer = io.BytesIO("早餐喜欢。\r\n价格失望。".encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    rows = [json.loads(line) for line in cli("predict", trained).out.splitlines()]
    assert [row["label"] for row in rows] == ["positive", "negative"]


def test_evaluate_prints_the_scores_of_predict(trained: Path, cli: Cli, tmp_path: Path) -> None:
    path = reviews(tmp_path / "dev.jsonl", count=32)
    result = json.loads(cli("evaluate", trained, path, "--json").out)
    assert result["examples"] == 32
    assert result["accuracy"] == result["macro_f1"] == 1.0
    assert result["seconds"] > 0


def test_baseline_scores_the_same_files(cli: Cli, tmp_path: Path) -> None:
    path = reviews(tmp_path / "a.jsonl")
    result = json.loads(cli("baseline", "--train", path, "--dev", path, "--json").out)
    assert result["accuracy"] == 1.0
    assert result["examples"] == result["train_examples"] == 64


def test_a_neutral_answer_of_the_baseline_counts_as_its_next_best(cli: Cli, tmp_path: Path) -> None:
    said = {
        "positive": "很好 真好",
        "negative": "很差 真差",
        "neutral": "一般好 一般般 一般 好一般",
    }
    rows = [{"text": text, "label": label} for label in said for text in said[label].split()]
    train = write(tmp_path / "train.jsonl", rows)
    rows = [{"text": "一般好好", "label": "positive"}, {"text": "真差", "label": "negative"}]
    dev = write(tmp_path / "dev.jsonl", rows)
    found = json.loads(cli("baseline", "--train", train, "--dev", dev, "--json").out)
    assert (found["accuracy"], found["answered_neutral"]) == (1.0, 0.5)


def test_finetune_writes_a_folder_and_drops_excluded_texts(
    micro: Path, cli: Cli, tmp_path: Path
) -> None:
    train, dev = reviews(tmp_path / "t.jsonl"), reviews(tmp_path / "d.jsonl", count=8)
    out = tmp_path / "out"
    files = ("--train", train, "--dev", dev, "--out", out, "--init", micro)
    ran = cli("finetune", *files, "--exclude", dev, *QUICK, "--json")
    result = json.loads(ran.out)
    # "reviews" repeats every 128 rows, so exactly the eight texts of dev leave training.
    assert result["train_examples"] == 56
    assert "8 training texts dropped" in ran.err
    assert {path.name for path in out.iterdir()} == {
        "README.md",
        "config.json",
        "manifest.json",
        "model.safetensors",
        "ngrams.npz",
        "tokenizer_config.json",
        "training",
        "vocab.txt",
    }
    assert f"| accuracy | {result['accuracy']:.4f} |" in (out / "README.md").read_text()
    again = cli("finetune", *files, *QUICK)
    assert again.code == 2
    assert "already holds a model: add --resume" in again.err


@pytest.mark.slow
def test_a_run_in_bf16_scores_about_what_evaluate_does(micro: Path, tmp_path: Path) -> None:
    examples = read_text_examples(reviews(tmp_path / "train.jsonl"))
    options = [item.removeprefix("--set=") for item in (*QUICK, "--set=train.precision=bf16")]
    config = build(FinetuneConfig, parse_overrides(options))
    model, position = finetune(examples, examples, config, init=micro)
    exact = evaluate(model, examples)  # not in bf16 any more
    assert model.runtime.open().name == "torch fp32"
    assert exact["accuracy"] > 0.9
    assert position.best_metrics["accuracy"] == pytest.approx(exact["accuracy"], abs=0.05)


def test_without_epochs_only_the_head_is_fitted(micro: Path, cli: Cli, tmp_path: Path) -> None:
    train, dev = reviews(tmp_path / "t.jsonl"), reviews(tmp_path / "d.jsonl", count=8)
    out, quick = tmp_path / "out", [item for item in QUICK if "epochs" not in item]
    arguments = ("--train", train, "--dev", dev, "--out", out, "--init", micro)
    ran = cli("finetune", *arguments, *quick, "--set=train.epochs=0", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["accuracy"] > 0.6
    trained = TextClassifier.load(out).module.half().state_dict()
    started = TextClassifier.load(out).module
    load_encoder(started, micro)
    for name, tensor in started.half().state_dict().items():
        assert "pooler" in name or torch.equal(tensor, trained[name]), name
    again = cli("finetune", *arguments, *quick, "--set=train.epochs=0", "--resume", "--json")
    assert json.loads(again.out)["accuracy"] == json.loads(ran.out)["accuracy"]


def test_a_run_draws_classes_together_and_says_so_in_its_card(
    micro: Path, cli: Cli, tmp_path: Path
) -> None:
    train, out = reviews(tmp_path / "t.jsonl"), tmp_path / "out"
    files = ("--train", train, "--dev", reviews(tmp_path / "d.jsonl", count=8), "--out", out)
    arguments = (*files, "--init", micro, "--set=train.epochs=0")
    ran = cli("finetune", *arguments, "--set=contrast.updates=3", "--set=contrast.texts=6")
    assert ran.code == 0, ran.err
    assert "[contrast]\nupdates = 3\n" in (out / "README.md").read_text(encoding="utf-8")
    ran = cli("finetune", *arguments, "--set=contrast.updates=0")
    assert (ran.code, "contrast.updates must be at least 1, got 0" in ran.err) == (2, True), ran.err


def test_a_head_alone_needs_an_encoder_and_a_task_that_can(cli: Cli, tmp_path: Path) -> None:
    train = reviews(tmp_path / "t.jsonl")
    files = ("--train", train, "--dev", train, "--out", tmp_path / "out", "--set=train.epochs=0")
    ran = cli("finetune", *files, "--init", "random")
    assert (ran.code, "give one, as --init or tune.init" in ran.err) == (2, True), ran.err
    ran = cli("finetune", *files, "--task", "embedding")
    assert (ran.code, "this task cannot; give 1" in ran.err) == (2, True), ran.err


def test_killed_and_resumed_equals_never_stopped(micro: Path, tmp_path: Path) -> None:
    train = reviews(tmp_path / "t.jsonl", count=128)

    def command(out: Path) -> list[str]:
        arguments = ["--train", str(train), "--dev", str(train), "--out", str(out), *QUICK]
        extra = [
            "--init",
            str(micro),
            "--set=train.epochs=25",
            "--set=train.save_every_s=0",
            "--resume",
        ]
        return [sys.executable, "-m", "zh_albert.cli", "finetune", *arguments, *extra]

    subprocess.run(command(tmp_path / "straight"), check=True, capture_output=True)
    killed = tmp_path / "killed"
    process = subprocess.Popen(command(killed), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    metrics = killed / "training" / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # kill in the middle: after an evaluation, before the end
        if metrics.exists() and metrics.read_text().count('"evaluation"') >= 2:
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
    subprocess.run(command(killed), check=True, capture_output=True)

    for name in ("model.safetensors", "training/state.safetensors"):
        first, second = load_file(tmp_path / "straight" / name), load_file(killed / name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_training_that_learns_nothing_is_warned_of(micro: Path, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    contradictions = reviews(path).read_text("utf-8")
    for there, back in (("positive", "?"), ("negative", "positive"), ("?", "negative")):
        contradictions = contradictions.replace(there, back)
    path.write_text(path.read_text("utf-8") + contradictions, "utf-8")
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out", "--init", micro)
    ran = cli("finetune", *files, *QUICK, "--set=train.peak_lr=1e-12", "--set=train.epochs=20")
    assert "guessing gives 0.693: the model is not learning" in " ".join(ran.err.split())


def test_resuming_a_finished_run_with_other_data_is_refused(micro: Path, tmp_path: Path) -> None:
    examples = read_text_examples(reviews(tmp_path / "t.jsonl", count=16))
    window = WindowConfig(max_length=16, stride=4)
    config = FinetuneConfig(window=window, train=TrainConfig(epochs=1, batch_tokens=64))
    out = tmp_path / "out"
    finetune(examples, examples, config, init=micro, out=out)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(micro, elsewhere / micro.name)
    moved = read_text_examples(reviews(elsewhere / "t.jsonl", count=16))
    finetune(moved, moved, config, init=elsewhere / micro.name, out=out, resume=True)
    with pytest.raises(ConfigError, match=r"# examples 15 .* another folder"):
        finetune(examples[1:], examples, config, init=micro, out=out, resume=True)
    changed = replace(config, train=replace(config.train, seed=2))
    with pytest.raises(ConfigError, match="seed = 2"):
        finetune(examples, examples, changed, init=micro, out=out, resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_training_does_not_replace_files_of_another_origin(
    micro: Path, tmp_path: Path, resume: bool
) -> None:
    examples = read_text_examples(reviews(tmp_path / "t.jsonl", count=16))
    out = tmp_path / "project"
    out.mkdir()
    (out / "README.md").write_text("mine")
    with pytest.raises(ConfigError, match=r"README\.md\): choose another folder"):
        finetune(examples, [], FinetuneConfig(), init=micro, out=out, resume=resume)
    assert (out / "README.md").read_text() == "mine"
    with pytest.raises(ConfigError, match="found a file"):
        finetune(examples, [], FinetuneConfig(), init=micro, out=out / "README.md")


def test_predict_says_that_standard_input_is_closed_and_keeps_blank_lines(
    micro: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from zh_albert.cli.predict import predict

    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"):
        predict("never loaded")
    small = AlbertClassifier(str(micro), epochs=1, max_length=16, stride=4)
    small.fit(["好", "坏"], ["a", "b"]).save(tmp_path / "model")
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "好"}\n\n{"text": "坏"}\n')
    predict(str(tmp_path / "model"), path)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["error" in row for row in rows] == [False, True, False]
