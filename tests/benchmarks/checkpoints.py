"""Reading of checkpoints of base size: seconds, and memory relative to the file's size.

Run: python tests/benchmarks/checkpoints.py [--json]

Random weights; each layout is read by a process of its own, after all imports. ``albert`` is
ALBERT-base, in TensorFlow's format and in this project's; ``untied`` has its twelve layers without
sharing in the same formats, and BERT-base of ``transformers`` (a teacher). Memory is the peak above
that of the imports; of a mapped file, it includes the pages that were accessed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.foreign.bert_shaped import is_bert_shaped, read_bert_shaped
from zh_albert.checkpoints.store import save_model
from zh_albert.checkpoints.stored_model import build_model
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tokenization.tokenizer import default_tokenizer


def make_all(folder: Path) -> None:
    """Write the checkpoints, one folder each."""
    from transformers import BertConfig, BertModel

    tokenizer = default_tokenizer()
    base = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12}
    for name, groups in (("albert", 1), ("untied", 12)):
        config = AlbertConfig(
            **base,
            vocab_size=tokenizer.vocab_size,
            embedding_size=128,
            intermediate_size=3072,
            num_hidden_groups=groups,
        )
        ours = folder / f"{name}, zh_albert"
        files = tokenizer.save_files()
        model = AlbertForPretraining(config)
        save_model(ours, model=model, config=config, files=files, task={}, dtype=torch.float32)
        convert(ours, folder / f"{name}, TensorFlow", to="google")
    bert = folder / "untied, transformers"
    BertModel(BertConfig(**base, vocab_size=tokenizer.vocab_size)).save_pretrained(bert)
    tokens = tokenizer.tokens(range(tokenizer.vocab_size))
    (bert / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")


def measure(folder: Path) -> dict[str, float]:
    """Read one checkpoint and build its model."""

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    size, before, start = _size(folder), peak(), time.perf_counter()
    if is_bert_shaped(folder):
        read_bert_shaped(folder).build()
    else:
        build_model(read_any(folder))
    seconds = time.perf_counter() - start
    return {
        "file_mb": round(size / 1e6),
        "seconds": round(seconds, 2),
        "memory_by_size": round((peak() - before) / size, 2),
    }


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _run(*arguments: str | Path) -> str:
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make_all(options.make)
        return
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        # Not here: a new process counts the peak of the one that started it as its own.
        _run("--make", place)
        for folder in sorted(Path(place).iterdir()):
            result[folder.name] = json.loads(_run("--measure", folder))
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    for name, found in result.items():
        print(f"{name:24} {found['file_mb']:5} MB  {found['seconds']:5.2f} s  ", end="")
        print(f"{found['memory_by_size']:.2f} times its size")


if __name__ == "__main__":
    main()
