"""Sidecar files of other projects' checkpoints: sizes, vocabulary, model card."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError, nearest
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.model.config import AlbertConfig
from zh_albert.tokenization.settings import (
    CONFIG_NAME,
    read_normalizer,
    read_settings,
    write_settings,
)
from zh_albert.tokenization.vocab import JSON_NAME, Vocabulary

VOCABULARIES = ("vocab.txt", "spiece.model")
# Name of a file in a model folder, and the pattern of its name elsewhere.
_PATTERNS = {
    "vocab.txt": "*vocab*.txt",  # google_zh_vocab.txt of UER
    "spiece.model": "*.model",
    "tokenizer_config.json": "tokenizer_config.json",
    "README.md": "README.md",
    NGRAMS: NGRAMS,  # of a classifier or a tagger with n-grams
}


def read_sidecar_files(folder: Path) -> dict[str, bytes]:
    """Return vocabulary, tokenizer settings, model card and n-grams, if they are there.

    Returns:
        Their content, by the names they have in a model folder; without a byte-order mark, which
        other programs would take for a part of the first token.

    Raises:
        CheckpointError: If several files could be the same thing, or the vocabulary is in a
            ``tokenizer.json`` that cannot be converted to ``vocab.txt``.
    """
    files = {}
    for name, pattern in _PATTERNS.items():
        path = folder / name
        if not path.is_file():
            found = sorted(path for path in folder.glob(pattern) if path.is_file())
            if not found:
                continue
            path = _only(found, folder)
        files[name] = _content_of(path, limited=name != NGRAMS)
    tokenizer = folder / JSON_NAME
    if not files.keys() & VOCABULARIES and tokenizer.is_file():
        files["vocab.txt"] = Vocabulary.read_json(tokenizer).to_bytes()
        settings = read_normalizer(tokenizer) | read_settings(folder)
        files[CONFIG_NAME] = write_settings(settings)
    return files


def read_sizes(checkpoint: Path, needed: Iterable[str]) -> tuple[dict[str, Any], Path]:
    """Read the JSON file beside a checkpoint, with the sizes that no tensor shows.

    Args:
        checkpoint: The checkpoint; the file is in its folder and has ``config`` in its name.
        needed: Fields that must be present.

    Returns:
        The fields, and the file, to be named in errors.

    Raises:
        CheckpointError: If there is none, or several, or it is damaged or lacks a field.
    """
    folder = checkpoint.parent
    found = sorted(p for p in folder.glob("*config*.json") if p.name != "tokenizer_config.json")
    if not found:
        raise CheckpointError(
            f"{checkpoint}: no configuration beside it; put the one that was published with it "
            f"there, as config.json: it must give {', '.join(needed)}"
        )
    path = _only(found, folder)
    try:
        content = parse_json(_content_of(path))
    except ValueError as error:
        raise CheckpointError(f"{path}: not JSON: {error}; download it again") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: expected a JSON object, found {type(content).__name__}")
    missing = [name for name in needed if content.get(name) is None]
    if missing:
        raise CheckpointError(f"{path}: lacks {', '.join(missing)}")
    return content, path


def translate(value: object, words: Mapping[str, str], field: str, source: Path) -> str:
    """Return our value for a field's value.

    Raises:
        CheckpointError: If the value is not in ``words``.
    """
    if str(value) not in words:
        raise CheckpointError(f"{source}: unknown {field} {value!r}; {nearest(str(value), words)}")
    return words[str(value)]


def build_config(values: Mapping[str, Any], source: Path) -> AlbertConfig:
    """Return the config with these fields.

    Raises:
        CheckpointError: If one has a wrong type, or they are inconsistent.
    """
    try:
        return build(AlbertConfig, values, source=str(source))
    except ConfigError as error:
        raise CheckpointError(str(error)) from None


def _content_of(path: Path, *, limited: bool = True) -> bytes:
    try:
        return read_plain(path, limited=limited).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from None


def _only(found: list[Path], folder: Path) -> Path:
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise CheckpointError(f"{folder}: expected one of {names}, found all; keep the right one")
    return found[0]
