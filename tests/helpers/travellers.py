"""Who went where: a few names, learned by heart."""

from __future__ import annotations

from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.ner.finetune import FinetuneConfig
from zh_albert.tasks.ner.ngrams import NgramTagger
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
TEXTS = ["李华去北京市", "下雨了", "今天西湖有雨。" * 30, "王"]
CONFIG = FinetuneConfig(
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


def opinion(tagger: TextTagger) -> NgramTagger:
    assert tagger.ngrams is not None
    return tagger.ngrams
