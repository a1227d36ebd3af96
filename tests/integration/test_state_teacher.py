"""A student with fewer layers, and a teacher whose states it matches."""

from __future__ import annotations

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
from zh_albert.checkpoints.pretrained_encoder import load_encoder, open_encoder, with_layers
from zh_albert.checkpoints.store import load_config, save_model
from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.examples import ChoiceExample, Question
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.examples import TextExample, read_text_examples
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.reading import finetune as reading
from zh_albert.tasks.reading.examples import ReadingExample
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.training.events import Event, Progress

SETTINGS: dict[str, Any] = {
    "window": {"max_length": 32, "stride": 8},
    "train": {"epochs": 4, "peak_lr": 5e-3, "batch_tokens": 128, "precision": "fp32"},
}


@pytest.mark.parametrize(
    ("sharing", "layers", "groups", "fewer", "left"),
    [
        ("all", 6, 4, 3, 3),  # the layers 2, 4 and 6 have blocks of their own
        ("all", 6, 4, 6, 4),
        ("all", 12, 1, 3, 1),
        ("all", 12, 2, 4, 2),
        ("all", 4, 12, 2, 2),
        ("all", 6, 2, 5, 5),  # three and two: neighbours that no number of groups makes
        ("attention", 6, 1, 2, 1),
        ("ffn", 6, 2, 2, 2),
        ("none", 6, 1, 2, 2),
    ],
)
def test_fewer_layers_share_as_those_they_begin_as(
    sharing: Any, layers: int, groups: int, fewer: int, left: int, tmp_path: Path
) -> None:
    sizes = replace(CONFIG, sharing=sharing, num_hidden_layers=layers, num_hidden_groups=groups)
    torch.manual_seed(0)
    whole = AlbertEncoder(sizes).eval()
    save_model(tmp_path, model=whole, config=sizes, files={}, task={}, dtype=torch.float32)
    cut = with_layers(sizes, fewer)
    holder = torch.nn.Module()
    holder.encoder = AlbertEncoder(cut).eval()
    load_encoder(holder, tmp_path)

    ids = torch.randint(5, 100, (2, 7))
    mask = torch.ones_like(ids, dtype=torch.bool)
    hidden = whole.embeddings(ids, torch.zeros_like(ids))
    for number in range(1, fewer + 1):
        blocks = whole.plan[round(number * layers / fewer) - 1]
        attended, _ = whole.attention[blocks.attention](hidden, mask[:, None, None])
        hidden = whole.ffn[blocks.ffn](attended)
    found = holder.encoder(ids, torch.zeros_like(ids), mask).hidden
    torch.testing.assert_close(found, hidden)
    assert len(holder.encoder.ffn if sharing == "ffn" else holder.encoder.attention) == left


@pytest.mark.parametrize("layers", [0, 3])
def test_layers_that_an_encoder_lacks_are_refused(layers: int, micro: Path) -> None:
    config = build(classification.FinetuneConfig, {"model": {"layers": layers}})
    with pytest.raises(ConfigError, match=f"model.layers must be from 1 to 2.*got {layers}"):
        classification.finetune(
            [TextExample("好", "a"), TextExample("坏", "b")], [], config, init=micro
        )


def learn(task: Any, examples: Any, init: Path, out: Path | None = None, **settings: Any) -> Any:
    """Return the model, and how much of the teacher's states was missed each time it was told."""
    missed: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, Progress) and "states" in event.measured:
            missed.append(event.measured["states"])

    config = build(task.FinetuneConfig, {**SETTINGS, **settings})
    model, _ = task.finetune(examples, [], config, init=init, out=out, observers=[listen])
    return model, missed


def some_of(task: Any, path: Path) -> Any:
    words = ["满意", "失望", "一般", "很好"] * 4
    if task is classification:
        return read_text_examples(reviews(path))
    if task is choice:
        asked = [Question("房间", "什么？", ("满意", word, "早餐")) for word in words]
        return [ChoiceExample(question, 2) for question in asked]
    if task is ner:
        return [EntityExample(f"{word}的房间", (EntitySpan(0, 2, "词"),)) for word in words]
    return [ReadingExample("什么？", f"房间{word}", ((2, 4),), (word,)) for word in words]


@pytest.mark.parametrize("task", [classification, choice, ner, reading])
def test_states_come_near_the_teachers(task: Any, micro: Path, tmp_path: Path) -> None:
    examples = some_of(task, tmp_path / "t.jsonl")
    model = {} if task is reading or task is choice else {"ngrams": False}
    _, none = learn(task, examples, micro, tmp_path / "teacher", model=model)
    assert none == []
    student = {"model": {**model, "layers": 1, "dropout": 0.0}}
    teacher = {"model": str(tmp_path / "teacher")}
    taught, missed = learn(task, examples, micro, **student, teacher={**teacher, "states": 5.0})
    assert taught.config.num_hidden_layers == 1
    assert 0 < missed[-1] < 1

    alone, _ = learn(task, examples, micro, **student, teacher=teacher)
    ids = torch.tensor(default_tokenizer().encode_batch(["房间满意的早餐"])[0].ids)[None]
    inputs = (ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
    wanted, near, far = (
        encoder(*inputs).hidden.detach()
        for encoder in (
            open_encoder(tmp_path / "teacher"),
            taught.module.encoder,
            alone.module.encoder,
        )
    )
    assert (near - wanted).square().mean() < 0.8 * (far - wanted).square().mean()


def test_one_command_makes_a_student_that_opens(
    trained: Path, micro: Path, cli: Cli, tmp_path: Path
) -> None:
    file, out = reviews(tmp_path / "t.jsonl", count=32), tmp_path / "out"
    ran = cli(
        *("finetune", "--train", file, "--dev", file, "--init", micro, "--out", out),
        *("--set=model.layers=1", "--set=model.ngrams=false", f"--set=teacher.model={trained}"),
        *("--set=teacher.states=1", "--set=window.max_length=32", "--set=window.stride=8"),
    )
    assert ran.code == 0, ran.err
    assert '"states": 0.' in (out / "training" / "metrics.jsonl").read_text()
    assert load_config(out)[0].num_hidden_layers == 1
    assert "states = 1.0" in (out / "README.md").read_text("utf-8")
    assert load(out)("好")


def other(folder: Path, **sizes: int) -> Path:
    """A classifier of other sizes."""
    config: AlbertConfig = replace(CONFIG, **sizes)
    files = default_tokenizer().save_files()
    save_model(folder / "e", model=AlbertEncoder(config), config=config, files=files, task={})
    examples = [TextExample("好", "negative"), TextExample("坏", "positive")]
    learn(classification, examples, folder / "e", folder / "model", model={"ngrams": False})
    return folder / "model"


def test_a_teacher_with_fewer_layers_is_refused(micro: Path, tmp_path: Path) -> None:
    teacher = {"model": str(other(tmp_path, num_hidden_layers=1)), "states": 1.0}
    examples = [TextExample("好", "negative"), TextExample("坏", "positive")]
    with pytest.raises(CheckpointError, match="found num_hidden_layers 1, the student's 2"):
        learn(classification, examples, micro, tmp_path / "out", teacher=teacher)
    assert not (tmp_path / "out").exists()


def test_a_wider_teacher_is_matched_by_a_projection_that_is_not_kept(
    micro: Path, tmp_path: Path
) -> None:
    teacher = {"model": str(other(tmp_path, hidden_size=64)), "states": 5.0}
    examples = [TextExample("好", "negative"), TextExample("坏", "positive")] * 8
    taught, missed = learn(
        *(classification, examples, micro, tmp_path / "out"),
        teacher=teacher,
        model={"ngrams": False},
    )
    assert missed[-1] < missed[0]
    assert taught.config.hidden_size == 32
    names = load_file(tmp_path / "out" / "model.safetensors").keys()
    assert not [name for name in names if "projections" in name]


def test_settings_that_mean_nothing_are_refused(
    trained: Path, micro: Path, cli: Cli, tmp_path: Path
) -> None:
    file = reviews(tmp_path / "t.jsonl", count=32)
    command = ("finetune", "--train", file, "--dev", file, "--init", micro, "--out", tmp_path / "o")
    taught = (*command, f"--set=teacher.model={trained}")
    refused(cli(*taught, "--set=teacher.states=-1"), "teacher.states must be at least 0, got -1")
    first = "--set=model.pooling=first"
    refused(cli(*taught, "--set=teacher.states=1", first), "match need model.pooling")
