"""Names of models → folders."""

from __future__ import annotations

import pytest

from zh_albert.checkpoints.resolve import BUNDLED, bundled_names, resolve_model


def test_a_model_from_the_hub_comes_with_all_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.utils import filter_repo_objects

    asked: list[list[str]] = []

    def download(model: str, *, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return str(BUNDLED / model.partition("/")[2])

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for name in bundled_names():
        folder = resolve_model(f"somebody/{name}")
        files = {path.name for path in folder.iterdir()}
        assert set(filter_repo_objects(files, allow_patterns=asked[-1])) == files
