"""Encoders of LSTMs: what their states depend on, and what is refused of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers.micro import CONFIG as MICRO
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import MeanEncoder, SequenceClassifier
from zh_albert.model.lstm_encoder import LstmEncoder, build_encoder

CONFIG = AlbertConfig(
    vocab_size=50,
    embedding_size=6,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=1,
    intermediate_size=1,
    max_position_embeddings=24,
    initializer_range=0.5,
    layer="lstm",
)
torch.manual_seed(0)
ENCODER = build_encoder(CONFIG).eval()


def rows(lengths: list[int], width: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return the token ids, type ids and mask of texts; what stands at padding is arbitrary."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    ids = torch.randint(1, CONFIG.vocab_size, mask.shape, generator=generator)
    return ids, torch.randint(0, 2, mask.shape, generator=generator), mask


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    padding=st.integers(0, 7),
    seed=st.integers(0, 99),
)
def test_states_depend_on_neither_padding_nor_other_texts(
    lengths: list[int], padding: int, seed: int
) -> None:
    ids, types, mask = rows(lengths, max(lengths) + padding, seed)
    with torch.inference_mode():
        together = ENCODER(ids, types, mask).hidden
        for row, length in enumerate(lengths):
            one = slice(row, row + 1), slice(length)
            alone = ENCODER(ids[one], types[one], mask[one]).hidden
            torch.testing.assert_close(together[row, :length], alone[0], atol=5e-6, rtol=0)
    assert not together[~mask].any()


def test_a_token_is_read_by_those_before_and_after_it() -> None:
    ids, types, mask = rows([7], 7)
    ids[0, 3] = 1
    other = ids.clone()
    other[0, 3] = 2
    before, after = (ENCODER(one, types, mask).hidden[0] for one in (ids, other))
    changed = (before != after).any(-1)
    assert changed.all()
    units = CONFIG.hidden_size // 2
    first = build_encoder(replace(CONFIG, num_hidden_layers=1)).eval()
    before, after = (first(one, types, mask).hidden[0] for one in (ids, other))
    assert (before != after)[:, :units].any(-1).tolist() == [False] * 3 + [True] * 4
    assert (before != after)[:, units:].any(-1).tolist() == [True] * 4 + [False] * 3


def test_types_matter() -> None:
    ids, types, mask = rows([7], 7)
    assert not torch.equal(ENCODER(ids, types, mask).hidden, ENCODER(ids, 1 - types, mask).hidden)


def test_states_are_those_of_each_layer_from_the_embeddings_up() -> None:
    ids, types, mask = rows([7, 4], 7)
    found = ENCODER(ids, types, mask, return_states=True)
    assert found.states is not None
    assert len(found.states) == 3
    assert torch.equal(found.states[0], ENCODER.embeddings(ids, types))
    assert torch.equal(found.states[2], found.hidden)
    columns = torch.tensor([[0, 3], [2, 2]])
    some = ENCODER.encode_some(ids, types, mask, columns)
    assert torch.equal(some, found.hidden[torch.tensor([[0], [1]]), columns])


def test_a_row_without_tokens_stays_finite() -> None:
    ids, types, mask = rows([7, 4], 7)
    mask[1] = False
    vectors = MeanEncoder(CONFIG)(ids, types, mask)
    assert vectors.isfinite().all()


def test_training_in_bf16_computes_the_layers_in_fp32() -> None:
    network = SequenceClassifier(CONFIG, 3, pooling="mean")
    ids, types, mask = rows([7, 4], 7)
    with torch.autocast("cpu", torch.bfloat16):
        assert network.encoder(ids, types, mask).hidden.dtype == torch.float32
        network(ids, types, mask).float().sum().backward()
    assert all(part.grad is not None for part in network.encoder.lstm.parameters())
    low = build_encoder(CONFIG).to(torch.bfloat16)
    assert low(ids, types, mask).hidden.dtype == torch.bfloat16


def test_dropout_acts_between_layers_in_training_only() -> None:
    torch.manual_seed(0)
    encoder = build_encoder(replace(CONFIG, hidden_dropout_prob=0.5))
    inputs = rows([7, 4], 7)
    assert not torch.equal(encoder(*inputs).hidden, encoder(*inputs).hidden)
    encoder.eval()
    assert torch.equal(encoder(*inputs).hidden, encoder(*inputs).hidden)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"return_attention": True}, "attention: expected an encoder of transformer layers"),
        ({"plan": ()}, "a plan of blocks: expected an encoder of transformer layers, found one of"),
    ],
)
def test_what_only_transformers_have_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        ENCODER(*rows([3], 3), **asked)
    assert "\n" not in str(caught.value)


def test_the_config_chooses_the_class() -> None:
    assert type(build_encoder(CONFIG)) is LstmEncoder
    assert type(build_encoder(replace(CONFIG, layer="transformer"))) is AlbertEncoder


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8])
def test_a_folder_holds_it_and_is_none_for_others(dtype: torch.dtype, tmp_path: Path) -> None:
    config = replace(MICRO, layer="lstm")
    torch.manual_seed(0)
    encoder = build_encoder(config).eval()
    save_model(tmp_path, model=encoder, config=config, files={}, task={}, dtype=dtype)
    found, _ = load_config(tmp_path)
    assert found == config
    text = (tmp_path / "config.json").read_text(encoding="utf-8")
    assert '"model_type": "zh_albert"' in text
    assert '"format_version": 3' in text
    other = build_encoder(found).eval()
    load_weights(other, tmp_path)
    within = {torch.float32: 0.0, torch.float16: 2e-3, torch.int8: 0.05}[dtype]
    inputs = rows([7, 4], 7)
    torch.testing.assert_close(other(*inputs).hidden, encoder(*inputs).hidden, atol=within, rtol=0)
    with pytest.raises(CheckpointError, match="expected layer 'transformer', found 'lstm'"):
        load_weights(AlbertEncoder(MICRO), tmp_path)
