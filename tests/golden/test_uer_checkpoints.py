"""Checkpoints of UER-py and TencentPretrain, against their formulas written in numpy.

Names of all generations are those that their own converters use.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from tests.helpers import numpy_uer
from tests.helpers.numpy_albert import IDS, MASK, TYPES, WORDS
from tests.helpers.numpy_uer import CONFIG, GENERATIONS
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.errors import CheckpointError
from zh_albert.inference.loading import load
from zh_albert.model.pretraining_heads import AlbertForPretraining


def make_tensors(generation: str = "old", *, own_layers: bool = False) -> dict[str, torch.Tensor]:
    tensors = numpy_uer.renamed(numpy_uer.random_tensors(own_layers=own_layers), generation)
    return {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}


def save(folder: Path, tensors: dict[str, Any], **changes: Any) -> Path:
    folder.mkdir()
    torch.save(tensors, folder / "albert_base.bin-1000.bin")
    content = json.dumps(CONFIG | changes)
    (folder / "base_config.json").write_text(content, encoding="utf-8")
    (folder / "vocab.txt").write_text("".join(f"{w}\n" for w in WORDS), encoding="utf-8")
    return folder


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    ("activation", "own_layers"), [("relu", False), ("gelu", True), ("gelu_fast", False)]
)
def test_uer_says_what_its_formulas_say(
    generation: str, activation: str, own_layers: bool, tmp_path: Path
) -> None:
    tensors = make_tensors(generation, own_layers=own_layers)
    source = save(tmp_path / "uer", tensors, hidden_act=activation)
    done = convert(str(source), tmp_path / "ours", to="zh_albert")
    config, task = load_config(tmp_path / "ours")
    model = AlbertForPretraining(config).double().eval()
    load_weights(model, tmp_path / "ours")
    ids, types, mask = map(torch.from_numpy, (IDS, TYPES, MASK))
    with torch.no_grad():
        said = model(ids, types, mask, torch.nonzero(mask))
    plain = numpy_uer.random_tensors(own_layers=own_layers)
    expected = numpy_uer.outputs(plain, activation)

    assert (config.type_vocab_size, task) == (2, {"name": "encoder"})
    assert done.notes == ["left out: row 0 of embedding.seg.embedding.weight, the type of padding"]
    np.testing.assert_allclose(said.masked, expected.masked[MASK], rtol=0, atol=1e-5)
    np.testing.assert_allclose(said.order, expected.order, rtol=0, atol=1e-5)


def test_a_converted_folder_fills_masks_as_the_formulas_do(tmp_path: Path) -> None:
    source = save(tmp_path / "uer", make_tensors(), hidden_act="gelu")
    convert(source, tmp_path / "ours", to="zh_albert")
    text = "房间很[MASK]净,服务也好。"
    fill = load(tmp_path / "ours")
    [[spot]] = fill([text], top_k=len(WORDS))

    assert fill.kind == "fill-mask"
    ids = [
        [2, *(WORDS.index(c) for c in "房间很"), 4, *(WORDS.index(c) for c in "净,服务也好。"), 3]
    ]
    logits = numpy_uer.outputs(
        numpy_uer.random_tensors(), "gelu", np.array(ids), np.zeros_like(ids)
    ).masked[0, 4]
    probabilities = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    expected = {word: probabilities[row] for row, word in enumerate(WORDS) if len(word) == 1}
    assert {c.text: c.score for c in spot.candidates} == pytest.approx(expected, rel=1e-3)


def test_a_masked_lm_alone_gets_an_untrained_pooler_and_says_so(tmp_path: Path) -> None:
    tensors = {n: t for n, t in make_tensors().items() if not n.startswith("target.sp_")}
    done = convert(save(tmp_path / "uer", tensors), tmp_path / "ours", to="zh_albert")

    assert done.notes[-1] == (
        "not in the source, and so untrained, always the same: encoder.pooler, sentence_order"
    )


def test_the_same_tensor_by_two_names_is_refused(tmp_path: Path) -> None:
    tensors = make_tensors("newest") | {"target.mlm_linear_1.bias": torch.zeros(6)}

    with pytest.raises(CheckpointError, match=r"one version, found target.mlm_linear_1.bias"):
        convert(save(tmp_path / "uer", tensors), tmp_path / "ours", to="zh_albert")


@pytest.mark.parametrize(
    "name",
    [
        "embedding.word_embedding.weight",
        "embedding.segment_embedding.weight",
        "encoder.linear.weight",
    ],
)
def test_a_table_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    tensors = make_tensors() | {name: torch.tensor(1.0)}

    with pytest.raises(CheckpointError, match=r"weight: expected a matrix, found shape \(\)"):
        convert(save(tmp_path / "uer", tensors), tmp_path / "ours", to="zh_albert")


def test_one_file_is_enough_of_a_source(tmp_path: Path) -> None:
    source = save(tmp_path / "uer", make_tensors())
    convert(source / "albert_base.bin-1000.bin", tmp_path / "ours", to="huggingface")

    assert transformers.AlbertModel.from_pretrained(tmp_path / "ours").config.hidden_size == 12


def test_an_output_matrix_of_its_own_is_refused(tmp_path: Path) -> None:
    tensors = make_tensors()
    tensors["target.mlm_linear_2.weight"] += 1
    source = save(tmp_path / "uer", tensors)

    with pytest.raises(CheckpointError, match="only tied embeddings"):
        convert(source, tmp_path / "ours", to="zh_albert")


def test_what_does_not_fit_has_the_name_it_has_there(tmp_path: Path) -> None:
    tensors = make_tensors()
    del tensors["encoder.transformer.layer_norm_2.beta"]
    tensors["target.mlm_linear_1.bias"] = torch.zeros(5)
    tensors["extra.weight"] = torch.zeros(2, 1)
    source = save(tmp_path / "uer", tensors)

    with pytest.raises(CheckpointError) as caught:
        convert(source, tmp_path / "ours", to="zh_albert")

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
        ({"mask": "causal"}, "mask must be 'fully_visible', found 'causal'"),
        ({"remove_attention_scale": True}, "remove_attention_scale must be False, found True"),
        ({"heads_num": 5}, r"hidden_size \(12\) must be a multiple of num_attention_heads \(5\)"),
    ],
)
def test_settings_that_cannot_work_are_told(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    source = save(tmp_path / "uer", make_tensors(), **changes)

    with pytest.raises(CheckpointError, match=message):
        convert(source, tmp_path / "ours", to="zh_albert")


def test_a_bert_of_theirs_is_refused(tmp_path: Path) -> None:
    source = save(tmp_path / "uer", {"embedding.word_embedding.weight": torch.zeros(14, 12)})

    with pytest.raises(CheckpointError, match="not an ALBERT checkpoint"):
        convert(source, tmp_path / "ours", to="zh_albert")
