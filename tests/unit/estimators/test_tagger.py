"""The estimator of entities."""

from __future__ import annotations

import pickle

from tests.helpers.travellers import EXAMPLES, TEXTS
from zh_albert.estimators.tagger import AlbertTagger


def test_a_pickle_answers_the_same() -> None:
    model = AlbertTagger(init=None, preset="tiny", epochs=1, max_length=16, stride=4)
    model.fit([e.text for e in EXAMPLES[:8]], [e.entities for e in EXAMPLES[:8]])
    again = pickle.loads(pickle.dumps(model))
    assert model.tagger_.ngrams is not None
    assert again.predict(TEXTS) == model.predict(TEXTS)
