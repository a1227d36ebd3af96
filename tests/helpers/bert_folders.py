"""Folders of BERT-shaped encoders."""

from __future__ import annotations

from pathlib import Path

import transformers


def bert_folder(folder: Path) -> Path:
    config = transformers.BertConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        vocab_size=9,
        max_position_embeddings=8,
    )
    transformers.BertModel(config).save_pretrained(folder)
    rows = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "中", "文", "字", "##字"]
    (folder / "vocab.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder
