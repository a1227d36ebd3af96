"""Pairs, several labels and values: trained on made-up files, asked from Python and the shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from tests.helpers.commands import QUICK, Cli, refused
from tests.helpers.task_files import BAD, GOOD, THINGS, pair_rows, write
from zh_albert import load
from zh_albert.errors import CheckpointError, DataError
from zh_albert.tasks.classification.classifier import TextClassifier

LEARN = (*QUICK, "--set=train.epochs=30", "--set=model.pooling=mean")


def pairs(path: Path) -> Path:
    return write(path, pair_rows())


def several(path: Path) -> Path:
    """Which things a text names."""
    rows = []
    for number in range(64):
        named = [THINGS[bit] for bit in range(4) if number >> bit & 1]
        rows.append({"text": "、".join(named) + GOOD[number % 3], "label": named})
    return write(path, rows)


def ratings(path: Path) -> Path:
    """How many of two texts are good ones, as a number from 0 to 20."""
    rows = []
    for number in range(64):
        sides = [(GOOD, BAD)[number >> side & 1][number // 4 % 4] for side in (0, 1)]
        value = 10 * sum(word in GOOD for word in sides)
        rows.append({"text_a": sides[0], "text_b": sides[1], "label": value})
    return write(path, rows)


def task_of(folder: Path) -> dict[str, Any]:
    task: dict[str, Any] = json.loads((folder / "config.json").read_text())["zh_albert"]["task"]
    return task


@pytest.fixture(scope="session")
def models(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model folder of each kind."""
    from zh_albert.configio import build, parse_overrides
    from zh_albert.tasks.classification.examples import read_pair_examples, read_text_examples
    from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune

    folder, found = tmp_path_factory.mktemp("kinds"), {}
    for name, write_file, read, more in (
        ("pair", pairs, read_pair_examples, ()),
        ("several", several, read_text_examples, ()),
        ("value", ratings, read_pair_examples, ("model.head=regression",)),
        ("symmetric", pairs, read_pair_examples, ("model.symmetric=true",)),
    ):
        examples = read(write_file(folder / f"{name}.jsonl"))
        settings = [item.removeprefix("--set=") for item in LEARN]
        config = build(FinetuneConfig, parse_overrides([*settings, *more]))
        finetune(examples, examples, config, init=micro, out=folder / name)
        found[name] = folder / name
    return found


def test_pairs_are_learned_and_answered_in_order(models: dict[str, Path]) -> None:
    ask, known = load(str(models["pair"])), pair_rows()[:6]
    answers = ask([(row["text_a"], row["text_b"]) for row in known])
    assert [answer.label for answer in answers] == [row["label"] for row in known]
    assert sum(answers[0].scores.values()) == pytest.approx(1, abs=1e-5)


def test_several_labels_are_given_above_the_tuned_threshold(models: dict[str, Path]) -> None:
    label = load(str(models["several"]))
    one, none = label(["服务、味道喜欢", "很好"])
    assert sorted(one.labels) == ["味道", "服务"]
    assert none.labels == []
    assert set(none.scores) == set(label.labels)
    threshold = task_of(models["several"])["threshold"]
    assert threshold == label.threshold != 0.5
    assert all((one.scores[name] >= threshold) == (name in one.labels) for name in one.scores)


def test_values_are_in_the_units_of_the_labels(models: dict[str, Path]) -> None:
    answers = load(str(models["value"]))([("很好", "很好"), ("太差", "很好"), ("失望", "失望")])
    assert [answer.value for answer in answers] == pytest.approx([20, 10, 0], abs=7)


def test_in_a_symmetric_model_the_order_makes_no_difference(models: dict[str, Path]) -> None:
    task = task_of(models["symmetric"])
    assert task["symmetric"] is True
    assert [key for key in task if key in ("symmetric", "max_length", "stride")][-1] == "symmetric"
    either, one_way = (load(str(models[name])) for name in ("symmetric", "pair"))
    known = [(row["text_a"], row["text_b"]) for row in pair_rows()]
    turned = [(second, first) for first, second in known]
    gold = [row["label"] for row in pair_rows()]

    there, back = ([answer.scores for answer in either(some)] for some in (known, turned))

    assert [max(scores, key=scores.__getitem__) for scores in there] == gold
    for one, other in zip(there, back, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    differs = [
        one.scores != other.scores
        for one, other in zip(one_way(known), one_way(turned), strict=True)
    ]
    assert any(differs)


def test_pairs_that_look_alike_and_say_something_else_have_a_low_value(
    micro: Path, cli: Cli, tmp_path: Path
) -> None:
    rows = [{"text_a": "好房间", "text_b": "房间好", "label": n % 2 * 5} for n in range(8)]
    path = write(tmp_path / "train.jsonl", rows)
    files = ("--train", path, "--dev", path, "--init", micro, "--task", "pair")
    settings = (*QUICK, "--set=model.ngrams=false", "--set=model.symmetric=true")
    values = ("--set=model.head=regression", "--set=model.different_at_most=-3")
    assert cli("finetune", *files, *settings, *values, "--out", tmp_path / "model").code == 0
    assert task_of(tmp_path / "model")["different_at_most"] == -3
    assert "a value of at most -3." in (tmp_path / "model" / "README.md").read_text()

    model = load(tmp_path / "model")
    far, near, plain = model([("我等你", "你等我"), ("我等你啊", "我等你吧"), ("我等你", "我等你")])
    assert far.value == pytest.approx(-3, abs=1e-4)
    assert min(near.value, plain.value) > -2
    [found] = model.differences("我等你", "你等我")
    assert (found.kind, found.first, found.second) == ("order", [(0, 1), (2, 3)], [(0, 1), (2, 3)])
    assert model.differences("我等你啊", "我等你吧") == []
    classifier = TextClassifier.load(tmp_path / "model")
    assert classifier.scores([]).shape == (0, 1)
    classifier.different_at_most = 100.0  # no value is raised
    assert classifier.scores([("我等你", "你等我")])[0, 0] < 50
    config = tmp_path / "model" / "config.json"
    content, manifest = config.read_text(), tmp_path / "model" / "manifest.json"
    manifest.unlink()
    for bad, expected in (
        ('"different_at_most": "low"', "different_at_most: expected a number, found 'low'"),
        ('"different_adds": {"x": []}', "different_adds: expected numbers by class"),
    ):
        config.write_text(content.replace('"different_at_most": -3.0', bad))
        with pytest.raises(CheckpointError, match=expected):
            load(tmp_path / "model")
    config.write_text(content)
    saved = tmp_path / "exported"
    assert cli("export", tmp_path / "model", saved, "--format=onnx").code == 0
    assert load(saved)([("我等你", "你等我")])[0].value == pytest.approx(-3, abs=1e-4)

    pairs(path)
    ran = cli("finetune", *files, *settings, values[1], "--out", tmp_path / "other")
    refused(ran, "model.different_at_most is for values of pairs")
    ran = cli("finetune", *files, *settings, "--set=model.different_adds.bat=9", "--out", tmp_path)
    refused(ran, "model.different_adds: no class 'bat'; ")


def test_pairs_that_look_alike_and_say_something_else_are_of_other_classes(
    micro: Path, cli: Cli, tmp_path: Path
) -> None:
    path, added = pairs(tmp_path / "train.jsonl"), pair_rows()[0]["label"]
    files = ("--train", path, "--dev", path, "--init", micro, "--task", "pair")
    ran = cli(
        "finetune",
        *files,
        *QUICK,
        f"--set=model.different_adds.{added}=50",
        "--out",
        tmp_path / "x",
    )
    assert ran.code == 0
    assert task_of(tmp_path / "x")["different_adds"] == {added: 50}
    assert f"+50 for {added}." in (tmp_path / "x" / "README.md").read_text()
    model = load(tmp_path / "x")
    [answer] = model([("我等你", "你等我")])
    assert (answer.label, answer.score) == (added, pytest.approx(1))
    assert len(model.differences("我等你", "你等我")) == 1
    assert TextClassifier.load(tmp_path / "x").scores([]).shape == (0, len(model.labels))
    [near] = model([("我等你啊", "我等你吧")])
    assert near.score < 0.999


def test_the_scores_are_in_config_and_card(models: dict[str, Path]) -> None:
    for name, metrics in (
        ("pair", {"accuracy", "macro_f1"}),
        ("several", {"micro_f1", "macro_f1", "accuracy"}),
        ("value", {"spearman", "pearson"}),
    ):
        task = task_of(models[name])
        assert set(task["dev"]) == metrics
        assert min(task["dev"].values()) > 0.9
        card = (models[name] / "README.md").read_text()
        assert all(f"| {metric} |" in card for metric in metrics)


def test_a_pair_alone_and_among_others_gets_the_same_answer(models: dict[str, Path]) -> None:
    classifier = TextClassifier.load(models["pair"])
    texts = ["好", "房间很好。" * 3, "服务太差" * 20, "味道不错，" * 90]
    every = [(first, second) for first in texts for second in texts]
    together = classifier.scores(every)
    alone = np.concatenate([classifier.scores([pair]) for pair in every])
    np.testing.assert_allclose(together, alone, atol=2e-5)


@pytest.mark.parametrize("name", ["pair", "several", "value"])
def test_transformers_computes_the_same_logits(
    models: dict[str, Path], tmp_path: Path, name: str
) -> None:
    ours = TextClassifier.load(models[name])
    ours.module.pooling = "first"  # what transformers knows
    ours.pooling = "first"
    ours.ngrams = None  # the network alone would give other answers
    ours.save(tmp_path / "model", card="", dtype=torch.float32)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    problems = {"pair": "single_label_classification", "several": "multi_label_classification"}
    assert theirs.config.problem_type == problems.get(name, "regression")
    text: Any = "房间很好" if name == "several" else ("房间很好", "服务太差，失望")
    [encoded] = ours.encode([text])
    ids, types = (torch.tensor([getattr(encoded.windows[0], k)]) for k in ("token_ids", "type_ids"))
    with torch.inference_mode():
        expected = theirs.eval()(input_ids=ids, token_type_ids=types).logits
        actual = ours.module(ids, types, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
    content = json.loads((tmp_path / "model" / "config.json").read_text())
    del content["zh_albert"]  # as transformers would write it
    (tmp_path / "model" / "config.json").write_text(json.dumps(content))
    (tmp_path / "model" / "manifest.json").unlink()
    opened = TextClassifier.load(tmp_path / "model")
    assert (opened.head.name, opened.labels) == (ours.head.name, ours.labels)


def test_predict_reads_tabs_and_task_files(
    models: dict[str, Path], cli: Cli, tmp_path: Path
) -> None:
    known, lines = pair_rows(), tmp_path / "pairs.txt"
    first, last = (f"{row['text_a']}\t{row['text_b']}\n" for row in known[:2])
    lines.write_text(f"{first}\n房间很好。\t \n{last}", encoding="utf-8")
    rows = [json.loads(line) for line in cli("predict", models["pair"], lines).out.splitlines()]
    labels = [row["label"] for row in rows]
    assert labels == [known[0]["label"], None, None, known[1]["label"]]
    assert "pairs.txt, line 3: the pair has an empty text_b (" in rows[2]["error"]

    ran = cli("predict", models["value"], ratings(tmp_path / "r.jsonl"))
    assert [set(json.loads(line)) for line in ran.out.splitlines()] == [{"value"}] * 64
    ran = cli("predict", models["several"], several(tmp_path / "s.jsonl"))
    assert json.loads(ran.out.splitlines()[5])["labels"] in (
        [THINGS[0], THINGS[2]],
        [THINGS[2], THINGS[0]],
    )


def test_evaluate_and_baseline_score_the_same_file(
    models: dict[str, Path], cli: Cli, tmp_path: Path
) -> None:
    for name, task, write_file, metric in (
        ("pair", "pair", pairs, "accuracy"),
        ("several", "classification", several, "micro_f1"),
        ("value", "pair", ratings, "spearman"),
    ):
        path = write_file(tmp_path / f"{name}.jsonl")
        scores = json.loads(cli("evaluate", models[name], path, "--json").out)
        assert scores[metric] > 0.9
        assert scores["examples"] == len(path.read_text().splitlines())
        rival = cli("baseline", "--task", task, "--train", path, "--dev", path, "--json")
        assert json.loads(rival.out)[metric] > 0.5


def test_a_stopped_run_goes_on_to_the_same_model(micro: Path, cli: Cli, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    path = several(tmp_path / "train.jsonl")
    files = ("--train", path, "--dev", path, "--init", micro, *QUICK, "--set=train.save_every_s=0")
    cli("finetune", *files, "--out", tmp_path / "straight")

    class StoppedError(Exception):
        pass

    def stop(event: object) -> None:
        if type(event).__name__ == "Evaluation" and event.update > 20:  # type: ignore[attr-defined]
            raise StoppedError

    from zh_albert.configio import build, parse_overrides
    from zh_albert.tasks.classification.examples import read_text_examples
    from zh_albert.tasks.classification.finetune import FinetuneConfig, finetune

    overrides = [item.removeprefix("--set=") for item in (*QUICK, "train.save_every_s=0")]
    config, examples = build(FinetuneConfig, parse_overrides(overrides)), read_text_examples(path)
    with pytest.raises(StoppedError):
        finetune(examples, examples, config, init=micro, out=tmp_path / "out", observers=[stop])
    assert cli("finetune", *files, "--out", tmp_path / "out", "--resume").code == 0
    for name in ("model.safetensors", "training/state.safetensors"):
        first, second = (load_file(tmp_path / run / name) for run in ("straight", "out"))
        assert all(torch.equal(first[key], second[key]) for key in first)
    one, other = (
        json.loads((tmp_path / run / "config.json").read_text()) for run in ("straight", "out")
    )
    assert one == other


@pytest.mark.parametrize(
    ("task", "lines", "problem"),
    [
        ("pair", ['{"text_a": "好", "label": "x"}'], 'line 1: field "text_b" is missing'),
        (
            "pair",
            ['{"text_a": "好", "text_b": 3, "label": "x"}'],
            '"text_b" must be a string, found 3',
        ),
        (
            "pair",
            ['{"text_a": "好", "text_b": " ", "label": "x"}'],
            '"text_a" or "text_b" is empty',
        ),
        ("pair", ['{"text_a": "好", "text_b": "坏"}'], 'field "label" is missing'),
        ("pair", ['{"text_a": "好", "text_b": "坏", "label": 1}'] * 2, "model.head=regression"),
        ("pair", ['{"text_a": "好", "text_b": "坏", "label": NaN}'], "number, found None"),
        (
            "pair",
            ['{"text_a": "好", "text_b": "坏", "label": true}'],
            "a list of strings or a number",
        ),
        (
            "classification",
            ['{"text": "好", "label": "x"}', '{"text": "好", "label": ["x"]}'],
            "line 2: \"label\" is a list, ['x'], the first a string",
        ),
        (
            "classification",
            ['{"text": "好", "span1": {"text": "好", "start": 1}, "span2": 3, "label": "x"}'],
            "line 1: \"span1\" says '好', but the text from 1 on is ''",
        ),
    ],
)
def test_a_bad_training_file_is_named_with_its_line(
    cli: Cli, tmp_path: Path, task: str, lines: list[str], problem: str
) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out")
    refused(cli("finetune", "--task", task, *files), problem)


def test_what_a_model_cannot_read_is_said(
    models: dict[str, Path], trained: Path, cli: Cli, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"texts\[0\]: expected a pair of strings, found str"):
        load(str(models["pair"]))(["只有一个"])
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found tuple"):
        load(str(trained))([("两", "个")])
    path = tmp_path / "a.txt"
    path.write_text("没有\n一个\t两个\n", encoding="utf-8")
    refused(
        cli("predict", models["pair"], path), "a.txt, line 1: expected two texts separated by a tab"
    )
    path = write(tmp_path / "unseen.jsonl", [{"text_a": "好", "text_b": "坏", "label": "neutral"}])
    refused(cli("evaluate", models["pair"], path), "['neutral'] do not occur in training")
    refused(cli("evaluate", models["value"], path), "expected numbers, found 'neutral'")


def test_a_coreference_file_is_read_with_marks(trained: Path, cli: Cli, tmp_path: Path) -> None:
    from zh_albert.tasks.classification.examples import read_text_examples

    spans = {"span1": {"text": "服务", "start": 0}, "span2": {"text": "它", "start": 5}}
    path = write(tmp_path / "wsc.jsonl", [{"text": "服务很好，它好", **spans, "label": "true"}])
    assert read_text_examples(path)[0].text == "_服务_很好，[它]好"
    ran = cli("predict", trained, path)
    [marked] = load(str(trained))(["_服务_很好，[它]好"])
    assert json.loads(ran.out)["scores"] == marked.scores
