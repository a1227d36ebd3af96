"""Names of models → folders."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from zh_albert.checkpoints.resolve import BUNDLED, bundled_models, resolve_model
from zh_albert.errors import CheckpointError


def test_a_model_from_the_hub_comes_with_all_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.utils import filter_repo_objects

    asked: list[list[str]] = []

    def download(model: str, *, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return str(BUNDLED / model.partition("/")[2])

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for name in bundled_models():
        folder = resolve_model(f"somebody/{name}")
        files = {path.name for path in folder.iterdir()}
        assert set(filter_repo_objects(files, allow_patterns=asked[-1])) == files


def test_a_bundled_name_is_the_bundled_model_whatever_the_working_directory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(action="error"):
        assert resolve_model("ner") == BUNDLED / "ner"
    (tmp_path / "ner").mkdir()

    with pytest.warns(UserWarning, match=r"ner: the bundled model .* write \./ner$"):
        assert resolve_model("ner") == BUNDLED / "ner"
    with warnings.catch_warnings(action="error"):
        assert resolve_model("./ner").resolve() == tmp_path / "ner"
        assert resolve_model(Path("ner")).resolve() == tmp_path / "ner"
        assert resolve_model(Path("news")) == BUNDLED / "news"


def test_what_is_bundled_stays_small() -> None:
    """Every copy of the package carries it: limits in MB of each part."""
    sizes = {
        name: sum(path.stat().st_size for path in resolve_model(name).iterdir()) / 1e6
        for name in bundled_models()
    }
    assert sizes.pop("encoder") < 18
    assert sizes["embedder"] < 6
    assert sum(size for name, size in sizes.items() if name.endswith("-nano")) < 6
    assert sum(sizes.values()) < 60


def test_a_text_in_place_of_a_name_is_told() -> None:
    with pytest.raises(CheckpointError, match="no such model folder"):
        resolve_model("房间很干净，服务也好。" * 10)


def test_the_home_of_nobody_is_no_model() -> None:
    with pytest.raises(CheckpointError, match="'~nobody_of_that_name/model': no such model folder"):
        resolve_model("~nobody_of_that_name/model")
