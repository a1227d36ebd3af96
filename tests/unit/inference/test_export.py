"""Files that go along with an export; ``tests/integration`` has its answers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.micro import save_micro_encoder
from zh_albert.checkpoints.sidecar_files import read_sidecar_files
from zh_albert.inference.export import export
from zh_albert.tokenization.tokenizer import load_tokenizer


def test_the_settings_of_a_tokenizer_json_go_along(tmp_path: Path) -> None:
    source, out = save_micro_encoder(tmp_path / "a"), tmp_path / "b"
    tokens = read_sidecar_files(source)["vocab.txt"].decode().splitlines()
    content = {
        "normalizer": {"type": "BertNormalizer", "lowercase": False},
        "model": {"type": "WordPiece", "vocab": {token: row for row, token in enumerate(tokens)}},
    }
    (source / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    (source / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    for name in ("vocab.txt", "manifest.json"):
        (source / name).unlink()
    export(source, out, form="onnx")
    before, after = (load_tokenizer(folder).encode("OK，好") for folder in (source, out))
    assert after == before
