"""Model folders: what is saved comes back, what does not fit is named."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import nn

from zh_albert.checkpoints.store import load_config, load_weights, named_tensors, save_model
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining

CONFIG = AlbertConfig(
    vocab_size=20,
    embedding_size=6,
    hidden_size=12,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=19,
    max_position_embeddings=16,
)
FILES = {"vocab.txt": "[PAD]\n房\n", "README.md": b"# card\n"}
TASK = {"name": "classification", "labels": ["负面", "正面"], "pooling": "first"}
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "groups": {"num_hidden_groups": 2},
    "none": {"sharing": "none"},
    "attention": {"sharing": "attention"},
    "ffn, two groups": {"sharing": "ffn", "num_hidden_groups": 2},
    "brightmart": {"embedding_layout": "brightmart"},
    "pre-norm": {"norm_position": "pre", "sharing": "none"},
    "pruned": {"num_hidden_groups": 2, "block_heads": (1, 2), "block_neurons": (7, 3)},
    "narrow heads": {"head_size": 5, "sharing": "ffn"},
    "plan": {"plan": ((0, 0), (1, 0), (0, 1)), "block_neurons": (4, 9), "head_size": 4},
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small pretraining model's folder, in float32."""
    torch.manual_seed(0)
    model = AlbertForPretraining(CONFIG)
    folder = tmp_path / "model"
    save_model(folder, model=model, config=CONFIG, files=FILES, task={}, dtype=torch.float32)
    return folder


def equal(model: nn.Module, other: nn.Module) -> bool:
    ours, theirs = named_tensors(model), named_tensors(other)
    return ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)


def change_config(folder: Path, **changes: Any) -> None:
    (folder / "manifest.json").unlink(missing_ok=True)  # else the change itself is refused
    path = folder / "config.json"
    content = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    path.write_text(json.dumps(content), encoding="utf-8")


def change_tensors(folder: Path, changes: dict[str, torch.Tensor | None]) -> None:
    (folder / "manifest.json").unlink(missing_ok=True)  # else the change itself is refused
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    tensors = {n: t for n, t in {**tensors, **changes}.items() if t is not None}
    safetensors.torch.save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_comes_back(variant: str, tmp_path: Path) -> None:
    config = replace(CONFIG, **VARIANTS[variant])
    model = AlbertForPretraining(config)
    save_model(
        tmp_path / "m", model=model, config=config, files=FILES, task={}, dtype=torch.float32
    )

    found, task = load_config(tmp_path / "m")
    other = AlbertForPretraining(found)
    load_weights(other, tmp_path / "m")

    assert found == config
    assert task == {}
    assert equal(model, other)
    assert (tmp_path / "m/vocab.txt").read_text(encoding="utf-8") == "[PAD]\n房\n"


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_task_and_half_precision(pooling: Any, tmp_path: Path) -> None:
    model = SequenceClassifier(CONFIG, 2, pooling=pooling)
    save_model(tmp_path / "m", model=model, config=CONFIG, files=FILES, task=TASK)
    other = SequenceClassifier(CONFIG, 2, pooling=pooling)
    load_weights(other, tmp_path / "m")

    content = json.loads((tmp_path / "m/config.json").read_text(encoding="utf-8"))
    stored = safetensors.torch.load_file(tmp_path / "m/model.safetensors")
    assert load_config(tmp_path / "m") == (CONFIG, TASK)
    assert content["id2label"] == {"0": "负面", "1": "正面"}
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    assert {parameter.dtype for parameter in other.parameters()} == {torch.float32}
    # Below 6e-5 float16 has fewer digits.
    torch.testing.assert_close(
        other.classifier.weight, model.classifier.weight, rtol=1e-3, atol=1e-6
    )


def test_a_folder_others_would_misread_does_not_call_itself_albert(tmp_path: Path) -> None:
    model = SequenceClassifier(CONFIG, 2, pooling="mean")
    save_model(tmp_path, model=model, config=CONFIG, files=FILES, task=TASK)

    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert content["model_type"] == "zh_albert"
    assert content["zh_albert"]["tensor_names"] == "zh_albert"


def test_fine_tuning_takes_the_encoder_and_leaves_the_heads(saved: Path) -> None:
    classifier = SequenceClassifier(CONFIG, 2)
    start = classifier.classifier.weight.clone()
    load_weights(classifier, saved, new=("classifier.",), left_over="heads")
    encoder = AlbertEncoder(CONFIG)
    load_weights(encoder, saved, left_over="heads")

    assert torch.equal(classifier.classifier.weight, start)
    assert equal(classifier.encoder, encoder)


def test_a_new_part_is_new_also_where_the_folder_has_one(tmp_path: Path) -> None:
    save_model(tmp_path, model=SequenceClassifier(CONFIG, 5), config=CONFIG, files=FILES, task=TASK)
    classifier = SequenceClassifier(CONFIG, 2)
    start = classifier.classifier.weight.clone()

    load_weights(classifier, tmp_path, new=("classifier.",))

    assert torch.equal(classifier.classifier.weight, start)


def test_all_that_does_not_fit_is_listed_and_nothing_is_changed(saved: Path) -> None:
    changes = {
        "albert.pooler.bias": None,
        "predictions.bias": torch.zeros(3),
        "sop_classifier.classifier.bias": torch.zeros(2, dtype=torch.int32),
        "extra.weight": torch.zeros(1, 2),
    }
    change_tensors(saved, changes)
    model = AlbertForPretraining(CONFIG)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    with pytest.raises(CheckpointError) as caught:
        load_weights(model, saved)

    message = str(caught.value)
    assert "the weights do not fit the model (4)" in message
    assert "missing albert.pooler.bias (12,)" in message
    assert "left over extra.weight (1, 2)" in message
    assert "predictions.bias: expected shape (20,), found (3,)" in message
    assert "sop_classifier.classifier.bias: expected floating point, found torch.int32" in message
    assert "\n" not in message
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_heads_are_refused_unless_asked_for(saved: Path) -> None:
    with pytest.raises(CheckpointError, match=r"left over predictions.bias"):
        load_weights(AlbertEncoder(CONFIG), saved)


@pytest.mark.parametrize(
    "change",
    [{"num_hidden_layers": 2}, {"num_attention_heads": 3}, {"hidden_act": "gelu"}],
    ids=str,
)
def test_weights_that_would_mean_something_else_are_refused(
    change: dict[str, Any], saved: Path
) -> None:
    (name, value) = next(iter(change.items()))
    model = AlbertForPretraining(replace(CONFIG, **change))

    with pytest.raises(CheckpointError, match=f"expected {name} {value!r}"):
        load_weights(model, saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plan": ((0, 0), (1, 1), (0, 0))}, "expected plan .*found"),
        ({"head_size": 4, "num_attention_heads": 3}, "expected num_attention_heads 3, found 2"),
        ({"head_size": 4, "block_heads": (3, 3)}, "expected head_size 4, found 6"),
    ],
)
def test_other_plans_and_heads_in_weights_of_the_same_shapes_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    config = replace(CONFIG, num_hidden_groups=2)
    model = AlbertEncoder(config)
    save_model(tmp_path, model=model, config=config, files={}, task={})

    with pytest.raises(CheckpointError, match=message):
        load_weights(AlbertEncoder(replace(config, **change)), tmp_path)


def test_a_plan_that_sharing_could_say_takes_the_weights_of_that_sharing(saved: Path) -> None:
    model = AlbertForPretraining(replace(CONFIG, plan=((0, 0),) * 3))
    load_weights(model, saved)


def test_only_a_folder_with_fields_of_blocks_says_so_and_is_none_for_others(
    saved: Path, tmp_path: Path
) -> None:
    config = replace(CONFIG, block_heads=(1,), head_size=6)
    save_model(tmp_path, model=AlbertEncoder(config), config=config, files=FILES, task={})
    plain, pruned = (
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
        for folder in (saved, tmp_path)
    )

    assert plain["model_type"] == "albert"
    assert (plain["zh_albert"]["format_version"], pruned["zh_albert"]["format_version"]) == (2, 3)
    assert pruned["model_type"] == "zh_albert"
    assert pruned["zh_albert"]["block_heads"] == [1]
    assert "plan" not in pruned["zh_albert"]
    text = (saved / "config.json").read_text(encoding="utf-8")
    assert not any(name in text for name in ("head_size", "block_", "plan"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"block_heads": "many"}, "config.json: block_heads: expected a valid tuple"),
        ({"block_heads": [0]}, "block_heads must be at least 1 each, got 0"),
        ({"block_neurons": [3, 3]}, "each of the 1 ffn blocks, got 2"),
        ({"head_size": 0.5}, "config.json: head_size: "),
        ({"plan": [[0, 0, 0]] * 3}, r"config.json: plan\[0\]: "),
        ({"plan": [[0, 0], [0, 2], [0, 0]]}, "number the ffn blocks from 0 without gaps"),
        ({"head_size": 10**9}, "expected sizes that fit the weights"),
        ({"block_neurons": [10**9]}, "expected sizes that fit the weights"),
        ({"layer": "rnn"}, "config.json: layer: "),
        ({"layer": ["lstm"]}, "config.json: layer: "),
        ({"layer": "lstm", "plan": [[0, 0]] * 3}, "plan are of transformer layers"),
    ],
)
def test_fields_of_blocks_that_cannot_work_are_refused(
    fields: dict[str, Any], message: str, saved: Path
) -> None:
    change_config(saved, zh_albert=fields)

    with pytest.raises(CheckpointError, match=message) as caught:
        load_config(saved)

    assert "\n" not in str(caught.value)


def test_lstms_of_sizes_beyond_their_weights_are_refused(saved: Path) -> None:
    change_config(saved, hidden_size=20_000, zh_albert={"layer": "lstm"})

    with pytest.raises(CheckpointError, match="expected sizes that fit the weights"):
        load_config(saved)


def test_untied_output_embeddings_are_refused(saved: Path) -> None:
    change_tensors(saved, {"predictions.decoder.weight": torch.zeros(20, 6)})

    with pytest.raises(CheckpointError, match="only tied embeddings"):
        load_weights(AlbertForPretraining(CONFIG), saved)


def test_copies_and_constants_of_old_files_are_passed_over(saved: Path) -> None:
    table = AlbertForPretraining(CONFIG)
    load_weights(table, saved)
    changes: dict[str, torch.Tensor | None] = {
        "predictions.decoder.weight": table.encoder.embeddings.word.weight.detach().clone(),
        "predictions.decoder.bias": table.masked_lm.bias.detach().clone(),
        "predictions.bias": None,
        "albert.embeddings.position_ids": torch.arange(16),
    }
    change_tensors(saved, changes)
    other = AlbertForPretraining(CONFIG)
    load_weights(other, saved)

    assert equal(table, other)


def test_groups_that_no_layer_runs_are_passed_over(tmp_path: Path) -> None:
    """As in albert_config_tiny_google_fast.json: 4 layers, 12 groups."""
    config = replace(CONFIG, num_hidden_layers=4, num_hidden_groups=4)
    model = AlbertEncoder(config)
    save_model(tmp_path, model=model, config=config, files={}, task={}, dtype=torch.float32)
    tensors = safetensors.torch.load_file(tmp_path / "model.safetensors")
    spread = {n: t for n, t in tensors.items() if "groups." not in n}
    for group in range(12):
        for name, tensor in tensors.items():
            if f"groups.{group // 3}." in name:
                renamed = name.replace(f"groups.{group // 3}.", f"groups.{group}.")
                spread[renamed] = tensor if group % 3 == 0 else torch.full_like(tensor, 9)
    (tmp_path / "model.safetensors").unlink()
    safetensors.torch.save_file(spread, tmp_path / "model.safetensors")
    change_config(tmp_path, num_hidden_groups=12)

    found, _ = load_config(tmp_path)
    other = AlbertEncoder(found)
    load_weights(other, tmp_path)

    assert found.num_hidden_groups == 12
    assert equal(model, other)


def test_saving_again_replaces_the_model_and_keeps_other_files(saved: Path) -> None:
    (saved / "training").mkdir()
    (saved / "training/metrics.jsonl").write_text("{}\n", encoding="utf-8")
    model = AlbertForPretraining(CONFIG)
    save_model(saved, model=model, config=CONFIG, files={}, task={}, dtype=torch.float32)
    other = AlbertForPretraining(CONFIG)
    load_weights(other, saved)

    assert equal(model, other)
    assert (saved / "training/metrics.jsonl").exists()
    assert (saved / "vocab.txt").exists()
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_another_vocabulary_takes_the_place_of_the_one_before(saved: Path) -> None:
    model, files = AlbertForPretraining(CONFIG), {"tokenizer_config.json": b"{}", "vocab.txt": b"a"}
    save_model(saved, model=model, config=CONFIG, files=files, task={})
    (saved / "notes.txt").write_text("mine", encoding="utf-8")
    save_model(saved, model=model, config=CONFIG, files={"spiece.model": b"b"}, task={})
    assert not (saved / "vocab.txt").exists()
    assert not (saved / "tokenizer_config.json").exists()
    assert (saved / "spiece.model").read_bytes() == b"b"
    assert (saved / "notes.txt").exists()


@pytest.mark.parametrize(("value", "dtype"), [(1e5, torch.float16), (torch.nan, torch.float32)])
def test_numbers_that_would_be_lost_are_not_saved(
    value: float, dtype: torch.dtype, tmp_path: Path
) -> None:
    encoder = AlbertEncoder(CONFIG)
    with torch.no_grad():
        encoder.pooler.bias[0] = value

    with pytest.raises(CheckpointError, match=r"not finite as .*albert.pooler.bias"):
        save_model(tmp_path / "m", model=encoder, config=CONFIG, files={}, task={}, dtype=dtype)


def damage(folder: Path, what: str) -> None:  # noqa: PLR0912  (one way a branch)
    """Spoil a good model folder in one way."""
    config, weights = folder / "config.json", folder / "model.safetensors"
    match what:
        case "missing folder":
            shutil.rmtree(folder)
        case "a file":
            shutil.rmtree(folder)
            folder.write_text("", encoding="utf-8")
        case "no model":
            config.unlink()
        case "unfinished":
            config.unlink()
            weights.unlink()
            (folder / "training").mkdir()
        case "broken config":
            config.write_text('{"model_type": "albert",', encoding="utf-8")
        case "not UTF-8":
            config.write_bytes('{"标签": 1}'.encode("gb18030"))
        case "not an object":
            config.write_text("[]", encoding="utf-8")
        case "another model":
            change_config(folder, model_type="bert")
        case "lacking":
            change_config(folder, hidden_size=None)
        case "wrong type":
            change_config(folder, hidden_size="wide")
        case "impossible":
            change_config(folder, num_attention_heads=5)
        case "inner groups":
            change_config(folder, inner_group_num=2)
        case "newer":
            change_config(folder, zh_albert={"format_version": 4})
        case "no weights":
            weights.unlink()
        case "pickle only":
            weights.rename(folder / "pytorch_model.bin")
        case "truncated":
            weights.write_bytes(weights.read_bytes()[:-100])
        case "empty":
            weights.write_bytes(b"")
        case "damaged":
            weights.write_bytes(b"\xff" * 4096)
        case "index leads out":
            weights.unlink()
            index = json.dumps({"weight_map": {"a": "../secret.safetensors"}})
            (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("missing folder", "no such folder; expected a model folder with config.json"),
        ("a file", "found a file; expected a model folder"),
        ("no model", "no readable config.json"),
        ("unfinished", "training there has not finished .* with --resume"),
        ("broken config", "config.json: not JSON: .*line 1 column 25"),
        ("not UTF-8", "byte 3 is not UTF-8"),
        ("not an object", "expected a JSON object, found list"),
        ("another model", "expected model_type 'albert', found 'bert'"),
        ("lacking", "config.json: lacks hidden_size"),
        ("wrong type", "hidden_size: expected a valid integer.*found 'wide'"),
        ("impossible", r"hidden_size \(12\) must be a multiple of num_attention_heads \(5\)"),
        ("inner groups", "inner_group_num must be 1, found 2"),
        ("newer", "expected format_version 1 to 3, found 4"),
        ("no weights", "model.safetensors: no such file"),
        ("pickle only", "found pytorch_model.bin, a pickle.*save_pretrained"),
        ("truncated", "not a complete safetensors file"),
        ("empty", "not a complete safetensors file .*0 bytes"),
        ("damaged", "not a complete safetensors file"),
        ("index leads out", "'../secret.safetensors' is not a file name"),
    ],
)
def test_damage_is_told_in_one_line(what: str, message: str, saved: Path) -> None:
    (saved / "manifest.json").unlink()  # as of another program
    damage(saved, what)

    with pytest.raises(CheckpointError, match=message) as caught:
        load_weights(AlbertForPretraining(CONFIG), saved)

    assert "\n" not in str(caught.value)
    assert str(saved) in str(caught.value)
