"""Students of LSTMs: what they begin with, in every task, and what they learn of a teacher."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.micro import CONFIG, save_micro_models
from tests.helpers.task_files import pair_rows, reviews, travels, write
from zh_albert import load
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.job import compress
from zh_albert.compression.lstm_student import lstm_network, lstm_sizes
from zh_albert.configio import build
from zh_albert.errors import ConfigError
from zh_albert.inference.export import export
from zh_albert.tasks.catalog import TASKS, task_of
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import OneClass
from zh_albert.tasks.run import finetune
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.events import Event, Progress

ALONE = """title = "An LSTM without a teacher"
family = "mine"
source = "nobody"
[[stages]]
name = "student"
[stages.cut]
lstm = 1
[[stages]]
name = "learn"
[stages.tune.train]
epochs = 8
peak_lr = 5e-3
batch_tokens = 256
precision = "fp32"
"""
TAUGHT = (
    ALONE
    + """[stages.tune.teacher]
weight = 1.0
loss = "mse"
"""
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A micro model of each task, with random weights."""
    return save_micro_models(tmp_path_factory.mktemp("models"))


def opened(folder: Path) -> Any:
    return task_of(folder, load_config(folder)[1]).model.load(folder)


@pytest.mark.parametrize(
    "name",
    ["classifier", "labeller", "regressor", "pair", "tagger", "reader", "chooser", "embedder"],
)
def test_every_task_stands_on_the_models_embeddings(
    name: str, models: dict[str, Path], tmp_path: Path
) -> None:
    model = opened(models[name])
    theirs = model.module.encoder.embeddings.state_dict()
    network = lstm_network(model, 2)
    ours = network.encoder.embeddings.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    again, other = lstm_network(model, 2).state_dict(), lstm_network(model, 2, seed=2).state_dict()
    assert all(torch.equal(value, again[key]) for key, value in network.state_dict().items())
    assert not torch.equal(
        network.encoder.lstm[0].cells.weight_hh_l0, other["encoder.lstm.0.cells.weight_hh_l0"]
    )
    model.module, model.config = network, network.encoder.config
    model.save(tmp_path, card="random weights", dtype=torch.float32)
    assert opened(tmp_path).config == lstm_sizes(model.config, 2)


def test_another_width_keeps_the_table_and_makes_a_new_projection(models: dict[str, Path]) -> None:
    model = opened(models["classifier"])
    network = lstm_network(model, 1, hidden_size=20)
    ours, theirs = network.encoder.embeddings, model.module.encoder.embeddings
    assert torch.equal(ours.word.weight, theirs.word.weight)
    assert torch.equal(ours.norm.weight, theirs.norm.weight)
    assert ours.projection.weight.shape == (20, CONFIG.embedding_size)
    with pytest.raises(ConfigError, match=r"hidden_size \(21\) must be even"):
        lstm_network(model, 1, hidden_size=21)


def test_in_brightmarts_layout_the_width_stays() -> None:
    model = TextClassifier(
        replace(CONFIG, embedding_layout="brightmart"),
        default_tokenizer(),
        OneClass(["a", "b"]),
        window=WindowConfig(max_length=32, stride=8),
    )
    assert lstm_network(model, 1).encoder.config.embedding_layout == "brightmart"
    with pytest.raises(ConfigError, match="positions and types have the model's width 32, got 20"):
        lstm_network(model, 1, hidden_size=20)


def recipe(folder: Path, content: str) -> str:
    path = folder / "own.toml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def pair_file(path: Path) -> Path:
    numbers = {"different": "0", "similar": "1"}
    return write(path, [{**row, "label": numbers[row["label"]]} for row in pair_rows()])


def tag_file(path: Path) -> Path:
    text = travels(path).read_text("utf-8").replace("PER", "人").replace("LOC", "地")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "files", "metric", "contents"),
    [
        (
            "pair",
            pair_file,
            "accuracy",
            [("房间很好。", "服务很好。"), ("房间很好。", "服务太差。")],
        ),
        ("tagger", tag_file, "f1", ["李华昨天去了杭州。", "听说西湖来了Anna！"]),
    ],
)
def test_pairs_and_tags_are_learned_exported_and_answered(
    name: str, files: Any, metric: str, contents: Any, models: dict[str, Path], tmp_path: Path
) -> None:
    file, own = files(tmp_path / "train.jsonl"), recipe(tmp_path, ALONE)
    settings = ["learn.tune.train.epochs=16"]
    made = compress(models[name], own, file, file, out=tmp_path / "out", settings=settings)
    assert made.after[metric] > 0.9, made.after
    assert load_config(made.folder)[0].layer == "lstm"
    export(made.folder, tmp_path / "onnx", form="onnx")
    answers, exported = (load(folder)(contents) for folder in (made.folder, tmp_path / "onnx"))
    assert [repr(one)[:20] for one in exported] == [repr(one)[:20] for one in answers]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reviews(tmp_path_factory.mktemp("clean") / "clean.jsonl", count=640)


@pytest.fixture(scope="module")
def teacher(clean: Path, micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of two transformer layers that makes no mistakes."""
    task = TASKS["classification"]
    settings: dict[str, Any] = {
        "model": {"ngrams": False},
        "window": {"max_length": 32, "stride": 8},
        "train": {"epochs": 3, "peak_lr": 5e-3, "batch_tokens": 256, "precision": "fp32"},
    }
    out = tmp_path_factory.mktemp("teacher") / "model"
    config = build(task.job.config_type, settings)
    finetune(task.job, task.read(clean), (), config, init=micro, out=out)
    return out


@pytest.mark.slow
def test_taught_by_a_model_it_learns_more_than_alone_of_500_texts_with_wrong_labels(
    clean: Path, teacher: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in clean.read_text("utf-8").splitlines()]
    dev = TASKS["classification"].read(write(tmp_path / "dev.jsonl", rows[512:]))
    for row in rows[:500:3]:
        row["label"] = "negative" if row["label"] == "positive" else "positive"
    noisy = write(tmp_path / "noisy.jsonl", rows[:500])
    found = {}
    for name, content in (("alone", ALONE), ("taught", TAUGHT)):
        made = compress(teacher, recipe(tmp_path, content), noisy, out=tmp_path / name)
        found[name] = TASKS["classification"].evaluate(opened(made.folder), dev)["accuracy"]
    assert found["taught"] >= max(found["alone"], 0.95), found


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ("lstm = 0", "cut.lstm must be at least 1, got 0"),
        (
            "lstm = 1\nlayers = 2",
            "replaces all layers: leave out layers, groups, head_size",
        ),
        ("layers = 2\nhidden_size = 8", "cut.hidden_size is the width of new layers: set cut.lstm"),
        (
            "choice = 'first'",
            "head_size, positions or lstm, found none",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    cut: str, message: str, models: dict[str, Path], tmp_path: Path
) -> None:
    own = recipe(tmp_path, ALONE.replace("lstm = 1", cut))
    with pytest.raises(ConfigError, match=message):
        compress(models["classifier"], own, [], out=tmp_path / "out")


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            "[stages.cut]\nlayers = 1",
            "cut.groups and cut.head_size: expected an encoder of transf",
        ),
        ("[stages.prune]\nheads = 0.5", "gates of heads: expected an encoder of transformer"),
        ("[stages.tune.drop]\nrate = 0.2", "drop: expected an encoder of transformer layers"),
        ("[stages.tune.replace]\nrate = 0.5", "replace: expected an encoder of transformer"),
        ("[stages.tune.mask]\nsparsity = 0.5", "mask: expected an encoder of transformer layers"),
        ("[stages.tune.quantize]\nbits = 4", "quantize: expected an encoder of transformer"),
        (
            '[[stages.tune.match]]\nwhat = "attention"',
            "match with lstm: expected an encoder of transformer layers, found one",
        ),
    ],
)
def test_what_only_transformers_have_is_refused(
    action: str, message: str, models: dict[str, Path], tmp_path: Path
) -> None:
    file = reviews(tmp_path / "reviews.jsonl", count=16)
    model = opened(models["classifier"])
    model.pooling = "mean"
    model.head = OneClass(["negative", "positive"])
    model.module = lstm_network(model, 1)
    model.config = model.module.encoder.config
    model.save(tmp_path / "lstm", card="random weights")
    stage = f'title = "a"\nfamily = "a"\nsource = "a"\n[[stages]]\nname = "one"\n{action}\n'
    with pytest.raises(ConfigError, match=message) as caught:
        compress(tmp_path / "lstm", recipe(tmp_path, stage), file, out=tmp_path / "out")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["embeddings", "states", "pooled"])
def test_embeddings_and_states_are_matched_with_a_transformers(
    what: str, clean: Path, teacher: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(clean.read_text("utf-8").splitlines()[:32]), encoding="utf-8")
    terms = f"match = [{{what = '{what}'}}]\nmatch_only = true"
    content = ALONE.replace("[stages.tune.train]", f"[stages.tune]\n{terms}\n[stages.tune.train]")
    missed: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, Progress):
            missed.append(event.measured[what])

    own = recipe(tmp_path, content)
    compress(teacher, own, few, out=tmp_path / "out", observers=[listen])
    assert (missed[-1] < missed[0] * 0.9) == (what != "embeddings"), missed


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_word_table_becomes_narrower(
    when: str, clean: Path, teacher: Path, tmp_path: Path
) -> None:
    content = ALONE[: ALONE.index('[[stages]]\nname = "learn"')] + "embedding_size = 8\n"
    if when == "after":
        cut = '[[stages]]\nname = "words"\n[stages.cut]\n'
        content = content.replace("embedding_size", f"{cut}embedding_size")
    made = compress(teacher, recipe(tmp_path, content), clean, out=tmp_path / "out")
    sizes = load_config(made.folder)[0]
    assert (sizes.embedding_size, sizes.layer) == (8, "lstm")
    assert load(made.folder)(["房间很好。"])[0].label in ("positive", "negative")
