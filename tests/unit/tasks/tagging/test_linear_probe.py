"""Scores of tags that begin fitted to the encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

WINDOW = WindowConfig(max_length=16, stride=4)


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_emissions_know_their_tokens_before_training(
    micro: Path, head: Literal["softmax", "crf"]
) -> None:
    examples = [
        EntityExample(f"{name}昨天去了{place}", (EntitySpan(0, 2, "人"), EntitySpan(6, 8, "地")))
        for name in ("李华", "王明", "张伟")
        for place in ("北京", "上海", "杭州")
    ]
    config = ner.FinetuneConfig(
        model=ner.ModelConfig(head=head),
        window=WINDOW,
        train=TrainConfig(peak_lr=1e-9, max_updates=1),
    )
    tagger, _ = ner.finetune(examples, [], config, init=micro)
    assert isinstance(tagger.module, TokenTagger)
    assert ner.evaluate(tagger, examples)["f1"] > 0.9
