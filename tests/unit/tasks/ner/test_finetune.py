"""Which taggers get n-grams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.micro import save_micro_encoder
from zh_albert.errors import ConfigError
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.ner.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

PEOPLE, PLACES = ["李华", "王小明", "张伟", "Anna"], ["杭州", "北京市", "西湖", "广州塔"]
EXAMPLES = [
    EntityExample(
        f"{who}昨天去了{where}。",
        (
            EntitySpan(0, len(who), "人"),
            EntitySpan(len(who) + 4, len(who) + 4 + len(where), "地"),
        ),
    )
    for who in PEOPLE
    for where in PLACES
] * 4
CONFIG = FinetuneConfig(
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ngrams")
    encoder = save_micro_encoder(folder / "encoder")
    finetune(EXAMPLES, EXAMPLES[:8], CONFIG, init=encoder, out=folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def tagger(trained: Path) -> TextTagger:
    return TextTagger.load(trained)


def test_only_a_crf_has_ngrams_beside_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='ngrams = true needs head = "crf", found "span"'):
        ModelConfig(head="span", ngrams=True)
    encoder = save_micro_encoder(tmp_path / "encoder")
    for model in (ModelConfig(head="softmax"), ModelConfig(ngrams=False)):
        tagger, _ = finetune(EXAMPLES, [], replace(CONFIG, model=model), init=encoder)
        assert tagger.ngrams is None
