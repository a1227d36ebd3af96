"""Estimator of entities in texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from zh_albert.errors import DataError
from zh_albert.estimators.fitting import AlbertEstimator, as_texts, refuse_no_targets
from zh_albert.tasks.chunks import as_list
from zh_albert.tasks.ner.examples import EntityExample, as_spans
from zh_albert.tasks.ner.finetune import ModelConfig, TaggingJob, evaluate
from zh_albert.tasks.ner.networks import Head
from zh_albert.tasks.ner.predictor import Entity, Tagger
from zh_albert.tasks.texts import has_content, refuse_non_strings

Entities = Sequence[Sequence[Any]]
"""Of each text: triples (start, end, type), or mappings or objects with these names."""


@dataclass(eq=False, repr=False, kw_only=True)
class AlbertTagger(AlbertEstimator):
    """Chinese entity tagger with scikit-learn's interface.

    Args:
        init: Encoder to start from: a bundled name, a folder or a hub id; None: random weights.
        preset: Size of random weights: ``tiny`` (the default), ``small``, ``base``, …
        head: ``softmax`` or ``crf``: no overlapping entities; ``span``: overlap of different
            types; ``global_pointer``: any overlap.
        max_length: Tokens of one window; longer texts are split into overlapping windows.
        stride: Tokens shared by neighbouring windows.
        epochs: Passes over the training texts.
        peak_lr: Peak learning rate.
        batch_tokens: Tokens of one forward pass in training.
        random_state: Seed of weights, order and dropout; None: a new one each time.
        on_event: Called with progress (``zh_albert.training.events``).

    Attributes:
        types_: The types of entities, sorted.
        tagger_: The trained ``TextTagger``.
        config_: The training settings.

    >>> texts = ["浙江大学在杭州", "他住在北京"]
    >>> entities = [[(0, 4, "ORG"), (5, 7, "LOC")], [(3, 5, "LOC")]]
    >>> model = AlbertTagger(init=None, preset="tiny", epochs=1).fit(texts, entities)
    >>> model.types_
    ['LOC', 'ORG']
    """

    head: Head = "crf"
    epochs: int = 8
    peak_lr: float = 3e-4
    batch_tokens: int = 1024

    _job, _kept_in = TaggingJob, "tagger_"

    def fit(self, X: ArrayLike, y: Entities) -> Self:  # noqa: N803
        """Train on texts ``X`` and the entities ``y`` of each.

        Raises:
            DataError: If a text is not a string or is empty, the lengths differ, an entity is
                outside its text, or there are no entities.
        """
        model = ModelConfig(preset=self._size(), head=self.head)
        config = self._config(model, self.batch_tokens)
        self.types_ = self._learn(_examples(X, y), config).labels
        return self

    def predict(self, X: ArrayLike) -> list[list[Entity]]:  # noqa: N803
        """Return the entities of each text, in order."""
        found: list[list[Entity]] = Tagger(self._model())(as_texts(X))
        return found

    def score(self, X: ArrayLike, y: Entities) -> float:  # noqa: N803
        """Return the strict micro F1 of ``predict``; see ``entity_metrics``."""
        f1: float = evaluate(self._model(), _examples(X, y))["f1"]
        return f1


def _examples(X: ArrayLike, y: Entities) -> list[EntityExample]:  # noqa: N803
    texts = as_texts(X)
    refuse_non_strings(texts)
    refuse_no_targets(y, "the entities of each text")
    given = as_list(y, "y")
    if len(texts) != len(given):
        raise DataError(f"{len(texts)} texts, but entities of {len(given)}")
    examples = []
    for number, (text, entities) in enumerate(zip(texts, given, strict=True)):
        if not has_content(text):
            raise DataError(f"texts[{number}] is empty: there is nothing to learn; leave it out")
        spans = as_spans(entities, text, f"entities of texts[{number}]")
        examples.append(EntityExample(text, spans))
    return examples
