"""A trained tagger with n-grams."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_encoder
from tests.helpers.travellers import CONFIG, EXAMPLES
from zh_albert.tasks.ner.finetune import finetune
from zh_albert.tasks.ner.tagger import TextTagger


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ngrams")
    encoder = save_micro_encoder(folder / "encoder")
    finetune(EXAMPLES, EXAMPLES[:8], CONFIG, init=encoder, out=folder / "model")
    return folder / "model"


@pytest.fixture(scope="session")
def tagger(trained: Path) -> TextTagger:
    return TextTagger.load(trained)
