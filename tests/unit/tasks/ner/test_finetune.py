"""Which taggers get n-grams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.micro import save_micro_encoder
from tests.helpers.travellers import CONFIG, EXAMPLES
from zh_albert.errors import ConfigError
from zh_albert.tasks.ner.finetune import ModelConfig, finetune


def test_only_a_crf_has_ngrams_beside_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='ngrams = true needs head = "crf", found "span"'):
        ModelConfig(head="span", ngrams=True)
    encoder = save_micro_encoder(tmp_path / "encoder")
    for model in (ModelConfig(head="softmax"), ModelConfig(ngrams=False)):
        tagger, _ = finetune(EXAMPLES, [], replace(CONFIG, model=model), init=encoder)
        assert tagger.ngrams is None
