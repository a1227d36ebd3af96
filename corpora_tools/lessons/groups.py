"""Groups of partners of a sentence, and pairs of lessons that overlap cannot tell apart."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

from corpora_tools.lessons.grammar import Altered, Meaning
from corpora_tools.lessons.harmful import HARMFUL
from corpora_tools.lessons.harmless import HARMLESS
from corpora_tools.lessons.one_way import ONE_WAY
from corpora_tools.lessons.sentence import Relation, Rule, Sentence, drawn
from zh_albert.compression.augmentation.tang import Tagger

Task = Literal["similarity", "nli"]

_CLOSE = 0.05  # difference of overlap between two lessons of a group
_SAME, _DIFFERENT = 4.0, 2.5  # scores of lessons from, and up to
_SIDES = {
    "similarity": ("same", "different"),
    "nli": ("entailment", "neutral", "contradiction"),
}
_BACK: dict[Relation, Relation] = {  # what a partner says about the sentence, where it is known
    "entailment": "neutral",
    "neutral": "entailment",
    "contradiction": "contradiction",
}
_AHEAD = 10  # lessons of a label more than of the rarest
_PAIRS = 2  # of lessons, at most, of a group
_VARIANTS = 3  # harmless variants of a sentence that are changed once more


class Partner(NamedTuple):
    """A sentence beside the first of its group; see ``Rule`` for the rest."""

    text: str
    kind: str
    relation: Relation
    score: float | None


class Group(NamedTuple):
    """A sentence and its partners."""

    text: str
    partners: Sequence[Partner]


def overlap(one: str, other: str) -> float:
    """Return how many of the character pairs of two texts are in both, 0 to 1 (Jaccard).

    >>> overlap("他打我", "我打他"), overlap("很好", "很好")
    (0.0, 1.0)
    """
    pairs = [{text[k : k + 2] for k in range(len(text) - 1)} or {text} for text in (one, other)]
    return len(pairs[0] & pairs[1]) / len(pairs[0] | pairs[1])


def group_of_sentence(text: str, task: Task, tag: Tagger, rng: random.Random) -> Group:
    """Change a sentence by the rules, once and twice; the first of two changes is harmless.

    Questions and conditions have no partners for nli.
    """
    rules = (*HARMFUL, *HARMLESS, *(ONE_WAY if task == "nli" else ()))
    original = Sentence(tuple(tag(text)))
    if task == "nli" and not original.states:
        return Group(text, [])
    once = [partner for rule in rules if (partner := _changed(original, rule, rng))]
    kept = [partner for partner in once if _follows(partner, task)]
    partners = list(once)
    for middle in rng.sample(kept, min(len(kept), _VARIANTS)):
        variant = Sentence(tuple(tag(middle.text)))
        for rule in rules:
            further = _changed(variant, rule, rng)
            if further and further.text != text and rule.kind != middle.kind:
                partners.append(_combined(middle, further))
    return Group(text, partners)


def group_of_meaning(meaning: Meaning, rng: random.Random) -> Group:
    """Take one form of a meaning as the sentence, and all others as its partners."""
    text = rng.choice(meaning.forms)
    partners = [Partner(form, f"same_{meaning.kind}", "entailment", 4.8) for form in meaning.forms]
    for altered in meaning.altered:
        partners += [
            Partner(form, altered.kind, altered.relation, altered.score) for form in altered.forms
        ]
    known = {form for altered in meaning.altered for form in altered.forms} & set(meaning.forms)
    left = [one for one in partners if one.text != text and one.text not in known]
    return Group(text, left)


def reversed_group(group: Group, task: Task, tag: Tagger, rng: random.Random) -> Group:
    """Begin with a partner that says the contrary, or for nli less or more than the sentence.

    So negations and added words are on both sides of all labels. What says less leaves the
    sentence neutral; from what says more it follows.

    Returns:
        The group itself, if it has no such partner.
    """
    first = drawn(rng, [one for one in group.partners if "+" not in one.kind and _turns(one)])
    if first is None:
        return group
    kind, relation = f"{first.kind}_reversed", _BACK[first.relation]
    back = [
        Partner(one.text, f"{kind}+{one.kind}", relation, first.score)
        for one in group.partners
        if _side(one, "similarity") == "same" and "+" not in one.kind
    ]
    known = group_of_sentence(first.text, task, tag, rng).partners
    return Group(first.text, [*known, *back, Partner(group.text, kind, relation, first.score)])


def reversed_meaning(meaning: Meaning, rng: random.Random) -> Meaning:
    """Begin with another meaning that contradicts the first or follows from it, if there is one."""
    first = drawn(rng, [one for one in meaning.altered if one.relation != "neutral"])
    if first is None:
        return meaning
    back = _BACK[first.relation]
    altered = Altered(f"{first.kind}_reversed", back, first.score, meaning.forms)
    return Meaning(first.kind, first.forms, [altered])


def lessons_of(
    group: Group, task: Task, used: Counter[str], rng: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield up to two pairs of lessons: of different labels, and of nearly the same overlap.

    For similarity one of a pair has the same meaning and one another; for nli they are two of the
    three relations. Labels and kinds that are rarer so far are preferred.

    Args:
        group: The sentence and its partners.
        task: What the labels are.
        used: Lessons of each relation and kind so far; counted up.
        rng: Draws among equals.
    """
    sides: dict[str, list[tuple[float, Partner]]] = defaultdict(list)
    for partner in group.partners:
        if side := _side(partner, task):
            sides[side].append((overlap(group.text, partner.text), partner))
    told: set[str] = set()
    for _ in range(_PAIRS):
        rarest = min(used[side] for side in _SIDES[task])
        found = [
            (
                used[a] + used[b],
                used[_main(one.kind)] + used[_main(other.kind)],
                rng.random(),
                one,
                other,
            )
            for a, b in combinations(sorted(sides), 2)
            for share, one in sides[a]
            for other_share, other in sides[b]
            if abs(share - other_share) <= _CLOSE
            and not {one.text, other.text} & told
            and min(used[a], used[b]) <= rarest + _AHEAD
        ]
        if not found:
            return
        *_, first, second = min(found, key=lambda pair: pair[:3])
        for partner in (first, second):
            told.add(partner.text)
            used.update([_main(partner.kind), _side(partner, task)])
            yield _lesson(group.text, partner, task, rng)


def _side(partner: Partner, task: Task) -> str:
    """Return the side a lesson is on; an empty string for a lesson of the other task."""
    if task == "nli":
        return partner.relation
    if partner.score is None or _DIFFERENT < partner.score < _SAME:
        return ""
    return "same" if partner.score >= _SAME else "different"


def _lesson(text: str, partner: Partner, task: Task, rng: random.Random) -> dict[str, Any]:
    sides = [text, partner.text]
    if task == "similarity":
        rng.shuffle(sides)
    if rng.random() < 0.2:
        side = rng.randrange(2)
        sides[side] = sides[side].removesuffix("。") or sides[side]
    label = partner.score if task == "similarity" else partner.relation
    return {"text_a": sides[0], "text_b": sides[1], "label": label, "kind": partner.kind}


def _changed(sentence: Sentence, rule: Rule, rng: random.Random) -> Partner | None:
    text = rule.change(sentence, rng)
    if text is None or (text := text.strip()) == sentence.text:
        return None
    return Partner(text, rule.kind, rule.relation, rule.score)


def _turns(partner: Partner) -> bool:
    """Whether it is known what the partner says about the sentence."""
    return partner.score is None or partner.relation == "contradiction"


def _follows(partner: Partner, task: Task) -> bool:
    """Whether a change of the partner is a change of the sentence: both say it, or it follows."""
    return _side(partner, task) in ("same", "entailment")


def _combined(first: Partner, second: Partner) -> Partner:
    both = first.score is not None and second.score is not None
    score = min(first.score or 0.0, second.score or 0.0) if both else None
    return Partner(second.text, f"{second.kind}+{first.kind}", second.relation, score)


def _main(kind: str) -> str:
    return kind.partition("+")[0]
