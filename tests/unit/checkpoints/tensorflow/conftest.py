"""A checkpoint of google-research/albert."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.conversions import CONFIG, VOCABULARY
from zh_albert.checkpoints.tensorflow.folder import write_tensorflow
from zh_albert.model.pretraining_heads import AlbertForPretraining


@pytest.fixture
def google(tmp_path: Path) -> Path:
    """A folder of google-research/albert."""
    files = {"vocab.txt": VOCABULARY, "README.md": b"card"}
    write_tensorflow(
        tmp_path / "google", model=AlbertForPretraining(CONFIG), config=CONFIG, files=files
    )
    (tmp_path / "google/manifest.json").unlink()  # theirs has none
    return tmp_path / "google"
