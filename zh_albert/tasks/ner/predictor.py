"""The predictor of a tagger: the entities of each text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.predictor import RequestForm, TaskPredictor
from zh_albert.tasks.tagging.merging import EncodedPassage


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a text; ``text == whole_text[start:end]``, always.

    Attributes:
        start: Index of its first character, in code points.
        end: Index after its last character.
        type: Its type.
        text: The slice of the user's own string.
        score: Its probability.
    """

    start: int
    end: int
    type: str
    text: str
    score: float


class Entities(BaseModel):
    """The entities of one text; ``text[start:end]`` of the text is the entity's ``text``."""

    entities: list[Entity]


class Tagger(TaskPredictor[str, EncodedPassage, list[Entity]]):
    """Predictor: texts → lists of ``Entity``; the list is empty for a text without any.

    Attributes:
        labels: Types of entities.
    """

    kind = "tagger"
    unanswered: ClassVar[Mapping[str, Any]] = {"entities": []}
    row_type = Entities
    form = RequestForm(example="浙江大学在杭州")

    _model: TextTagger

    def __init__(self, tagger: TextTagger) -> None:
        super().__init__(tagger)
        self.labels = tagger.labels

    def answers(
        self, contents: Sequence[str], encoded: Sequence[EncodedPassage]
    ) -> list[list[Entity]]:
        """See ``Predictor``."""
        found = self._model.entities_of(encoded)
        return [as_entities(text, spans) for text, spans in zip(contents, found, strict=True)]

    def row(self, answer: list[Entity]) -> dict[str, Any]:
        """See ``Predictor``."""
        return {"entities": [dataclasses.asdict(entity) for entity in answer]}


def as_entities(text: str, spans: Iterable[tuple[EntitySpan, float]]) -> list[Entity]:
    """Return predicted spans of a text with their slices of it."""
    return [
        Entity(start, end, name, text[start:end], round(score, 6))
        for (start, end, name), score in spans
    ]
