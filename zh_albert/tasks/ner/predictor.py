"""A trained tagger answering: typed entities, a stream in constant memory, order kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from zh_albert.prefetch import map_prefetched
from zh_albert.runtimes.exported import RuntimeSettings, with_runtimes
from zh_albert.tasks.chunks import as_list, pools
from zh_albert.tasks.ner.examples import EntitySpan
from zh_albert.tasks.ner.tagger import EncodedPassage, TextTagger


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a text names; ``text == whole_text[start:end]``, always.

    Attributes:
        start: Its first character, counted in code points.
        end: Behind its last character.
        type: What it is.
        text: The slice of the user's own string.
        score: Its probability.
    """

    start: int
    end: int
    type: str
    text: str
    score: float


class Tagger:
    """Texts → lists of ``Entity``; what ``zh_albert.load`` returns for a tagger's folder."""

    def __init__(self, tagger: TextTagger) -> None:
        self._tagger = tagger
        self.labels = tagger.labels
        self.metadata = tagger.metadata

    @classmethod
    def load(cls, folder: Path, **how: Unpack[RuntimeSettings]) -> Tagger:
        """Open a model folder; see ``zh_albert.load`` for what runs it.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        return cls(with_runtimes(TextTagger.load(folder), folder, **how))

    def __call__(self, texts: str | Iterable[str]) -> list[list[Entity]]:
        """Find the entities of each text, in order; a single string counts as a list of one.

        A text without any, also an empty one, has an empty list.

        Raises:
            DataError: If a text is not a string (its index is named).
        """
        texts = as_list(texts)
        found = self._tagger.predict(texts)
        return [as_entities(text, spans) for text, spans in zip(texts, found, strict=True)]

    def stream(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Find the entities of any number of texts in constant memory, in order."""

        def encode(pool: list[str]) -> tuple[list[str], list[EncodedPassage]]:
            return pool, self._tagger.encode(pool)

        # The next pool is tokenized while the network reads this one.
        for pool, passages in map_prefetched(encode, pools(texts)):
            found = self._tagger.entities_of(passages)
            for text, spans in zip(pool, found, strict=True):
                yield as_entities(text, spans)


def as_entities(text: str, spans: Iterable[tuple[EntitySpan, float]]) -> list[Entity]:
    """Return predicted spans of a text with their slices of it."""
    return [
        Entity(start, end, name, text[start:end], round(score, 6))
        for (start, end, name), score in spans
    ]
