"""Folders this project writes, opened by ``transformers``, and the other way round."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from tests.helpers.spread_models import CONFIG, FILES, IDS, MASK, TYPES, spread
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.huggingface import write_huggingface
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.errors import CheckpointError
from zh_albert.model.config import SAME_ACTIVATIONS
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining

TASK = {"name": "classification", "labels": ["负面", "中性", "正面"], "pooling": "first"}
PLAIN: dict[str, dict[str, Any]] = {
    "all": {},
    "erf gelu": {"hidden_act": "gelu"},
    "two groups": {"num_hidden_groups": 2},
    "none": {"sharing": "none"},
    "more groups than layers": {"num_hidden_groups": 7},
}
EXPANDED: dict[str, dict[str, Any]] = {
    "attention": {"sharing": "attention"},
    "ffn, two groups": {"sharing": "ffn", "num_hidden_groups": 2},
}


pytestmark = pytest.mark.usefixtures("quiet_transformers")


def opened(kind: Any, folder: Path, *, may_leave: tuple[str, ...] = ()) -> Any:
    """Open a folder in transformers; nothing may be missing there."""
    model, report = kind.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["mismatched_keys"]
    assert all(name.startswith(may_leave) for name in report["unexpected_keys"])
    return model.eval()


def assert_equal(actual: Tensor, expected: Tensor) -> None:
    assert actual.dtype == expected.dtype == torch.float32
    assert (actual - expected).abs().max() / expected.abs().max() < 1e-5


@pytest.mark.parametrize("variant", PLAIN | EXPANDED)
def test_pretraining_model_opens_with_equal_outputs(variant: str, tmp_path: Path) -> None:
    config = replace(CONFIG, **(PLAIN | EXPANDED)[variant])
    model = spread(AlbertForPretraining(config))
    write = save_model if variant in PLAIN else write_huggingface
    write(tmp_path, model=model, config=config, files=FILES, task={}, dtype=torch.float32)
    rows, columns = torch.nonzero(MASK, as_tuple=True)

    with torch.inference_mode():
        ours = model.encoder(IDS, TYPES, MASK).hidden
        pooled = model.encoder.pool(ours)
        masked, order = model(IDS, TYPES, MASK, torch.stack([rows, columns], -1))
        inputs = {"input_ids": IDS, "attention_mask": MASK.long(), "token_type_ids": TYPES}
        heads = ("predictions", "sop_classifier", "albert.pooler", "pooler")
        encoder = opened(transformers.AutoModel, tmp_path, may_leave=heads)(**inputs)
        filler = opened(transformers.AutoModelForMaskedLM, tmp_path, may_leave=heads)(**inputs)
        full = opened(transformers.AlbertForPreTraining, tmp_path)(**inputs)

    assert_equal(ours[MASK], encoder.last_hidden_state[MASK])
    assert_equal(pooled, encoder.pooler_output)
    assert_equal(masked, filler.logits[MASK])
    assert_equal(masked, full.prediction_logits[MASK])
    assert_equal(order, full.sop_logits)


def test_bare_encoder_opens(tmp_path: Path) -> None:
    encoder = spread(AlbertEncoder(CONFIG))
    save_model(tmp_path, model=encoder, config=CONFIG, files=FILES, task={}, dtype=torch.float32)

    with torch.inference_mode():
        theirs = opened(transformers.AutoModel, tmp_path)(IDS, MASK.long(), TYPES)
        assert_equal(encoder(IDS, TYPES, MASK).hidden[MASK], theirs.last_hidden_state[MASK])


def test_half_precision_classifier_opens_in_float32_with_its_labels(tmp_path: Path) -> None:
    save_model(
        tmp_path,
        model=spread(SequenceClassifier(CONFIG, 3)),
        config=CONFIG,
        files=FILES,
        task=TASK,
    )
    ours = SequenceClassifier(CONFIG, 3).eval()
    load_weights(ours, tmp_path)

    theirs = opened(transformers.AutoModelForSequenceClassification, tmp_path)
    with torch.inference_mode():
        assert_equal(ours(IDS, TYPES, MASK), theirs(IDS, MASK.long(), TYPES).logits)
    assert theirs.config.id2label == {0: "负面", 1: "中性", 2: "正面"}


def test_tokenizer_opens(tmp_path: Path) -> None:
    model = AlbertEncoder(CONFIG)
    save_model(tmp_path, model=model, config=CONFIG, files=FILES, task={})

    for kind in (transformers.BertTokenizer, transformers.AutoTokenizer):
        tokenizer = kind.from_pretrained(tmp_path)
        assert tokenizer("房间很好")["input_ids"] == [2, 5, 6, 7, 14, 3]


@pytest.mark.parametrize(
    "variant", [{"embedding_layout": "brightmart"}, {"norm_position": "pre"}], ids=str
)
def test_what_transformers_cannot_compute_is_refused(
    variant: dict[str, Any], tmp_path: Path
) -> None:
    config = replace(CONFIG, **variant)
    model = AlbertEncoder(config)
    with pytest.raises(CheckpointError, match=f"has no {next(iter(variant))}"):
        write_huggingface(tmp_path / "m", model=model, config=config, files={}, task={})

    assert not (tmp_path / "m").exists()
    save_model(tmp_path / "own", model=model, config=config, files={}, task={})
    with pytest.raises(ValueError, match="zh_albert"):  # loudly, not with random weights
        transformers.AutoModel.from_pretrained(tmp_path / "own")


@pytest.mark.parametrize("shard", ["10GB", "5KB"])
def test_pretraining_folder_of_transformers_opens_here(shard: str, tmp_path: Path) -> None:
    theirs = transformers.AlbertForPreTraining(
        transformers.AlbertConfig(
            vocab_size=20,
            embedding_size=6,
            hidden_size=12,
            num_hidden_layers=4,
            num_hidden_groups=2,
            num_attention_heads=2,
            intermediate_size=19,
            hidden_act="gelu",
        )
    ).eval()
    theirs.save_pretrained(tmp_path, max_shard_size=shard)
    assert (tmp_path / "model.safetensors.index.json").exists() == (shard == "5KB")

    config, task = load_config(tmp_path)
    ours = AlbertForPretraining(config).eval()
    load_weights(ours, tmp_path)

    assert task == {"name": "encoder"}
    assert (config.hidden_act, config.num_hidden_groups) == ("gelu", 2)
    positions = torch.tensor([[0, 1]])
    with torch.inference_mode():
        expected = theirs(IDS, MASK.long(), TYPES)
        actual = ours(IDS, TYPES, MASK, positions)
    assert_equal(actual.masked, expected.prediction_logits[:1, 1])
    assert_equal(actual.order, expected.sop_logits)


@pytest.mark.parametrize("kind", ["AlbertModel", "AlbertForMaskedLM"])
def test_encoders_of_transformers_open_here(kind: str, tmp_path: Path) -> None:
    sizes = {k: getattr(CONFIG, k) for k in ("vocab_size", "embedding_size", "hidden_size")}
    published = transformers.AlbertConfig(
        **sizes, num_hidden_layers=2, num_attention_heads=2, intermediate_size=19
    )
    theirs = getattr(transformers, kind)(published).eval()
    theirs.save_pretrained(tmp_path)
    config, _ = load_config(tmp_path)
    ours = AlbertEncoder(config).eval()

    if kind == "AlbertForMaskedLM":  # has no pooler
        with pytest.raises(CheckpointError, match=r"missing albert.pooler.bias"):
            load_weights(ours, tmp_path, left_over="heads")
    load_weights(ours, tmp_path, new=("encoder.pooler.",), left_over="heads")

    base = theirs if kind == "AlbertModel" else theirs.albert
    with torch.inference_mode():
        expected = base(IDS, MASK.long(), TYPES).last_hidden_state
        assert_equal(ours(IDS, TYPES, MASK).hidden[MASK], expected[MASK])


def test_classifier_of_transformers_opens_here(tmp_path: Path) -> None:
    published = transformers.AlbertConfig(
        vocab_size=20,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=19,
        id2label={0: "负面", 1: "正面"},
        label2id={"负面": 0, "正面": 1},
    )
    theirs = transformers.AlbertForSequenceClassification(published).eval()
    theirs.save_pretrained(tmp_path)

    config, task = load_config(tmp_path)
    ours = SequenceClassifier(config, len(task["labels"]), pooling=task["pooling"]).eval()
    load_weights(ours, tmp_path)

    assert task["labels"] == ["负面", "正面"]
    with torch.inference_mode():
        assert_equal(ours(IDS, TYPES, MASK), theirs(IDS, MASK.long(), TYPES).logits)


def test_config_says_which_class_to_open(tmp_path: Path) -> None:
    save_model(tmp_path, model=AlbertEncoder(CONFIG), config=CONFIG, files=FILES, task={})

    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert content["architectures"] == ["AlbertModel"]
    assert content["model_type"] == "albert"


def test_weights_in_8_bits_are_refused_and_not_misread(tmp_path: Path) -> None:
    model = AlbertEncoder(CONFIG)
    save_model(tmp_path, model=model, config=CONFIG, files=FILES, task={}, dtype=torch.int8)

    with pytest.raises(ValueError, match="zh_albert"):
        transformers.AutoModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", [*SAME_ACTIVATIONS, "gelu_new", "gelu", "relu"])
def test_an_activation_by_any_of_its_names_is_computed(name: str, tmp_path: Path) -> None:
    sizes = {"hidden_size": 12, "num_attention_heads": 2, "intermediate_size": 19}
    config = transformers.AlbertConfig(
        vocab_size=20, embedding_size=6, num_hidden_layers=2, hidden_act=name, **sizes
    )
    theirs = transformers.AlbertModel(config).double().eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    theirs.save_pretrained(tmp_path)

    ours = AlbertEncoder(load_config(tmp_path)[0]).double().eval()
    load_weights(ours, tmp_path)
    with torch.inference_mode():
        expected = theirs(IDS, MASK.long(), TYPES).last_hidden_state
        actual = ours(IDS, TYPES, MASK).hidden
    torch.testing.assert_close(actual[MASK], expected[MASK], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["quick_gelu", "gelu_10", "silu", "tanh"])
def test_another_activation_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    config = transformers.AlbertConfig(hidden_act=name, vocab_size=20)
    (tmp_path / "config.json").write_text(config.to_json_string(), encoding="utf-8")

    with pytest.raises(CheckpointError, match=rf"hidden_act: expected .* found '{name}'"):
        load_config(tmp_path)


def test_a_model_with_ngrams_is_refused_and_not_read_without_them(tmp_path: Path) -> None:
    model, files = SequenceClassifier(CONFIG, 3), {**FILES, NGRAMS: b"n-grams"}
    how: dict[str, Any] = {"model": model, "config": CONFIG, "files": files, "task": TASK}
    save_model(tmp_path / "ours", **how)
    with pytest.raises(ValueError, match="zh_albert"):
        transformers.AutoModel.from_pretrained(tmp_path / "ours")
    with pytest.raises(CheckpointError, match="ALBERT in transformers has no n-grams"):
        write_huggingface(tmp_path / "theirs", **how)
    assert not (tmp_path / "theirs").exists()
