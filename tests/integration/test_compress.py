"""Recipes on small models: each makes a folder that opens, says how it was made, and resumes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.helpers.commands import Cli, refused
from tests.helpers.micro import CONFIG
from tests.helpers.task_files import reviews
from zh_albert import load
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.store import load_config, save_model
from zh_albert.compression import compress, encoders, recipes
from zh_albert.compression.recipe import find_recipe
from zh_albert.compression.record import read_record
from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.inference.export import export
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.sharing import plan_of
from zh_albert.model.size import parameter_counts
from zh_albert.tasks.classification import finetune as finetuning
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.events import Event, Progress

DEEP = replace(CONFIG, num_hidden_layers=6, num_hidden_groups=3, num_attention_heads=4)
HALF = [
    *("hidden_size=16", "intermediate_size=32", "embedding_size=8"),
    *("num_hidden_groups=3", "num_attention_heads=4"),
]
QUICK = [
    "tune.train.epochs=2",
    "tune.train.batch_tokens=256",
    "tune.train.peak_lr=2e-3",
    "tune.train.precision=fp32",
]
OF_TASKS = [name for name, recipe in recipes().items() if not recipe.of_encoders]
OF_ENCODERS = [name for name, recipe in recipes().items() if recipe.of_encoders]


@pytest.fixture(scope="module", autouse=True)
def in_fp32() -> Iterator[None]:
    """Networks of 16 numbers a state learn a rule in two epochs, or not, by the last digits."""
    with pytest.MonkeyPatch.context() as everywhere:
        everywhere.setattr("zh_albert.tasks.pooler_probe.is_bf16_faster", lambda: False)
        yield


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reviews(tmp_path_factory.mktemp("reviews") / "reviews.jsonl")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, file: Path) -> Path:
    """A classifier of six layers in three groups."""
    folder = tmp_path_factory.mktemp("deep")
    torch.manual_seed(0)
    files = default_tokenizer().save_files()
    save_model(folder / "encoder", model=AlbertEncoder(DEEP), config=DEEP, files=files, task={})
    settings: dict[str, Any] = {
        "model": {"ngrams": False},
        "window": {"max_length": 32, "stride": 8},
        "train": {"epochs": 6, "peak_lr": 3e-3, "batch_tokens": 256, "precision": "fp32"},
        "card": {"trained_on": "made-up reviews", "label_zh": {"positive": "好"}},
    }
    examples = read_text_examples(file)
    config = build(FinetuneConfig, settings)
    finetune(examples, examples, config, init=folder / "encoder", out=folder / "model")
    return folder / "model"


def quick(name: str, encoder: Path) -> list[str]:
    """Settings with which a recipe takes a second."""
    stages = find_recipe(name).stages
    given = list(QUICK) if any(stage.tune is not None for stage in stages) else []
    cuts = [stage.cut for stage in stages if stage.cut]
    if any(stage.prune for stage in stages) or any(c.embedding_size or c.head_size for c in cuts):
        given.append("tune.train.epochs=8")  # of 32 numbers a state, none is to spare
    if name == "rocket":
        given.append("tune.train.epochs=4")  # its light network begins as the lowest layers
    if name == "quantize-aware":
        given.append("tune.train.peak_lr=5e-4")
    given += ["cut.embedding_size=8" for cut in cuts if cut.embedding_size]
    given += ["cut.head_size=4" for cut in cuts if cut.head_size]
    if any(stage.augment for stage in stages):
        key = next(key for stage in stages if stage.augment for key in stage.augment)
        given.append(f"augment.{key}.variants=2")
        if key == "words":
            given += [f"augment.words.encoder={encoder}", "augment.words.candidates=2"]
    return given + [
        f"{stage.name}.tune.init={encoder}"
        for stage in stages
        if stage.tune and "init" in stage.tune
    ]


@pytest.mark.parametrize("name", OF_TASKS)
def test_what_a_recipe_makes_is_a_model_like_any_other(
    name: str, model: Path, file: Path, tmp_path: Path, pretrained: Path
) -> None:
    made = compress(model, name, file, file, out=tmp_path / "out", settings=quick(name, pretrained))
    opened = load(made.folder)
    answers = opened(["房间很好。", "服务太差。"])
    assert [answer.label for answer in answers] == ["positive", "negative"], made.after
    card = (made.folder / "README.md").read_text("utf-8")
    assert find_recipe(name).title in card
    assert "made-up reviews" in card
    assert "| bytes |" in card
    names = load_file(made.folder / "model.safetensors").keys()
    assert not [one for one in names if "parametrizations" in one or "booster" in one]
    assert made.after["bytes"] <= made.before["bytes"] or name in ("route", "plain")
    assert load_config(made.folder)[1]["compressed"] == {"recipe": name, "of": "model"}
    again = compress(
        *(model, name, file, file),
        out=tmp_path / "out",
        settings=quick(name, pretrained),
        resume=True,
    )
    assert again == made  # nothing is done twice


@pytest.mark.parametrize("name", ["quantize-aware", "smallest", "prune-l0", "layerdrop-learned"])
def test_transformed_networks_are_evaluated_in_bf16(
    name: str, model: Path, file: Path, tmp_path: Path
) -> None:
    settings = [*quick(name, model), "tune.train.precision=bf16"]
    made = compress(model, name, file, file, out=tmp_path / "out", settings=settings)
    assert made.after["accuracy"] > 0.8


def test_a_route_begun_anew_keeps_the_labels_of_the_model(
    model: Path, file: Path, tmp_path: Path, pretrained: Path
) -> None:
    """Few texts may lack one of them."""
    examples = [one for one in read_text_examples(file) if one.label == "positive"]
    made = compress(
        *(model, "rco", examples, read_text_examples(file)),
        out=tmp_path / "out",
        settings=quick("rco", pretrained),
    )
    route = sorted((made.folder / "stages" / "route" / "route").iterdir())
    assert len(route) == 2  # one for each epoch
    for folder in (*route, made.folder):
        assert load_config(folder)[1]["labels"] == load_config(model)[1]["labels"]


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of six layers with its masked-LM head."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("pretrained")
    files = default_tokenizer().save_files()
    network = AlbertForPretraining(DEEP)
    save_model(folder, model=network, config=DEEP, files=files, task={"name": "encoder"})
    return folder


class _StopError(Exception):
    """What ends a test's process."""


def stop(*_: Any, **__: Any) -> None:
    raise _StopError


@pytest.mark.parametrize("name", OF_ENCODERS)
def test_encoders_are_compressed_on_a_corpus(
    name: str, pretrained: Path, shards: Path, tmp_path: Path
) -> None:
    action = next(iter({stage.action for stage in find_recipe(name).stages} - {"cut"}))
    settings = ["max_updates=3", "batch_tokens=512", "evaluate_every=3", "precision=fp32"]
    given = [f"{action}.train.{one}" for one in settings] + [f"{action}.instances.length=32"]
    if name == "extreme":
        given += [f"distil.encoder.{size}" for size in HALF]
    made = compress(pretrained, name, shards, shards, out=tmp_path / "out", settings=given)
    layers = load_config(made.folder)[0].num_hidden_layers
    assert layers == (6 if name in ("layerdrop-encoder", "extreme") else 3)
    assert 0 <= made.after["masked_accuracy"] <= 1
    assert made.after["macs"] < made.before["macs"] or layers == 6
    assert "## Compression" in (made.folder / "README.md").read_text("utf-8")
    again = compress(
        *(pretrained, name, shards, shards), out=tmp_path / "out", settings=given, resume=True
    )
    assert again == made


def test_an_encoder_that_was_cut_goes_on_with_the_same_settings_only(
    pretrained: Path, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [f"distil.train.{one}" for one in ("max_updates=2", "batch_tokens=512")]
    settings.append("distil.instances.length=32")
    given = {"out": tmp_path / "out", "resume": True}
    asked = (pretrained, "distilbert", shards, shards)
    with monkeypatch.context() as killed:
        killed.setattr(encoders, "distil", stop)
        with pytest.raises(_StopError):
            compress(*asked, settings=settings, **given)
    with pytest.raises(ConfigError, match="then: layers = 3, now: layers = 2"):
        compress(*asked, settings=[*settings, "cut.layers=2"], **given)
    made = compress(*asked, settings=settings, **given)
    assert load_config(made.folder)[0].num_hidden_layers == 3
    with pytest.raises(ConfigError, match="already holds a model"):
        compress(*asked, settings=settings, out=tmp_path / "out")


def refuse_other_layers(before: Path, after: Path) -> None:
    """Check that the layers with the lowest learned rates were kept, and their rates not."""
    (sizes, told), (cut, told_after) = load_config(before), load_config(after)
    rates = told["drop_rates"]
    assert sum(rates) / 6 == pytest.approx(0.5, abs=1e-3)
    assert len(set(rates)) > 3, "nothing was learned"
    least = sorted(sorted(range(6), key=lambda layer: (rates[layer], -layer))[:3])
    # Pairs of layers share a block.
    blocks = [layer // 2 for layer in least]
    assert cut.num_hidden_layers == 3
    assert sizes.num_hidden_layers == 6
    same = [one == other for one, other in itertools.combinations(blocks, 2)]
    plan = plan_of(cut)
    assert same == [one == other for one, other in itertools.combinations(plan, 2)]
    assert "drop_rates" not in told_after


def test_layers_with_the_lowest_learned_rates_are_kept(
    model: Path, file: Path, tmp_path: Path
) -> None:
    settings = quick("layerdrop-learned", model)
    made = compress(model, "layerdrop-learned", file, file, out=tmp_path, settings=settings)
    stages = made.folder / "stages"
    refuse_other_layers(stages / "rates", stages / "student")
    assert "drop_rates" not in load_config(made.folder)[1]
    log = (stages / "rates" / "training" / "metrics.jsonl").read_text("utf-8")
    assert all(f'"drop_{layer}"' in log for layer in range(1, 7))


def test_an_encoder_learns_rates_and_is_cut(pretrained: Path, shards: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'title = "Learned"\nfamily = "pruning"\nsource = "Fan et al."\n'
        '[[stages]]\nname = "rates"\n[stages.pretrain]\ndrop = { learned = true, rate = 0.5 }\n'
        "instances = { length = 32 }\ntrain = { max_updates = 3, batch_tokens = 512 }\n"
        '[[stages]]\nname = "few"\ncut = { layers = 3, choice = "learned" }\n',
        encoding="utf-8",
    )
    made = compress(pretrained, str(own), shards, shards, out=tmp_path / "out")
    refuse_other_layers(made.folder / "stages" / "rates", made.folder)
    with pytest.raises(ConfigError, match="expected a model with 3 of them"):
        compress(
            *(made.folder, str(own), shards, shards),
            out=tmp_path / "again",
            settings=["rates.pretrain.drop.learned=false", "few.cut.layers=2"],
        )


def test_half_as_wide_is_as_much_smaller_as_is_counted(
    pretrained: Path, shards: Path, tmp_path: Path
) -> None:
    given = [f"distil.encoder.{size}" for size in HALF] + ["distil.instances.length=32"]
    given += [f"distil.train.{one}" for one in ("max_updates=2", "batch_tokens=512")]
    made = compress(pretrained, "extreme", shards, shards, out=tmp_path / "out", settings=given)
    wide, narrow = (load_config(folder)[0] for folder in (pretrained, made.folder))
    theirs, ours = (parameter_counts(sizes)["parameters"] for sizes in (wide, narrow))
    assert (made.before["parameters"], made.after["parameters"]) == (theirs, ours)
    stored = load_file(made.folder / "model.safetensors")
    assert sum(tensor.numel() for tensor in stored.values()) == ours
    metrics = (made.folder / "training" / "metrics.jsonl").read_text("utf-8")
    assert '"weights"' in metrics


@pytest.mark.parametrize("name", ["kd", "theseus", "prune-magnitude", "nano", "smallest"])
def test_a_killed_recipe_goes_on_to_the_same_bytes(
    name: str, model: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [*quick(name, model), "tune.train.save_every_s=0"]
    updates = 0

    def kill(event: Event) -> None:
        nonlocal updates
        if isinstance(event, Progress):
            updates += 1
            if updates == 3:
                raise _StopError

    given = {"settings": settings, "out": tmp_path / "killed"}
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(model.parent)
        begun = {**given, "out": os.path.relpath(tmp_path / "killed", model.parent)}
        with pytest.raises(_StopError):
            compress(f"./{model.name}", name, file, file, observers=[kill], **begun)
    with pytest.raises(ConfigError, match="--resume"):
        compress(model, name, file, file, **given)
    killed = compress(model, name, file, file, resume=True, **given)
    whole = compress(model, name, file, file, settings=settings, out=tmp_path / "whole")
    assert killed.after == whole.after
    weights = [(one.folder / "model.safetensors").read_bytes() for one in (killed, whole)]
    assert weights[0] == weights[1]


def test_later_stages_know_what_the_teacher_answered(
    model: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    answer = finetuning.ClassificationJob.teacher_logits

    def counted(self: Any, teacher: Any, instances: list[int]) -> Any:
        asked.extend(instances)
        return answer(self, teacher, instances)

    monkeypatch.setattr(finetuning.ClassificationJob, "teacher_logits", counted)
    settings = quick("small", model)
    made = compress(model, "small", file, file, out=tmp_path / "out", settings=settings)
    assert sorted(asked) == list(range(len(read_text_examples(file))))
    stages = made.folder / "stages"
    kept = [next((stages / name / "training").glob("teacher-*.npy")) for name in ("teach", "round")]
    assert kept[0].read_bytes() == kept[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["states", "theseus"])
def test_two_processes_equal_one(name: str, model: Path, file: Path, tmp_path: Path) -> None:
    found = {}
    for processes in (1, 2):
        out = tmp_path / str(processes)
        more = () if processes == 2 else ("--set", "tune.train.accumulation=2")
        run = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
        sets = [part for one in quick(name, model) for part in ("--set", one)]
        subprocess.run(
            [
                *(sys.executable, *(run if processes == 2 else ())),
                *("-m", "zh_albert.cli", "compress", name, str(model), *sets, *more),
                *("--train", str(file), "--dev", str(file), "--out", str(out)),
            ],
            check=True,
            capture_output=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        last = find_recipe(name).stages[-1].name
        found[processes] = load_file(out / "stages" / last / "training" / "state.safetensors")
        assert load(out)(["房间很好。"])[0].label == "positive"
    for tensor in found[1]:
        torch.testing.assert_close(found[1][tensor], found[2][tensor], rtol=1e-3, atol=1e-4)


def test_the_command_lists_recipes_and_runs_one(
    model: Path, file: Path, cli: Cli, tmp_path: Path
) -> None:
    listed = json.loads(cli("compress", "--json").out)
    assert {row["name"] for row in listed} == set(recipes())
    assert all(row["source"] and row["title"] and row["family"] for row in listed)
    shown = cli("compress").out
    assert "kd " in shown
    usage = cli("compress", "kd", "--help").out.splitlines()[0]
    assert "compress kd [OPTIONS]" in usage
    assert "recipe" not in usage.lower()
    assert "arXiv:1503.02531" in shown
    ran = cli(
        *("compress", "quantize", model, "--train", file, "--dev", file),
        *("--out", tmp_path / "out", "--json", "--set", "store.bits=4"),
    )
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["after"]["bytes"] < result["before"]["bytes"] * 0.4
    assert result["after"]["accuracy"] >= 0.7


def test_the_command_leaves_out_n_grams_and_excluded_texts(
    file: Path, cli: Cli, tmp_path: Path
) -> None:
    settings = build(FinetuneConfig, {"window": {"max_length": 32, "stride": 8}})
    examples = read_text_examples(file)
    settings = replace(settings, train=replace(settings.train, epochs=1))
    finetune(examples, examples, settings, init=None, out=tmp_path / "whole")
    first, rest = file.read_text("utf-8").splitlines()[:8], tmp_path / "rest.jsonl"
    rest.write_text("\n".join(first), encoding="utf-8")
    ran = cli(
        *("compress", "plain", tmp_path / "whole", "--train", file, "--exclude", rest),
        *("--out", tmp_path / "out", "--no-ngrams", "--set", "cut.layers=1"),
        *("--set", "tune.train.epochs=1"),
    )
    assert ran.code == 0, ran.err
    assert "8 training texts dropped: they occur in --exclude files" in ran.err
    assert (tmp_path / "whole" / NGRAMS).is_file()
    assert not (tmp_path / "out" / NGRAMS).exists()
    before, _ = read_record(tmp_path / "out") or ({}, {})
    assert before["bytes"] == (tmp_path / "whole" / "model.safetensors").stat().st_size
    _, made = load_config(tmp_path / "out")
    assert made["compressed"]["of"] == "whole"
    assert made["train_examples"] == len(examples) - 8


def test_rare_words_alone_are_pruned(model: Path, file: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "words.toml"
    recipe.write_text(
        'title = "Words"\nfamily = "pruning"\nsource = "ours"\n[[stages]]\nname = "rare"\n'
        'prune = { words = 0.1 }\n[[stages]]\nname = "file"\nstore = { bits = 6 }\n'
    )
    whole = compress(model, "quantize", file, file, out=tmp_path / "whole")
    made = compress(model, str(recipe), file, file, out=tmp_path / "out")

    assert made.after["bytes"] < 0.5 * whole.after["bytes"]
    assert made.after["accuracy"] >= made.before["accuracy"] - 0.1  # the file's words have stayed


def test_a_search_sees_the_layers_that_it_leaves_out_of_an_export(
    model: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bundled models are: their graph is made of all layers when it is first used."""
    export(model, tmp_path / "int8", form="zh_albert", precision="int8")
    examples, answers, evaluate = read_text_examples(file), set(), finetuning.evaluate

    def evaluated(opened: TextClassifier, some: Any) -> dict[str, Any]:
        if not (tmp_path / "out/stages/student").exists():  # still searching
            answers.add(opened.scores([one.text for one in some]).tobytes())
        return evaluate(opened, some)

    monkeypatch.setattr(finetuning, "evaluate", evaluated)
    recipe = find_recipe("layerdrop", ["cut.layers=5"])
    recipe = replace(recipe, stages=recipe.stages[:1])
    compress(tmp_path / "int8", recipe, examples, examples, out=tmp_path / "out")
    assert len(answers) == 3  # one of six layers left out, of three groups


def test_a_recipe_of_ones_own(model: Path, file: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'title = "Two layers"\nfamily = "mine"\nsource = "nobody"\n'
        '[[stages]]\nname = "few"\n[stages.cut]\nlayers = [3, 6]\n',
        encoding="utf-8",
    )
    made = compress(model, str(own), file, out=tmp_path / "out")
    assert load_config(made.folder)[0].num_hidden_layers == 2
    assert load(made.folder)(["房间很好。"])[0].label in ("positive", "negative")


@pytest.mark.parametrize(
    ("recipe", "settings", "problem"),
    [
        ("kdd", (), "unknown recipe 'kdd'; did you mean 'kd'?"),
        ("kd", ("tune.train.epoch=1",), "did you mean 'train.epochs'?"),
        ("kd", ("tuen.train.epochs=1",), "recipe kd has the stages student, learn"),
        ("kd", ("tune.teacher.weight=2",), "teacher.weight must be from 0 to 1, got 2"),
        ("kd", ("tune.teacher.model=neuws",), "'neuws': no such model folder"),
        ("kd", ("cut.layers=0",), "cut.layers must be from 1 to 6"),
        ("kd", ("cut.choice=learned",), "expected a model with 6 of them in its config.json"),
        ("kd", ("cut.layers=[]",), "expected at least one layer to keep, found none"),
        ("kd", ("cut.layers=[2, 9]",), "expected layers from 1 to 6 in ascending order, found"),
        ("prune-magnitude", ("tune.mask.sparsity=0",), "between 0 and 1, found 0"),
        ("prune-magnitude", ("tune.mask.sparsity=1",), "between 0 and 1, found 1"),
        ("prune-magnitude", ("tune.mask.sparsity=1.2",), "between 0 and 1, found 1.2"),
        ("quantize", ("store.bits=0",), "expected 2 to 8 for a weight, found 0"),
        ("quantize-aware", ("tune.quantize.bits=9",), "expected 2 to 8 for a weight, found 9"),
        ("prune-heads", ("prune.heads=0",), "above 0 and at most 1, found 0"),
        ("prune-heads", ("prune.words=0",), "above 0 and at most 1, found 0"),
        ("states", ("tune.match=[{what = 'stats'}]",), "expected 'embeddings', 'states'"),
        ("states", ("tune.match=[{wat = 'states'}]",), "did you mean 'match[0].what'?"),
        ("share", ("cut.groups=7",), "cut.groups must be from 1 to 3, the model's blocks; got 7"),
        ("distilbert", (), "recipe distilbert is for encoders, found a model for classification"),
    ],
)
def test_bad_settings_end_in_one_line_before_any_training(
    recipe: str,
    settings: tuple[str, ...],
    problem: str,
    model: Path,
    file: Path,
    cli: Cli,
    tmp_path: Path,
) -> None:
    sets = [part for one in settings for part in ("--set", one)]
    ran = cli(
        *("compress", recipe, model, "--train", file, "--dev", file),
        *("--out", tmp_path / "out", *sets),
    )
    refused(ran, problem)
    assert not list(tmp_path.glob("out/stages/*/training/state.safetensors"))


def test_an_encoder_and_a_teacher_of_another_task_are_refused(
    model: Path, file: Path, pretrained: Path, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match="is for models of a task, found an encoder"):
        compress(pretrained, "kd", file, file, out=tmp_path / "a")
    with pytest.raises(CheckpointError, match="expected a teacher for the task classification"):
        compress(
            *(model, "kd", file, file),
            out=tmp_path / "b",
            settings=["tune.teacher.model=reader", "cut.layers=3"],
        )


def test_a_folder_that_holds_something_is_kept(model: Path, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    compress(model, "quantize", file, out=out)
    with pytest.raises(ConfigError, match="already holds a model"):
        compress(model, "quantize", file, out=out)
    with pytest.raises(ConfigError, match="only with the settings it was started with"):
        compress(model, "quantize", file, out=out, settings=["store.bits=4"], resume=True)


def test_stages_of_other_settings_are_not_gone_on_with(
    model: Path, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(ConfigError, match="multiple of the student's layers"):
        compress(model, "theseus", file, out=out, settings=["cut.layers=4"])
    with pytest.raises(ConfigError, match="holds stages of other work"):
        compress(model, "theseus", file, out=out, settings=["cut.layers=3"])


def test_a_route_wants_dev_examples_before_anything_is_trained(
    model: Path, file: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"stage route: tune.keep_route .* give some \(--dev\)"):
        compress(model, "rco", file, out=tmp_path / "out")
    assert not [*tmp_path.rglob("model.safetensors")]


def test_texts_without_labels_are_not_ignored(model: Path, file: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "今天天气很好"}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="recipe plain learns from no texts without labels"):
        compress(model, "plain", file, unlabelled=texts, out=tmp_path / "out")
    assert not [*tmp_path.rglob("model.safetensors")]


def test_json_stands_behind_the_recipe(cli: Cli, model: Path, file: Path, tmp_path: Path) -> None:
    ran = cli(
        *("compress", "--json", "quantize", model, "--train", file, "--dev", file),
        *("--out", tmp_path / "out"),
    )
    assert ran.code == 2
    assert ran.err.strip() == "error: expected --json after the recipe, found it before"
    assert not (tmp_path / "out").exists()


def test_a_stage_of_an_encoder_begins_from_the_one_it_names(
    pretrained: Path, shards: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "own.toml"
    recipe.write_text(
        'title = "t"\nfamily = "f"\nsource = "s"\ncost = "c"\n'
        '[[stages]]\nname = "whole"\n[stages.cut]\nlayers = 2\n'
        '[[stages]]\nname = "small"\n[stages.cut]\nlayers = 1\n'
        '[[stages]]\nname = "alone"\nfrom = "whole"\n[stages.pretrain]\n'
        'train = {max_updates = 2, batch_tokens = 512, evaluate_every = 2, precision = "fp32"}\n'
        "instances = {length = 32}\n",
        encoding="utf-8",
    )
    made = compress(pretrained, str(recipe), shards, shards, out=tmp_path / "out")
    assert load_config(made.folder)[0].num_hidden_layers == 2


def test_settings_of_all_stages_of_an_encoder_are_checked_before_the_first(
    pretrained: Path, shards: Path, tmp_path: Path
) -> None:
    for setting, problem in (
        ("distil.train.epoch=1", "unknown key 'train.epoch'; did you mean 'train.epochs'"),
        ("distil.replace.rate=0.5", "replace is for models of a task"),
    ):
        with pytest.raises(ConfigError, match=problem):
            compress(
                *(pretrained, "tinybert-general", shards, shards),
                out=tmp_path / "out",
                settings=[setting],
            )
        assert not [*tmp_path.rglob("model.safetensors")]


def test_an_encoder_has_no_n_grams_to_leave_out(
    pretrained: Path, shards: Path, cli: Cli, tmp_path: Path
) -> None:
    data = (pretrained, "--train", shards, "--dev", shards, "--out", tmp_path / "out")
    for option in (["--no-ngrams"], ["--unlabelled", shards], ["--exclude", shards]):
        ran = cli("compress", "distilbert", *data, *option)
        refused(ran, "recipe distilbert trains an encoder on shards", option[0], "leave them out")
    with pytest.raises(ConfigError, match="unlabelled and ngrams are for models of a task"):
        compress(pretrained, "distilbert", shards, shards, out=tmp_path / "out", ngrams=False)
    assert not (tmp_path / "out").exists()


def test_positions_of_a_window_have_to_stay(model: Path, file: Path, tmp_path: Path) -> None:
    recipe = find_recipe("plain", ["cut.layers=6", "cut.positions=32"])
    recipe = replace(recipe, stages=recipe.stages[:1])
    made = compress(model, recipe, file, file, out=tmp_path / "cut")
    assert load_config(made.folder)[0].max_position_embeddings == 32
    assert made.after["accuracy"] == pytest.approx(made.before["accuracy"])
    with pytest.raises(ConfigError, match=r"at least 32, the tokens of .* windows; got 31"):
        compress(model, "plain", file, file, out=tmp_path / "x", settings=["cut.positions=31"])


def test_what_is_not_cut_of_an_encoder_is_refused(
    pretrained: Path, shards: Path, tmp_path: Path
) -> None:
    for number, setting in enumerate(("positions=32", "choice=searched", "embedding_size=8")):
        out, settings = tmp_path / str(number), [f"cut.{setting}"]
        with pytest.raises(ConfigError, match=r"of an encoder, layers .* can be cut"):
            compress(pretrained, "distilbert", shards, shards, out=out, settings=settings)
