"""Our models, trained further in ``transformers`` and saved there; and models that began there."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import transformers

from tests.helpers.round_trips import (
    HEADS,
    KINDS,
    Head,
    difference,
    network_here,
    numbers_here,
    opened_there,
    save_ours,
    trained_there,
)
from tests.helpers.spread_models import FILES
from zh_albert import load
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.files import NGRAMS, count_parameters
from zh_albert.checkpoints.store import load_config
from zh_albert.errors import CheckpointError
from zh_albert.inference.export import export
from zh_albert.tasks.catalog import network_of

SIZES: dict[str, Any] = {
    "vocab_size": 16,
    "embedding_size": 6,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 19,
    "max_position_embeddings": 16,
}


pytestmark = pytest.mark.usefixtures("quiet_transformers")


def named(labels: list[str]) -> dict[str, Any]:
    return {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }


def begun_there(kind: str, folder: Path, **settings: Any) -> Any:
    """Write a model that has never been ours."""
    config = transformers.AlbertConfig(**{**SIZES, **settings})
    model = getattr(transformers, kind)(config).eval()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text(FILES["vocab.txt"], encoding="utf-8")
    return model


def edited(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    content = {name: value for name, value in content.items() if value is not None}
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_model_trained_there_comes_back_with_equal_outputs(head: Head, tmp_path: Path) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    before = save_ours(head, ours)
    theirs = opened_there(head, ours)
    trained = trained_there(head, theirs, there, ours)
    assert difference(numbers_here(before), trained) > 0.1

    assert difference(numbers_here(network_here(there)), trained) < 1e-5
    settings = load_config(there)[1]
    assert settings == load_config(ours)[1]

    convert(there, tmp_path / "converted", to="zh_albert", network_of=network_of)
    assert difference(numbers_here(network_here(tmp_path / "converted")), trained) < 1e-5
    assert load_config(tmp_path / "converted")[1] == settings


@pytest.mark.parametrize(
    ("head", "labels", "expected"),
    [
        ("classes", ["好", "坏"], {"labels": ["好", "坏"], "head": "classes"}),
        ("classes", ["坏", "中", "好"], {"labels": ["坏", "中", "好"]}),
        ("several labels", ["床", "早餐"], {"labels": ["床", "早餐"], "head": "multi_label"}),
        ("pairs", ["0", "1", "2"], {"labels": ["0", "1", "2"], "name": "pair"}),
        ("tags, BIOES", ["I-机构", "O", "B-机构"], {"tags": ["I-机构", "O", "B-机构"]}),
        ("words", ["O", "B-机构", "I-机构"], {"name": "ner", "head": "softmax"}),
    ],
)
def test_labels_given_there_count(
    head: str, labels: list[str], expected: dict[str, Any], tmp_path: Path
) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    save_ours(HEADS[head], ours)
    theirs = opened_there(HEADS[head], ours, **named(labels), ignore_mismatched_sizes=True)
    trained = trained_there(HEADS[head], theirs, there, ours)

    with pytest.warns(UserWarning, match="there/config.json: .*id2label"):
        network = network_here(there)
    assert difference(numbers_here(network), trained) < 1e-5
    with pytest.warns(UserWarning, match="there/config.json: .*id2label"):
        settings = load_config(there)[1]
    assert settings.items() >= expected.items()
    assert "threshold" not in settings

    with pytest.warns(UserWarning, match="there/config.json: .*id2label"):
        convert(there, tmp_path / "converted", to="zh_albert", network_of=network_of)
    assert difference(numbers_here(network_here(tmp_path / "converted")), trained) < 1e-5


@pytest.mark.parametrize(
    ("was", "becomes", "task"),
    [
        ("classes", "reading", "reading"),
        ("reading", "classes", "classification"),
        ("sentence vectors", "pairs", "classification"),
        ("tags, BIO", "choice", "choice"),
        ("classes", "masked words", "encoder"),
    ],
)
def test_another_head_given_there_counts(was: str, becomes: str, task: str, tmp_path: Path) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    save_ours(HEADS[was], ours)
    kind = getattr(transformers, HEADS[becomes].kind)
    theirs = kind.from_pretrained(ours, num_labels=2, ignore_mismatched_sizes=True).eval()
    trained = trained_there(HEADS[becomes], theirs, there, ours)

    with pytest.warns(
        UserWarning, match=f"there/config.json: .*it is for {task}, as architectures"
    ):
        assert load_config(there)[1]["name"] == task
    with pytest.warns(UserWarning, match="not for"):
        assert difference(numbers_here(network_here(there)), trained) < 1e-5


def test_scores_of_the_weights_before_are_left_out(tmp_path: Path) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    save_ours(HEADS["classes"], ours)
    content = json.loads((ours / "config.json").read_text(encoding="utf-8"))
    content["zh_albert"]["task"] |= {"dev": {"accuracy": 0.9}, "ngrams": {"weight": 1.0}}
    (ours / "config.json").write_text(json.dumps(content), encoding="utf-8")
    opened_there(HEADS["classes"], ours).save_pretrained(there)

    with pytest.warns(UserWarning, match="the weights may be others now: dev, ngrams"):
        settings = load_config(there)[1]
    assert settings["max_length"] == 16
    assert not {"dev", "ngrams"} & settings.keys()

    (there / NGRAMS).write_bytes(b"of the weights before")
    with pytest.warns(UserWarning, match="the weights may be others now"):
        convert(there, tmp_path / "new", to="zh_albert", network_of=network_of)
    assert not (tmp_path / "new" / NGRAMS).exists()


def test_values_in_unknown_units_are_refused(tmp_path: Path) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    save_ours(HEADS["value"], ours)
    content = json.loads((ours / "config.json").read_text(encoding="utf-8"))
    content["zh_albert"]["task"] |= {"mean": 3.0, "spread": 2.0}
    (ours / "config.json").write_text(json.dumps(content), encoding="utf-8")
    opened_there(HEADS["value"], ours).save_pretrained(there)

    with pytest.raises(CheckpointError, match=r"mean 3.0 and spread 2.0.*remove transformers_ver"):
        load(there)
    edited(there, transformers_version=None)  # as the error says
    assert load_config(there)[1]["mean"] == 3.0


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_layers_that_share_otherwise_now_are_read_so(groups: int, tmp_path: Path) -> None:
    theirs = begun_there("AlbertModel", tmp_path, num_hidden_layers=4, num_hidden_groups=groups)
    edited(tmp_path, zh_albert={"format_version": 2, "sharing": "none", "task": {}})
    config, _ = load_config(tmp_path)
    assert (config.sharing, config.num_hidden_groups) == (
        ("none", 1) if groups == 4 else ("all", groups)
    )
    kept = sum(parameter.numel() for parameter in theirs.parameters())
    convert(tmp_path, tmp_path / "ours", to="zh_albert", network_of=network_of)
    assert count_parameters(tmp_path / "ours") == kept


def test_a_tagger_begun_there_is_read_with_its_tags_in_any_order(tmp_path: Path) -> None:
    tags = ["I-人名", "B-地名", "O", "B-人名", "I-地名"]
    begun_there("AlbertForTokenClassification", tmp_path, **named(tags))
    tagger = load(tmp_path)
    assert tagger.task == "ner"
    assert {entity.type for entity in tagger(["房间很干净，服务也好"])[0]} <= {*KINDS}


def test_a_reader_begun_there_always_answers_and_says_so(tmp_path: Path) -> None:
    begun_there("AlbertForQuestionAnswering", tmp_path)
    with pytest.warns(UserWarning, match=r"config.json: no threshold .* so it always answers$"):
        reader = load(tmp_path)
    assert reader("房间好", "服务很干净也好").text


def test_a_multiple_choice_model_begun_there_is_read(tmp_path: Path) -> None:
    begun_there("AlbertForMultipleChoice", tmp_path)
    assert load(tmp_path).task == "choice"


def test_labels_without_names_are_told(tmp_path: Path) -> None:
    begun_there("AlbertForSequenceClassification", tmp_path)
    with pytest.warns(UserWarning, match="no names of labels in id2label, so they are LABEL_0"):
        classifier = load(tmp_path)
    assert classifier("服务也好")[0].label in {"LABEL_0", "LABEL_1"}


def test_our_settings_can_be_added_to_a_model_begun_there(tmp_path: Path) -> None:
    begun_there("AlbertForSequenceClassification", tmp_path, **named(["同", "异"]))
    edited(tmp_path, zh_albert={"task": {"name": "pair", "max_length": 12, "stride": 2}})
    assert load(tmp_path)([("服务好", "服务也好")])[0].label in {"同", "异"}


def test_a_threshold_can_be_added_to_a_reader_begun_there(tmp_path: Path) -> None:
    begun_there("AlbertForQuestionAnswering", tmp_path)
    edited(tmp_path, zh_albert={"task": {"name": "reading", "threshold": 1e3}})
    assert load(tmp_path)("房间好", "服务很干净也好").text == ""


@pytest.mark.parametrize(
    ("kind", "changes", "problem"),
    [
        (
            "AlbertForTokenClassification",
            named(["NOUN", "VERB"]),
            "expected the tags of one scheme .* found 'NOUN'; name them",
        ),
        (
            "AlbertForSequenceClassification",
            {"id2label": {"0": "a", "2": "b"}},
            "expected id2label to map the class numbers from 0 to names, found",
        ),
        (
            "AlbertForSequenceClassification",
            named(["a", "b", "c"]),
            "expected a label for each of the 2 rows of classifier.weight, found 3",
        ),
        (
            "AlbertForSequenceClassification",
            {"architectures": ["AlbertForQuestionAnswering"]},
            "missing qa_outputs.bias",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*so it always answers")
def test_what_cannot_be_right_is_refused_in_one_line(
    kind: str, changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    begun_there(kind, tmp_path / "there")
    edited(tmp_path / "there", **changes)
    for read in (
        load,
        lambda folder: convert(folder, tmp_path / "out", to="zh_albert", network_of=network_of),
    ):
        with pytest.raises(CheckpointError, match=problem) as caught:
            read(tmp_path / "there")
        assert str(tmp_path / "there") in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_folder_without_a_vocabulary_says_what_to_do(tmp_path: Path) -> None:
    begun_there("AlbertForQuestionAnswering", tmp_path)
    (tmp_path / "vocab.txt").unlink()
    with (
        pytest.warns(UserWarning, match="always answers"),
        pytest.raises(CheckpointError, match=r"tokenizer.json, found none; .*save_pretrained"),
    ):
        load(tmp_path)


def test_old_and_new_files_of_a_tokenizer_read_the_same(tmp_path: Path) -> None:
    ours, there = tmp_path / "ours", tmp_path / "there"
    save_ours(HEADS["classes"], ours)
    shutil.copytree(ours, there)
    (there / "vocab.txt").unlink()
    transformers.AutoTokenizer.from_pretrained(ours).save_pretrained(there)
    (there / "manifest.json").unlink()
    assert (there / "tokenizer.json").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(there)(["服务也好"]) == load(ours)(["服务也好"])


@pytest.mark.filterwarnings("ignore:.*left out")
def test_an_export_of_what_was_saved_there_opens(tmp_path: Path) -> None:
    ours, there, exported = tmp_path / "ours", tmp_path / "there", tmp_path / "exported"
    save_ours(HEADS["classes"], ours)
    opened_there(HEADS["classes"], ours).save_pretrained(there)
    transformers.AutoTokenizer.from_pretrained(ours).save_pretrained(there)
    (there / "vocab.txt").unlink(missing_ok=True)  # version 5 writes tokenizer.json alone
    export(there, exported, form="onnx", precision="fp32")
    [expected], [found] = (load(folder)(["服务也好"]) for folder in (there, exported))
    assert found.label == expected.label
    assert found.score == pytest.approx(expected.score, abs=1e-4)
