"""Folders of shards."""

from __future__ import annotations

from pathlib import Path

from corpora_tools.sentences import sentence_spans
from zh_albert.pretraining.bulk_tokenizer import BlockEncoder
from zh_albert.pretraining.shard_files import PartWriter, write_manifest
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter

TOKENIZER = default_tokenizer()
TEXTS = ["我们在北京。天气很好！", "Python 3\n好", "   ", "一衣带水。"]


def write(folder: Path, *parts: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    records = []
    for index, texts in enumerate(parts):
        encoder = BlockEncoder(TOKENIZER, segmenter().cut, sentence_spans)
        name = f"part-{index:05d}"
        with PartWriter(folder, name, unknown_id=TOKENIZER.special.unk) as writer:
            for block in encoder.blocks(texts):
                writer.write(block)
            records.append(writer.finish())
    write_manifest(folder, records, TOKENIZER, {"build": {}})
    return folder
