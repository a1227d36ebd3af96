"""What goes along with the weights."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from tests.helpers.conversions import CONFIG, VOCABULARY
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.store import load_config, save_model
from zh_albert.errors import CheckpointError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tokenization.settings import read_settings


def test_a_tokenizer_of_another_kind_is_not_made_a_vocabulary(tmp_path: Path) -> None:
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    content = {"model": {"type": "Unigram", "vocab": [["中", -1.0]]}}
    (tmp_path / "a/tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=r"json: expected the complete .* .type 'Unigram'"):
        convert(tmp_path / "a", tmp_path / "b", to="zh_albert")


def test_a_byte_order_mark_does_not_go_along(tmp_path: Path) -> None:
    """Other programs would take it for a part of the first token, or refuse the file."""
    files = {"vocab.txt": VOCABULARY, "tokenizer_config.json": b"{}"}
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files=files, task={})
    (tmp_path / "a/manifest.json").unlink()
    for name in (*files, "config.json"):
        path = tmp_path / "a" / name
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    convert(tmp_path / "a", tmp_path / "b", to="zh_albert")
    assert {name: (tmp_path / "b" / name).read_bytes() for name in files} == files
    assert load_config(tmp_path / "a") == load_config(tmp_path / "b")


def test_a_missing_vocabulary_is_told(tmp_path: Path) -> None:
    model = AlbertEncoder(CONFIG)
    for folder, files in (("a", {}), ("b", {"vocab.txt": VOCABULARY})):
        save_model(tmp_path / folder, model=model, config=CONFIG, files=files, task={})
    (note,) = convert(tmp_path / "a", tmp_path / "c", to="zh_albert").notes
    assert note.startswith("no vocabulary beside the source")
    assert not convert(tmp_path / "b", tmp_path / "d", to="zh_albert").notes


def test_a_vocabulary_by_its_name_at_uer_goes_along(tmp_path: Path) -> None:
    files = {"vocab.txt": VOCABULARY}
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files=files, task={})
    (tmp_path / "a/manifest.json").unlink()
    (tmp_path / "a/vocab.txt").rename(tmp_path / "a/google_zh_vocab.txt")
    convert(tmp_path / "a", tmp_path / "b", to="zh_albert")
    assert (tmp_path / "b/vocab.txt").read_bytes() == VOCABULARY


def test_weights_by_another_name_are_told(tmp_path: Path) -> None:
    save_model(tmp_path, model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "model.safetensors").rename(tmp_path / "albert.safetensors")
    with pytest.raises(CheckpointError, match=r"should be there; found albert\.safetensors"):
        convert(tmp_path, tmp_path / "b", to="zh_albert")


def test_of_two_vocabularies_transformers_takes_ours(tmp_path: Path) -> None:
    files = {"vocab.txt": VOCABULARY, "spiece.model": b"never opened"}
    save_model(tmp_path, model=AlbertEncoder(CONFIG), config=CONFIG, files=files, task={})
    content = json.loads((tmp_path / "config.json").read_bytes())
    assert content["tokenizer_class"] == "BertTokenizer"


def test_a_tokenizer_without_a_limit_is_converted(tmp_path: Path) -> None:
    tokens = VOCABULARY.decode().split()
    save_model(tmp_path / "a", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    content = {"model": {"type": "WordPiece", "vocab": {t: row for row, t in enumerate(tokens)}}}
    (tmp_path / "a/tokenizer.json").write_text(json.dumps(content))
    (tmp_path / "a/tokenizer_config.json").write_text('{"model_max_length": Infinity}')
    convert(tmp_path / "a", tmp_path / "b", to="zh_albert")
    assert read_settings(tmp_path / "b") == {"model_max_length": None}
