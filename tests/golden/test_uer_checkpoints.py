"""Checkpoints of UER-py and TencentPretrain, made from a model of ``transformers``.

The names are those their own converters use.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from zh_albert.checkpoints.convert import convert_folder
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.errors import CheckpointError
from zh_albert.model.pretraining_heads import AlbertForPretraining

GROUP = "albert.encoder.albert_layer_groups.0.albert_layers.0"
BLOCK = {
    "self_attn.linear_layers.0": f"{GROUP}.attention.query",
    "self_attn.linear_layers.1": f"{GROUP}.attention.key",
    "self_attn.linear_layers.2": f"{GROUP}.attention.value",
    "self_attn.final_linear": f"{GROUP}.attention.dense",
    "layer_norm_1": f"{GROUP}.attention.LayerNorm",
    "feed_forward.linear_1": f"{GROUP}.ffn",
    "feed_forward.linear_2": f"{GROUP}.ffn_output",
    "layer_norm_2": f"{GROUP}.full_layer_layer_norm",
}
# Names of one generation: words, positions, types; masked LM's norm and what its layers begin
# with; the same of the sentence order.
GENERATIONS = {
    "oldest": ("word_embedding", "position_embedding", "segment_embedding", "", "mlm_", "sop_"),
    "old": ("word_embedding", "position_embedding", "segment_embedding", "", "mlm_", "sp_"),
    "between": ("word.embedding", "pos.embedding", "seg.embedding", "", "mlm.", "sp."),
    "newest": ("word.embedding", "pos.embedding", "seg.embedding", "mlm.", "mlm.", "sp."),
}
CONFIG = {
    "emb_size": 6,
    "feedforward_size": 19,
    "hidden_size": 12,
    "hidden_act": "relu",
    "heads_num": 2,
    "layers_num": 3,
    "dropout": 0.0,
}
IDS = torch.tensor([[2, 5, 6, 7, 3, 8, 9, 3], [2, 10, 11, 3, 0, 0, 0, 0]])
TYPES = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0] * 8])
MASK = IDS != 0


def make_model(activation: str, *, own_layers: bool = False) -> transformers.AlbertForPreTraining:
    torch.manual_seed(0)
    config = transformers.AlbertConfig(
        vocab_size=14,
        embedding_size=6,
        hidden_size=12,
        num_hidden_layers=3,
        num_hidden_groups=3 if own_layers else 1,
        num_attention_heads=2,
        intermediate_size=19,
        hidden_act=activation,
        max_position_embeddings=16,
    )
    model = transformers.AlbertForPreTraining(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def to_uer(model: transformers.AlbertForPreTraining, generation: str) -> dict[str, torch.Tensor]:
    """Rename a model's tensors."""
    theirs = model.state_dict()
    words, positions, types, norm, masked, order = GENERATIONS[generation]
    modules = {
        "embedding.layer_norm": "albert.embeddings.LayerNorm",
        "encoder.linear": "albert.encoder.embedding_hidden_mapping_in",
        f"target.{order}linear_1": "albert.pooler",
        f"target.{order}linear_2": "sop_classifier.classifier",
        f"target.{masked}linear_1": "predictions.dense",
        f"target.{norm}layer_norm": "predictions.LayerNorm",
    }
    layers = model.config.num_hidden_groups
    for layer in range(layers):
        scope = f"encoder.transformer.{layer}." if layers > 1 else "encoder.transformer."
        for part, module in BLOCK.items():
            modules[scope + part] = module.replace("groups.0", f"groups.{layer}")
    result = {}
    for module, original in modules.items():
        endings = ("gamma", "beta") if "layer_norm" in module else ("weight", "bias")
        for ending, kind in zip(endings, ("weight", "bias"), strict=True):
            result[f"{module}.{ending}"] = theirs[f"{original}.{kind}"]
    table = theirs["albert.embeddings.word_embeddings.weight"]
    two_types = theirs["albert.embeddings.token_type_embeddings.weight"]
    position_table = theirs["albert.embeddings.position_embeddings.weight"]
    return result | {
        f"embedding.{words}.weight": table,
        f"embedding.{positions}.weight": position_table,
        f"embedding.{types}.weight": torch.cat([torch.zeros(1, 6), two_types]),
        f"target.{masked}linear_2.weight": table.clone(),
        f"target.{masked}linear_2.bias": theirs["predictions.bias"],
    }


def save(folder: Path, tensors: dict[str, Any], **changes: Any) -> Path:
    folder.mkdir()
    torch.save(tensors, folder / "albert_base.bin-1000.bin")
    content = json.dumps(CONFIG | changes)
    (folder / "base_config.json").write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    ("activation", "theirs", "own_layers"),
    [("relu", "relu", False), ("gelu", "gelu", True), ("gelu_new", "gelu_fast", False)],
)
def test_uer_says_what_transformers_says(
    generation: str, activation: str, theirs: str, own_layers: bool, tmp_path: Path
) -> None:
    original = make_model(activation, own_layers=own_layers)
    source = save(tmp_path / "uer", to_uer(original, generation), hidden_act=theirs)
    convert_folder(source, tmp_path / "ours", to="zh_albert")
    config, _ = load_config(tmp_path / "ours")
    model = AlbertForPretraining(config).eval()
    load_weights(model, tmp_path / "ours")
    with torch.no_grad():
        said = model(IDS, TYPES, MASK, torch.nonzero(MASK))
        expected = original(IDS, attention_mask=MASK.long(), token_type_ids=TYPES)

    assert config.type_vocab_size == 2
    torch.testing.assert_close(said.masked, expected.prediction_logits[MASK], rtol=0, atol=1e-4)
    torch.testing.assert_close(said.order, expected.sop_logits, rtol=0, atol=1e-4)


def test_one_file_is_enough_of_a_source(tmp_path: Path) -> None:
    source = save(tmp_path / "uer", to_uer(make_model("relu"), "old"))
    convert_folder(source / "albert_base.bin-1000.bin", tmp_path / "ours", to="huggingface")

    assert transformers.AlbertModel.from_pretrained(tmp_path / "ours").config.hidden_size == 12


def test_an_output_matrix_of_its_own_is_refused(tmp_path: Path) -> None:
    tensors = to_uer(make_model("relu"), "old")
    tensors["target.mlm_linear_2.weight"] += 1
    source = save(tmp_path / "uer", tensors)

    with pytest.raises(CheckpointError, match="only tied embeddings"):
        convert_folder(source, tmp_path / "ours", to="zh_albert")


def test_what_does_not_fit_has_the_name_it_has_there(tmp_path: Path) -> None:
    tensors = to_uer(make_model("relu"), "old")
    del tensors["encoder.transformer.layer_norm_2.beta"]
    tensors["target.mlm_linear_1.bias"] = torch.zeros(5)
    tensors["extra.weight"] = torch.zeros(2, 1)
    source = save(tmp_path / "uer", tensors)

    with pytest.raises(CheckpointError) as caught:
        convert_folder(source, tmp_path / "ours", to="zh_albert")

    message = str(caught.value)
    assert "the weights do not fit the model (3)" in message
    assert "missing encoder.transformer.layer_norm_2.beta (12,)" in message
    assert "target.mlm_linear_1.bias: expected shape (6,), found (5,)" in message
    assert "left over extra.weight (2, 1)" in message
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads_num": None}, "base_config.json: lacks heads_num"),
        ({"hidden_act": "swish"}, "unknown hidden_act 'swish'; known: gelu, gelu_fast, relu"),
        ({"layernorm_positioning": "pre"}, "layernorm_positioning must be 'post', found 'pre'"),
        ({"heads_num": 5}, r"hidden_size \(12\) must be a multiple of num_attention_heads \(5\)"),
    ],
)
def test_settings_that_cannot_work_are_told(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    source = save(tmp_path / "uer", to_uer(make_model("relu"), "old"), **changes)

    with pytest.raises(CheckpointError, match=message):
        convert_folder(source, tmp_path / "ours", to="zh_albert")


def test_a_bert_of_theirs_is_refused(tmp_path: Path) -> None:
    source = save(tmp_path / "uer", {"embedding.word_embedding.weight": torch.zeros(14, 12)})

    with pytest.raises(CheckpointError, match="not an ALBERT checkpoint"):
        convert_folder(source, tmp_path / "ours", to="zh_albert")
