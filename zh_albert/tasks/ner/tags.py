"""Tags of entities: outside, or a part of an entity of a type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor

from zh_albert.errors import CheckpointError
from zh_albert.model.crf import Transitions
from zh_albert.model.crf_decoding import Floats, Ints, TransitionScores, path_sums
from zh_albert.tasks.ner.alignment import ScoredSpan, TokenSpan
from zh_albert.tasks.ner.parts import in_parts
from zh_albert.tasks.tagging.decoding import decoded

Scheme = Literal["bioes", "bio"]

_PARTS: dict[Scheme, str] = {"bioes": "BIES", "bio": "BI"}
_OUTSIDE = "O"
_OTHER_LETTERS = {"M": "I", "L": "E", "U": "S"}  # of BMES and BILOU
_TAG = re.compile(r"([BIMELSU])[-_](.+)", re.DOTALL)


@dataclass(frozen=True)
class TagSet:
    """The tags of a tagger, in the order of its scores.

    A tag is ``O`` (outside), or begin, inside, end or single of a type. Without end tags (BIO), an
    entity ends where the next token does not continue it; without single tags, an entity of one
    token begins and ends with ``B``.

    Attributes:
        names: The names of the tags.
        types: The types of entities, in the order of their numbers.
        parts: ``O``, ``B``, ``I``, ``E`` or ``S`` of each tag.
        type_ids: The number of each tag's type; -1: outside.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    parts: tuple[str, ...]
    type_ids: tuple[int, ...]

    @classmethod
    def of(cls, types: Sequence[str], scheme: Scheme = "bioes") -> Self:
        """Return the tags of types.

        >>> TagSet.of(["人", "地"], "bio").names
        ('O', 'B-人', 'I-人', 'B-地', 'I-地')
        """
        parts = _PARTS[scheme]
        names = (_OUTSIDE, *(f"{part}-{name}" for name in types for part in parts))
        numbers = (-1, *(number for number in range(len(types)) for _ in parts))
        return cls(names, tuple(types), (_OUTSIDE, *parts * len(types)), numbers)

    @classmethod
    def read(cls, names: Sequence[str]) -> Self:
        """Read tags by their names, in any order; ``M``, ``L`` and ``U`` are ``I``, ``E``, ``S``.

        >>> TagSet.read(["I_人", "B_人", "O"]).types
        ('人',)

        Raises:
            CheckpointError: If they are not those of one scheme.
        """
        numbers: dict[str, int] = {}
        parts, type_ids = [], []
        for name in names:
            found = _TAG.fullmatch(name)
            if not found and name != _OUTSIDE:
                raise _unusual(f"{name!r:.80}")
            letter, of_type = found.groups() if found else (_OUTSIDE, "")
            parts.append(_OTHER_LETTERS.get(letter, letter))
            type_ids.append(numbers.setdefault(of_type, len(numbers)) if found else -1)
        tags = cls(tuple(names), tuple(numbers), tuple(parts), tuple(type_ids))
        if parts.count(_OUTSIDE) != 1 or not numbers:
            raise _unusual(f"{parts.count(_OUTSIDE)} tags O and {len(numbers)} types")
        if "E" in parts and "S" not in parts:
            raise _unusual("end tags without single ones")
        for number, of_type in enumerate(numbers):
            own = {part for part, its in zip(parts, type_ids, strict=True) if its == number}
            if len(own) < type_ids.count(number):
                raise _unusual(f"two tags for the same part of {of_type!r:.80}")
            if "B" not in own and not ("S" in own and own.isdisjoint("IE")):
                raise _unusual(f"no tag for the begin of {of_type!r:.80}")
        return tags

    @property
    def outside(self) -> int:
        """The number of the tag ``O``."""
        return self.parts.index(_OUTSIDE)

    @cached_property
    def starts(self) -> list[bool]:
        """Whether each tag can be an entity's first."""
        return [part in "BS" for part in self.parts]

    @cached_property
    def ends(self) -> list[bool]:
        """Whether each tag can be an entity's last."""
        last = "ES" + ("" if "E" in self.parts else "I") + ("" if "S" in self.parts else "B")
        return [part in last for part in self.parts]

    @cached_property
    def continues(self) -> Tensor:
        """Whether the tag of the column continues that of the row's entity. Shape: (tags, tags)."""
        types, parts = torch.tensor(self.type_ids), self.parts
        begun = torch.tensor([part in "BI" for part in parts])
        goes_on = torch.tensor([part in "IE" for part in parts])
        return begun[:, None] & goes_on & (types[:, None] == types)

    @cached_property
    def legal(self) -> Transitions:
        """The legal first tags, transitions and last tags: entities begin and end as they must."""
        outside = torch.tensor([part == _OUTSIDE for part in self.parts])
        start, end = torch.tensor(self.starts) | outside, torch.tensor(self.ends) | outside
        return Transitions(start=start, between=(end[:, None] & start) | self.continues, end=end)

    def number(self, type_id: int, part: str) -> int:
        """Return the number of a tag, of a part that the scheme lacks that of its substitute."""
        substitute = {"S": "B", "E": "I"}.get(part, part)
        numbers = self._numbers
        return numbers.get((type_id, part), numbers[type_id, substitute])

    def of_spans(self, spans: Sequence[TokenSpan], tokens: int) -> list[int]:
        """Return the tag of each token; spans must not overlap."""
        tags = [self.outside] * tokens
        for first, last, type_id in spans:
            if first == last:
                tags[first] = self.number(type_id, "S")
                continue
            tags[first], tags[last] = self.number(type_id, "B"), self.number(type_id, "E")
            tags[first + 1 : last] = [self.number(type_id, "I")] * (last - first - 1)
        return tags

    def spans_of(self, tags: Sequence[int]) -> Iterator[TokenSpan]:
        """Yield the entities that tags mark, in order; those without begin or end are skipped."""
        first = None
        for token, tag in enumerate(tags):
            if self.starts[tag]:
                first = token
            elif token and first is not None and not self._goes_on(tags[token - 1], tag):
                first = None
            is_last = token + 1 == len(tags) or not self._goes_on(tag, tags[token + 1])
            if first is not None and self.ends[tag] and is_last:
                yield TokenSpan(first, token, self.type_ids[tag])
                first = None

    @cached_property
    def _numbers(self) -> dict[tuple[int, str], int]:
        each = zip(self.type_ids, self.parts, strict=True)
        return {tag: number for number, tag in enumerate(each)}

    def _goes_on(self, tag: int, following: int) -> bool:
        same_type = self.type_ids[tag] == self.type_ids[following]
        return same_type and self.parts[tag] in "BI" and self.parts[following] in "IE"


def _unusual(found: str) -> CheckpointError:
    return CheckpointError(
        "expected the tags of one scheme (O; B-TYPE and I-TYPE; perhaps S-TYPE, or E-TYPE and "
        f"S-TYPE), found {found}; name them so in id2label of config.json"
    )


def best_spans(
    emissions: Sequence[Tensor],
    transitions: Transitions,
    tag_set: TagSet,
    breaks: Sequence[Sequence[int]],
) -> list[list[ScoredSpan]]:
    """Return the entities of each text, by the best legal tags.

    Each part of a text between two breaks is decoded for itself.

    An entity's score is its probability: the total probability of the legal tag sequences that
    contain it.

    Args:
        emissions: Of each text. Shape of each: (tokens, tags).
        transitions: Scores between tags.
        tag_set: The tags.
        breaks: The tokens before which each text breaks off.
    """
    exact = TransitionScores.of(transitions)
    return in_parts(emissions, breaks, lambda parts: _best_spans(parts, exact, tag_set))


def _best_spans(
    emissions: Sequence[Tensor], transitions: TransitionScores, tag_set: TagSet
) -> list[list[ScoredSpan]]:
    result: list[list[ScoredSpan]] = [[] for _ in emissions]
    for numbers, batch, lengths, tags in decoded(emissions, transitions):
        found = (tags != tag_set.outside).any(1)
        rows = [number for number, has in zip(numbers, found.tolist(), strict=True) if has]
        scored = _scored_spans(batch[found], lengths[found], transitions, tags[found], tag_set)
        for number, entities in zip(rows, scored, strict=True):
            result[number] = entities
    return result


def _scored_spans(
    emissions: Floats, lengths: Ints, transitions: TransitionScores, tags: Ints, tag_set: TagSet
) -> list[list[ScoredSpan]]:
    """Return the entities that tags mark, each with its probability; see ``best_spans``.

    Args:
        emissions: Of each text. Shape: (texts, length, tags).
        lengths: Tokens of each text. Shape: (texts,).
        transitions: Scores between tags.
        tags: The best of each text, whose transitions are legal. Shape: (texts, length).
        tag_set: The tags.
    """
    texts = [
        list(tag_set.spans_of(row[:length]))
        for row, length in zip(tags.tolist(), lengths.tolist(), strict=True)
    ]
    found = [(row, *span[:2]) for row, spans in enumerate(texts) for span in spans]
    if not found:
        return [[] for _ in texts]
    rows, firsts, lasts = np.array(found).T
    before, after, total = path_sums(emissions, lengths, transitions)
    # Score that each token adds to its text's path; the tags of an entity are part of that path.
    steps = np.take_along_axis(emissions, tags[..., None], axis=2)[..., 0]
    steps[:, 1:] += transitions.between[tags[:, :-1], tags[:, 1:]]
    path = steps.cumsum(1)
    last_tags = tags[rows, lasts]
    logs = before[rows, firsts, tags[rows, firsts]] + after[rows, lasts, last_tags]
    logs += path[rows, lasts] - path[rows, firsts] - total[rows]
    chances = np.exp(logs)
    following = lasts + 1
    goes_on = tag_set.continues.numpy()[last_tags] & (following < lengths[rows])[:, None]
    if goes_on.any():  # there are no end tags: paths on which the entity is longer do not count
        following = np.minimum(following, tags.shape[1] - 1)
        on = transitions.between[last_tags] + emissions[rows, following] + after[rows, following]
        longer = np.logaddexp.reduce(np.where(goes_on, on, -np.inf), axis=-1)
        chances *= 1 - np.exp(longer - after[rows, lasts, last_tags])
    probabilities = iter(chances.clip(0, 1).tolist())
    return [[ScoredSpan(*span, next(probabilities)) for span in spans] for spans in texts]
