"""Encoders taken from folders of whole models."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

from zh_albert.checkpoints.pretrained_encoder import open_encoder


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
