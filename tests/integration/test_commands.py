"""``models``, ``inspect``, ``convert``, help, start-up time, several processes."""

from __future__ import annotations

import csv
import importlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import typer
from safetensors.torch import load_file
from typer.testing import CliRunner

from tests.helpers.commands import QUICK, QUICK_TAGGER, Cli
from tests.helpers.micro import save_micro_encoder
from tests.helpers.task_files import reviews, travels
from zh_albert.cli.app import app, run


def test_inspect_prints_the_published_counts(cli: Cli) -> None:
    result = json.loads(cli("inspect", "tiny", "--json").out)
    assert result["encoder_parameters"] == 4_080_520
    assert result["parameters"] == 4_142_594
    shared_attention = json.loads(cli("inspect", "base", "--sharing", "attention", "--json").out)
    assert shared_attention["encoder_parameters"] == 62_511_616
    english = json.loads(cli("inspect", "base", "--vocab-size", "30000", "--json").out)
    assert english["encoder_parameters"] == 11_683_584


def test_inspect_takes_a_folder(cli: Cli, trained: Path) -> None:
    result = json.loads(cli("inspect", trained, "--json").out)
    assert result["task"]["labels"] == ["negative", "positive"]
    assert result["config"]["hidden_size"] == 32


def test_models_lists_what_can_be_loaded(cli: Cli) -> None:
    from zh_albert import load

    rows = json.loads(cli("models", "--json").out)["models"]
    tasks = {row["name"]: row["task"] for row in rows}
    bundled = {"embedder", "encoder", "ner", "ner-msra", "news", "nli", "reader", "sentiment"}
    nanos = {"ner-nano", "news-nano", "sentiment-nano"}
    assert bundled | nanos | {"similarity"} <= tasks.keys()
    scores = {"encoder": "masked_accuracy", "similarity": "spearman", "embedder": "spearman"}
    scores |= dict.fromkeys(("ner", "ner-msra", "ner-nano", "reader"), "f1")
    use = {row["name"]: row["commercial_use"] for row in rows}
    assert (use["nli"], use["similarity"], use["news"]) == ("no", "no", "not stated")
    assert use["embedder"] == "not stated"
    for row in rows:
        assert row["parameters"] > 1_000_000
        assert 0 < row["size_bytes"] < 20e6
        assert (
            0
            < row["dev"][scores.get(row["name"], "accuracy")]
            < (100 if row["task"] == "reading" else 1)
        )
        assert row["trained_on"]
        if row["task"] == "classification":
            assert load(row["name"]).labels == row["labels"]


def test_convert_writes_a_folder_that_predicts_the_same(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    target = tmp_path / "converted"
    assert cli("convert", trained, target, "--to", "huggingface").code == 0
    texts = tmp_path / "texts.txt"
    texts.write_text("房间很好。\n服务太差。\n", encoding="utf-8")
    assert cli("predict", target, texts).out == cli("predict", trained, texts).out


def test_convert_writes_weights_in_8_bits(cli: Cli, trained: Path, tmp_path: Path) -> None:
    small, weights = tmp_path / "small", "model.safetensors"
    assert cli("convert", trained, small, "--weights", "int8").code == 0
    assert (small / weights).stat().st_size < 0.75 * (trained / weights).stat().st_size
    texts = tmp_path / "texts.txt"
    texts.write_text("房间很好。\n服务太差。\n", encoding="utf-8")
    before, after = (cli("predict", folder, texts).out for folder in (trained, small))
    for old, new in zip(before.splitlines(), after.splitlines(), strict=True):
        assert json.loads(new)["score"] == pytest.approx(json.loads(old)["score"], abs=0.02)

    refused = cli("convert", trained, tmp_path / "x", "--to", "google", "--weights", "int8")
    assert refused.code == 2
    assert "has float32 weights" in refused.err


def test_convert_goes_through_tensorflow_and_changes_the_vocabulary(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    encoder = save_micro_encoder(tmp_path / "encoder")
    rows = (encoder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    shorter = [row for row in rows if not row.startswith("##")] + ["︽"]
    (tmp_path / "shorter.txt").write_text("\n".join(shorter) + "\n", encoding="utf-8")
    written = cli("convert", encoder, tmp_path / "google", "--to", "google")
    ran = cli(
        "convert", tmp_path / "google/model.ckpt", tmp_path / "out",
        "--vocab", tmp_path / "shorter.txt",
    )  # fmt: skip
    refused = cli("convert", trained, tmp_path / "classifier", "--to", "google")

    assert (written.code, ran.code, refused.code) == (0, 0, 2)
    assert f"{len(shorter) - 1:,} rows kept, 1 from a similar token (︽)" in ran.err
    assert ran.out.strip() == str(tmp_path / "out")
    table = load_file(tmp_path / "out/model.safetensors")[
        "albert.embeddings.word_embeddings.weight"
    ]
    assert table.shape == (len(shorter), 16)
    assert refused.err.startswith("error: ")
    assert cli("convert", encoder, tmp_path / "x", "--merge-pieces").code == 2


@pytest.mark.parametrize("command", sorted(str(one.name) for one in app.registered_commands))
def test_every_command_explains_itself_with_an_example(cli: Cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0
    assert f"Example: zh-albert {command}" in ran.out


@pytest.mark.parametrize("program", ["zh_albert.cli.app", "corpora_tools.cli.app"])
def test_the_list_of_commands_says_what_each_does_without_cutting_it(program: str) -> None:
    listed = CliRunner().invoke(importlib.import_module(program).app, ["--help"])
    assert listed.exit_code == 0
    _, heading, rows = listed.output.partition("Commands:")
    assert heading
    assert "..." not in rows


@pytest.mark.parametrize("code", ["import zh_albert", "import zh_albert.cli.app"])
def test_starting_up_does_not_load_the_heavy_libraries(code: str) -> None:
    heavy = (
        "torch",
        "sklearn",
        "gradio",
        "transformers",
        "tokenizers",
        "accelerate",
        "numpy",
        "matplotlib",
    )
    check = f"import sys; {code}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_curves_of_labelled_runs_are_drawn_and_told(cli: Cli, tmp_path: Path) -> None:
    for name, accuracy in (("one", 0.2), ("two", 0.4)):
        (tmp_path / name / "training").mkdir(parents=True)
        row = {"event": "evaluation", "update": 9, "tokens": 90, "metrics": {"accuracy": accuracy}}
        file = tmp_path / name / "training" / "metrics.jsonl"
        file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    folders = [f"mine={tmp_path / name}" for name in ("one", "two")]

    ran = cli("curves", *folders, "--out", tmp_path / "curves.svg", "--json")

    assert ran.code == 0, ran.err
    last = json.loads(ran.out)["last"]
    assert last == {"mine": {"runs": 2, "tokens": 90.0, "accuracy": pytest.approx(0.3)}}
    assert "mine" in (tmp_path / "curves.svg").read_text("utf-8")
    ran = cli("curves", tmp_path / "none", "--out", tmp_path / "curves.svg")
    assert ran.code == 2
    assert ran.err.startswith(f"error: {tmp_path / 'none'}: expected the folder of a")
    assert ran.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "ner"])
def test_two_processes_train_like_one_that_accumulates(
    task: str, micro: Path, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    train = reviews(path, count=128) if task == "classification" else travels(path)
    settings = QUICK if task == "classification" else QUICK_TAGGER
    quick = ["--task", task, *settings, "--set=train.epochs=3", "--init", str(micro)]

    def arguments(out: Path) -> list[str]:
        files = ["--train", str(train), "--dev", str(train), "--out", str(out), "--json"]
        return ["-m", "zh_albert.cli", "finetune", *files, *quick]

    one = [*arguments(tmp_path / "one"), "--set=train.accumulation=2"]
    subprocess.run([sys.executable, *one], check=True, capture_output=True)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*torchrun, *arguments(tmp_path / "two")],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert len(done.stdout.splitlines()) == 1, "only the first process prints the result"
    first = load_file(tmp_path / "one" / "training" / "state.safetensors")
    second = load_file(tmp_path / "two" / "training" / "state.safetensors")
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-3, atol=1e-4)


def test_a_table_is_read_like_json_lines(cli: Cli, trained: Path, tmp_path: Path) -> None:
    rows = [("房间很干净，服务也好", "positive"), ("太差了,再也不来", "negative")]
    lines, table = tmp_path / "reviews.jsonl", tmp_path / "reviews.csv"
    with lines.open("w", encoding="utf-8") as file:
        for text, label in rows:
            file.write(json.dumps({"text": text, "label": label}) + "\n")
    with table.open("w", encoding="utf-8-sig", newline="") as file:  # as Excel writes it
        csv.writer(file).writerows([("text", "label"), *rows])
    answers = [cli("predict", trained, path) for path in (lines, table)]
    assert answers[0].code == 0
    assert answers[0].out == answers[1].out
    scores = [json.loads(cli("evaluate", trained, p, "--json").out) for p in (lines, table)]
    assert scores[0]["accuracy"] == scores[1]["accuracy"]
    assert scores[0]["examples"] == scores[1]["examples"] == 2


def test_answers_are_utf8_whatever_the_terminal_is(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\n房间很好😀\n", encoding="utf-8")
    code = "from zh_albert.cli.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "predict", "ner", str(path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "entities" in json.loads(ran.stdout.decode("utf-8"))


def test_ctrl_c_is_answered_in_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = typer.Typer()

    @tree.command()
    def wait() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["wait"])
    with pytest.raises(SystemExit) as ended:
        run(tree)
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "interrupted"


def test_all_processes_stop_early_together(micro: Path, tmp_path: Path) -> None:
    train, out = reviews(tmp_path / "t.jsonl"), tmp_path / "out"
    files = ["--train", str(train), "--dev", str(train), "--out", str(out), "--init", str(micro)]
    # Nothing is learned at this rate, so no evaluation after the first is better.
    stopping = ["--set=train.peak_lr=1e-9", "--set=train.patience=2", "--json"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"),
            *("-m", "zh_albert.cli", "finetune", *files, *QUICK, *stopping),
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=120,
    )
    result = json.loads(done.stdout)
    assert result["stopped_early"] is True
    assert result["updates"] == 3 * result["best_update"]
    said = " ".join(done.stderr.split())
    assert f"stopped after {result['updates']} of {8 * result['best_update']} updates" in said
    assert "no better accuracy in 2 evaluations (train.patience)" in said


@pytest.mark.skipif(os.name == "nt", reason="needs a shell of Unix")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_reason_to_fail(tmp_path: Path, closed: str) -> None:
    (tmp_path / "a.csv").write_text("text,label\n很好,1\n", "utf-8")
    out = tmp_path / "out.jsonl"
    arguments = ["-m", "zh_albert.cli", "convert-data", str(tmp_path / "a.csv"), str(out)]
    command = f"{shlex.join([sys.executable, *arguments])} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 0
    assert json.loads(out.read_text("utf-8")) == {"text": "很好", "label": "1"}
