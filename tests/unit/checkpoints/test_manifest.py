"""The manifest of a model folder: what is listed, and which changes are noticed."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_pretrained
from zh_albert.checkpoints.manifest import (
    MANIFEST,
    ListedFile,
    first_difference,
    read_manifest,
    write_manifest,
)
from zh_albert.checkpoints.resolve import BUNDLED, HUB_FILES, bundled_models
from zh_albert.errors import CheckpointError

FILES = {"config.json": b"{}", "README.md": b"# card", "vocab.txt": b""}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {**FILES, MANIFEST: write_manifest(FILES)}.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_size_and_digest_of_each_file_but_the_card(folder: Path) -> None:
    listed = read_manifest(folder)

    assert listed is not None
    assert listed.keys() == {"config.json", "vocab.txt"}
    assert listed["vocab.txt"] == ListedFile(0, EMPTY)
    assert first_difference(folder, listed) is None


@pytest.mark.parametrize("name", bundled_models())
def test_a_bundled_model_is_what_its_manifest_lists(name: str) -> None:
    """After a change of a file: ``python docs/recipes/bundled_manifests.py``."""
    listed = read_manifest(BUNDLED / name)

    assert listed is not None
    assert first_difference(BUNDLED / name, listed) is None
    assert {path.name for path in (BUNDLED / name).iterdir()} - listed.keys() == {
        "README.md",
        MANIFEST,
    }


def test_whatever_is_listed_comes_from_the_hub(tmp_path: Path) -> None:
    listed = read_manifest(save_micro_pretrained(tmp_path / "encoder"))

    assert listed is not None
    assert "curve.jsonl" in listed
    for name in listed:
        assert any(fnmatch.fnmatch(name, pattern) for pattern in HUB_FILES), name


@pytest.mark.slow
def test_every_damaged_bit_of_a_manifest_is_noticed(folder: Path) -> None:
    content = (folder / MANIFEST).read_bytes()
    for position in range(len(content)):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[position] ^= 1 << bit
            (folder / MANIFEST).write_bytes(damaged)
            try:
                listed = read_manifest(folder)
            except CheckpointError:
                continue
            assert listed is not None, damaged
            assert first_difference(folder, listed) or listed.keys() == {"config.json", "vocab.txt"}


@pytest.mark.parametrize("content", ["[]", '{"name": "a page", "icons": []}', "{}"])
def test_a_file_of_that_name_may_be_another_programs(folder: Path, content: str) -> None:
    (folder / MANIFEST).write_text(content, encoding="utf-8")

    assert read_manifest(folder) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "expected format_version 1, found 2; .* install that one"),
        ({"model_files": []}, "damaged"),
        ({"model_files": {"../config.json": {"bytes": 2, "sha256": EMPTY}}}, "damaged"),
        ({"model_files": {"config.json": {"bytes": 2}}}, "damaged"),
        ({"model_files": {"config.json": {"bytes": None, "sha256": EMPTY}}}, "damaged"),
        ({"model_files": {"config\0": {"bytes": 2, "sha256": EMPTY}}}, "damaged"),
        ({"model_files": {"\ud800": {"bytes": 2, "sha256": EMPTY}}}, "damaged"),
    ],
)
def test_what_cannot_be_understood_is_refused(
    folder: Path, change: dict[str, object], message: str
) -> None:
    content = json.loads((folder / MANIFEST).read_bytes()) | change
    (folder / MANIFEST).write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(CheckpointError, match=f"{MANIFEST}: {message}"):
        read_manifest(folder)
