"""The estimator of entities."""

from __future__ import annotations

import pickle

from zh_albert.estimators.tagger import AlbertTagger
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan

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


def test_a_pickle_answers_the_same() -> None:
    model = AlbertTagger(init=None, preset="tiny", epochs=1, max_length=16, stride=4)
    model.fit([e.text for e in EXAMPLES[:8]], [e.entities for e in EXAMPLES[:8]])
    again = pickle.loads(pickle.dumps(model))
    assert model.tagger_.ngrams is not None
    assert again.predict(TEXTS) == model.predict(TEXTS)
