"""Every error a user can cause: one line, exit code 2, and what to do."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpora_tools.build import build_shards
from corpora_tools.build_parts import BuildConfig
from tests.helpers.commands import QUICK, Cli, refused
from tests.helpers.task_files import reviews
from zh_albert.checkpoints import resolve
from zh_albert.errors import CheckpointError
from zh_albert.tasks.texts import has_content


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"text": "a", "label": "x"}\n{oops\n', "line 2: not JSON"),
        (b'{"text": "a"}\n', "line 1: field \"label\" is missing, found 'text'"),
        (b'{"text": 3, "label": "x"}\n', 'line 1: "text" must be a string, found 3'),
        (b'{"text": " ", "label": "x"}\n', 'line 1: "text" is empty'),
        (
            "\n".join(['{"text": "好", "label": "x"}'] * 2).encode("gb18030") + b"\xff\xff",
            "line 1: byte 11",
        ),
        (b"", "no examples: the file is empty"),
        (b'{"text": "a", "label": "x"}\n', "at least two different labels, found one class: 'x'"),
    ],
)
def test_a_bad_training_file_is_named_with_its_line(
    cli: Cli, tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(content)
    ran = cli("finetune", "--train", path, "--dev", path, "--out", tmp_path / "out")
    refused(ran, problem)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["\U0001fa77", "\U0001fae8好", "\ue000"])
def test_characters_newer_than_this_python_are_text(text: str) -> None:
    assert has_content(text)
    assert not has_content(" \u200b\u0301\x07")


def test_a_missing_file_is_named(cli: Cli, trained: Path, tmp_path: Path) -> None:
    refused(cli("predict", trained, tmp_path / "none.txt"), "none.txt: no such file")
    refused(cli("evaluate", trained, tmp_path / "none.jsonl"), "none.jsonl: no such file")


def test_bytes_that_are_not_utf8_are_located(cli: Cli, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "gbk.txt"
    path.write_bytes("好\n".encode() + "很好\n".encode("gb18030"))
    refused(cli("predict", trained, path), "gbk.txt, line 2", "not UTF-8", "in one encoding")


def test_a_table_that_cannot_be_read_says_where(cli: Cli, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"

    def says(content: str, *words: str) -> None:
        path.write_text(content, encoding="utf-8")
        refused(cli("predict", trained, path), "reviews.csv, line ", *words)

    says("id,number\n1,2\n", "line 2", '"text"')
    says("text,text\n1,很好\n", "line 1", "no two alike")
    says('id,text\n1,"很好\n', "quote is not closed")


def test_the_baseline_says_that_numbers_are_values(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"text": "很好", "label": 1}\n{"text": "太差", "label": 0}\n' * 4)
    ran = cli("baseline", "--train", path, "--dev", path, "--json")
    assert "pearson" in json.loads(ran.out)
    assert 'for classes write them as "0"' in ran.err


def test_the_baseline_says_that_numbers_of_a_table_are_classes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,label\n" + "很好,1.5\n太差,0.5\n" * 4, encoding="utf-8")
    ran = cli("baseline", "--train", path, "--dev", path, "--json")
    assert "accuracy" in json.loads(ran.out)
    assert "values want JSON Lines" in ran.err


@pytest.mark.parametrize(
    ("task", "row"),
    [
        ("segmentation", {"text": "很好", "words": ["很", "好"]}),
        ("choice", {"context": "很好", "question": "好吗", "choices": ["好", "不"], "label": 0}),
        ("classification", {"text": "很好", "label": "a"}),
    ],
)
def test_excluding_every_training_text_is_told(
    cli: Cli, tmp_path: Path, task: str, row: dict[str, Any]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    files = ("--task", task, "--train", path, "--dev", path, "--exclude", path)
    refused(cli("baseline", *files), "expected texts to learn from, found none")
    ran = cli("finetune", *files, "--out", tmp_path / "out", "--init", "random")
    refused(ran, "expected texts to learn from, found none")


def test_a_prediction_file_without_texts_is_located(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"sentence": "好"}\n{"text": "好"}\n')
    refused(cli("predict", trained, path), "line 1: field \"text\" is missing, found 'sentence'")
    path.write_text('{"code": 0, "data": [{"text": "好"}]}\n')
    refused(cli("predict", trained, path), "found 'code', 'data'", "save what is in 'data' alone")
    path.write_text('{"甲": "好", "entities": [{"start": 0, "end": 1, "type": "a"}]}\n')
    ran = cli("predict", trained, path)
    refused(ran, "found '甲', 'entities'")
    assert "alone" not in ran.err


def test_a_label_unseen_in_training_is_named(cli: Cli, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "还行", "label": "neutral"}\n')
    refused(cli("evaluate", trained, path), "['neutral']", "knows negative, positive")
    files = ("--train", reviews(tmp_path / "t.jsonl"), "--dev", path)
    ran = cli("finetune", *files, "--out", tmp_path / "out", *QUICK)
    refused(ran, f"{path}, line 1: labels ['neutral']")


def test_a_label_of_another_kind_than_the_models_is_located(
    cli: Cli, trained: Path, tmp_path: Path
) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "好", "label": ["positive"]}\n\n{"text": "差", "label": []}\n')
    refused(cli("evaluate", trained, path), f"{path}, line 1: expected one class each")


def test_whole_numbers_name_the_same_class_however_they_are_written(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    train, dev = tmp_path / "t.jsonl", tmp_path / "d.jsonl"
    train.write_text('{"text": "好", "label": 1}\n{"text": "差", "label": 0}\n')
    dev.write_text('{"text": "不错", "label": 1.0}\n{"text": "不好", "label": 0.0}\n')
    files = ("--train", train, "--dev", dev, "--out", tmp_path / "out", "--init", micro)
    assert cli("finetune", *files, *QUICK, "--set=model.head=classes").code == 0


def test_an_unknown_setting_names_the_nearest(cli: Cli, tmp_path: Path) -> None:
    path = reviews(tmp_path / "t.jsonl")
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out")
    ran = cli("finetune", *files, "--set", "train.epoch=3")
    refused(ran, "unknown key 'train.epoch'; did you mean 'train.epochs'?")


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("sentimant", "no such model folder, nor a bundled model"),
        ("no/such/folder", "no such model folder"),
        ("", "no such model folder"),
    ],
)
def test_an_unknown_model_is_said(cli: Cli, tmp_path: Path, model: str, problem: str) -> None:
    refused(cli("predict", model, reviews(tmp_path / "a.jsonl")), problem)


def test_a_hub_id_without_a_network_is_said(cli: Cli, tmp_path: Path) -> None:
    refused(cli("predict", "owner/name", reviews(tmp_path / "a.jsonl")), "hub", "network")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "bert"}'), "bert"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
        (lambda folder: truncate(folder / "model.safetensors"), "not a complete safetensors file"),
        (lambda folder: truncate(folder / "vocab.txt"), "vocab"),
    ],
)
def test_a_damaged_model_folder_is_said(
    cli: Cli, trained: Path, tmp_path: Path, damage: Callable[[Path], None], problem: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(trained, folder)
    damage(folder)
    refused(cli("predict", folder, reviews(tmp_path / "a.jsonl")), "by manifest.json there")
    (folder / "manifest.json").unlink()
    refused(cli("predict", folder, reviews(tmp_path / "a.jsonl")), problem)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_a_full_disk_keeps_the_old_model(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    from zh_albert.checkpoints import folder as writing
    from zh_albert.errors import CheckpointError
    from zh_albert.tasks.classification.classifier import TextClassifier

    folder = tmp_path / "model"
    shutil.copytree(trained, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    classifier = TextClassifier.load(folder)
    with_other_weights = classifier.module.classifier.weight.data
    with_other_weights += 1

    written = []

    def full(path: Path, content: bytes) -> None:
        written.append(path.name)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path.write_bytes(content)

    monkeypatch.setattr(writing, "write_file", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        classifier.save(folder, card="new")
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert after == before
    assert json.loads(after["config.json"])


def test_no_arguments_and_unknown_commands_show_help(cli: Cli) -> None:
    assert "finetune" in cli().out + cli().err
    assert cli("frobnicate").code == 2


# FILE is a pipe, or a link to a device without an end.
SPECIAL_FILES = [
    ("evaluate", "TRAINED", "FILE.jsonl"),
    ("baseline", "--train", "FILE.jsonl", "--dev", "FILE.jsonl"),
    ("finetune", "--train", "FILE.jsonl", "--dev", "FILE.jsonl", "--out", "OUT"),
    ("pretrain", "FILE.toml"),
    ("clue", "check", "FILE.json", "--task", "afqmc", "--data", "FILE.json"),
    ("convert", "FILE.bin", "OUT"),
]


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("command", SPECIAL_FILES, ids=lambda command: command[0])
def test_a_pipe_or_a_device_in_place_of_a_file_is_told_at_once(
    cli: Cli, trained: Path, tmp_path: Path, command: tuple[str, ...], kind: str
) -> None:
    names = {"TRAINED": trained, "OUT": tmp_path / "out"}
    for part in command:
        if part.startswith("FILE"):
            names[part] = path = tmp_path / part
            path.unlink(missing_ok=True)
            os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    refused(cli(*(names.get(part, part) for part in command)), f"found a {kind}")


def test_texts_may_come_from_a_device_but_not_as_a_line_without_end(
    cli: Cli, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZH_ALBERT_MAX_MB", "1")
    assert cli("predict", trained, "/dev/null").code == 0
    refused(cli("predict", trained, "/dev/zero"), "line 1: expected a line of at most 1,048,576")


@pytest.mark.parametrize("name", ["vocab.txt", "config.json", "model.safetensors"])
def test_whatever_reads_a_model_folder_looks_at_its_manifest(
    cli: Cli, trained: Path, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(trained, folder)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    problem = f"{name}: has another content, by manifest.json there"
    refused(cli("inspect", folder), problem)
    reviews(tmp_path / "texts.jsonl")
    with pytest.raises(CheckpointError, match=problem):
        build_shards([tmp_path / "texts.jsonl"], tmp_path / "shards", BuildConfig(tokenizer=folder))


def test_the_list_of_models_looks_at_their_manifests(
    cli: Cli, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(trained, tmp_path / "mine")
    monkeypatch.setattr(resolve, "BUNDLED", tmp_path)
    assert "mine: classification" in cli("models").out
    weights = tmp_path / "mine/model.safetensors"
    weights.write_bytes(weights.read_bytes() + b"1")
    refused(cli("models"), "model.safetensors: has", "by manifest.json there")
