"""Encoders taken from folders of whole models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
import transformers

from zh_albert.checkpoints.pretrained_encoder import load_encoder, open_encoder, with_layers
from zh_albert.checkpoints.store import save_model
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.sharing import plan_of


def test_a_masked_lm_of_transformers_has_an_encoder_though_no_pooler(tmp_path: Path) -> None:
    sizes = {"hidden_size": 12, "num_attention_heads": 2, "intermediate_size": 20}
    config = transformers.AlbertConfig(vocab_size=30, embedding_size=8, **sizes)
    config.num_hidden_layers = 2
    torch.manual_seed(0)
    model = transformers.AlbertForMaskedLM(config).eval()
    model.save_pretrained(tmp_path)
    token_ids = torch.randint(30, (2, 5))
    encoder = open_encoder(tmp_path)
    with torch.inference_mode():
        found = encoder(token_ids, torch.zeros_like(token_ids), torch.ones_like(token_ids).bool())
        expected = model.albert(token_ids).last_hidden_state
    torch.testing.assert_close(found.hidden, expected)


def test_fewer_layers_of_a_pruned_encoder_keep_their_sizes_and_weights(tmp_path: Path) -> None:
    config = AlbertConfig(
        vocab_size=30,
        embedding_size=8,
        hidden_size=12,
        num_hidden_layers=4,
        num_hidden_groups=2,
        num_attention_heads=2,
        intermediate_size=20,
        block_heads=(1, 2),
        block_neurons=(9, 5),
    )
    whole = AlbertEncoder(config).eval()
    save_model(tmp_path / "m", model=whole, config=config, files={}, task={}, dtype=torch.float32)
    fewer = with_layers(config, 2)
    assert (plan_of(fewer), fewer.block_heads) == (((0, 0), (1, 1)), (1, 2))
    assert with_layers(replace(config, block_heads=(), block_neurons=()), 2).plan == ()
    taken = SequenceClassifier(fewer, 2).eval()
    load_encoder(taken, tmp_path / "m")
    ids = torch.randint(30, (2, 5))
    with torch.inference_mode():
        found = taken.encoder(ids, ids * 0, ids >= 0).hidden
        plan = [whole.plan[1], whole.plan[3]]
        expected = whole(ids, ids * 0, ids >= 0, plan=plan).hidden
    torch.testing.assert_close(found, expected)
