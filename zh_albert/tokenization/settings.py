"""``tokenizer_config.json``: settings of a tokenizer, named as in ``transformers``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zh_albert.errors import ConfigError, DataError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.files.textio import results_json

CONFIG_NAME = "tokenizer_config.json"
_NORMALIZER = {  # our name of a setting: that of the tokenizers library
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


def read_settings(folder: Path) -> dict[str, Any]:
    """Read a model folder's tokenizer settings; a missing file means no settings.

    Raises:
        DataError: If the file is not readable, not UTF-8 or not a JSON object.
    """
    path = folder / CONFIG_NAME
    try:
        content = read_plain(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return parse_settings(content, path)


def parse_settings(content: bytes, source: Path | str) -> dict[str, Any]:
    """Parse the content of the file.

    Raises:
        DataError: If it is not UTF-8 or not a JSON object.
    """
    try:
        values = parse_json(content)
    except ValueError as error:  # not JSON, or not UTF-8
        raise DataError(f"{source}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(f"{source}: expected a JSON object, found {type(values).__name__}")
    return values


def read_normalizer(path: Path) -> dict[str, Any]:
    """Read the settings that a ``tokenizer.json`` has in its normalizer.

    Raises:
        DataError: If the file is damaged, or has a normalizer of another kind.
    """
    try:
        normalizer = parse_json(read_plain(path)).get("normalizer") or {}
        kind = normalizer.get("type", "BertNormalizer")
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: damaged: {error}") from None
    if kind != "BertNormalizer":
        raise DataError(
            f"{path}: expected the normalizer of BERT, found {kind!r}; put the vocab.txt and "
            "tokenizer_config.json of the model beside it"
        )
    found = {ours: normalizer.get(theirs) for ours, theirs in _NORMALIZER.items()}
    return {name: value for name, value in found.items() if value is not None}


def write_settings(settings: Mapping[str, Any]) -> bytes:
    """Return the content of the file; a limit that is infinite becomes null, as JSON has none."""
    return (results_json(settings, indent=2) + "\n").encode()


def flag(
    settings: Mapping[str, Any], name: str, default: bool, *, source: Path | str = CONFIG_NAME
) -> bool:
    """Return a setting that is true or false; if absent or null, the default.

    Raises:
        ConfigError: If it is something else.
    """
    value = settings.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ConfigError(f"{source}: {name} must be true or false, found {value!r}")
    return value
