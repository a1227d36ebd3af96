"""Rules that swap who did what to whom, what is compared, and what came first: by order alone."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from corpora_tools.lessons import tables
from corpora_tools.lessons.sentence import Rule, Sentence, drawn

_JOINED = re.compile("[和与跟同、及或]|互相|相互|彼此|之间|一起|双方|相同|一样|不同|是")
_LATER = re.compile(
    "(?P<start>^|[，。；])(?P<head>[^，。；先]{0,6})先(?P<one>[^，。；先再才从]{2,10})"
    "，?(?P<then>再|然后再|然后)(?P<two>[^，。；！？再先才就]{2,12})(?P<end>[。！，；]|$)"
)
_CAUSE = re.compile(
    "因为(?P<one>[^，。；]{4,20})，(?P<then>所以|因此)(?P<two>[^，。；]{4,20})(?P<end>[。！]?)$"
)


def swap_names(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap two names around a verb: 小王借给小李 becomes 小李借给小王."""
    if _JOINED.search(sentence.text):
        return None
    places = [
        place
        for place, word in enumerate(sentence.words)
        if tables.kinds().get(word.text) in ("city", "country", "province")
        or (
            word.tag == "nr" and len(word.text) > 1 and word.text[0] in tables.entities()["surname"]
        )
    ]
    found = [
        (one, other)
        for one, other in pairwise(places)
        if sentence.words[one].tag == sentence.words[other].tag
        and sentence.words[one].text != sentence.words[other].text
        and any(word.tag.startswith(("v", "p")) for word in sentence.words[one + 1 : other])
        and all(word.tag for word in sentence.words[one:other])
    ]
    return _swapped(sentence, drawn(rng, found))


def swap_persons(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap the pronouns around a verb: 我喜欢你 becomes 你喜欢我."""
    found = [
        (place, other)
        for place, word in enumerate(sentence.words)
        if word.text in tables.words("pronoun") and sentence.word(place - 1).tag != "uj"
        for other in range(place + 2, min(place + 5, len(sentence.words)))
        if sentence.words[other].text in tables.words("pronoun")
        and sentence.words[other].text != word.text
        and sentence.word(other + 1).text not in ("的", "自己", "和", "跟")
        and any(one.tag.startswith("v") for one in sentence.words[place + 1 : other])
        and all(one.tag for one in sentence.words[place:other])
    ]
    return None if _JOINED.search(sentence.text) else _swapped(sentence, drawn(rng, found))


def swap_disposal(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap who did it and to whom it was done: 他把小王打了 becomes 小王把他打了."""
    del rng
    for start, place, end in sentence.sides(("把", "被")):
        one, other = sentence.span(start, place), sentence.span(place + 1, end)
        if sentence.word(end).tag[:1] == "v" and one != other:
            return sentence.replaced(start, end, f"{other}{sentence.word(place).text}{one}")
    return None


def swap_compared(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap the two sides of a comparison: A比B贵 becomes B比A贵."""
    del rng
    if (sides := next(sentence.sides(("比",)), None)) is None:
        return None
    start, place, end = sides
    one, other = sentence.span(start, place), sentence.span(place + 1, end)
    return sentence.replaced(start, end, f"{other}比{one}") if one != other else None


def swap_route(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap where a way begins and ends: 从北京到上海 becomes 从上海到北京."""
    del rng
    for place, word in enumerate(sentence.words):
        one, to, other = (sentence.word(place + k) for k in (1, 2, 3))
        if (
            word.text in ("从", "由", "自")
            and to.text in ("到", "至", "飞往", "开往", "前往", "去", "飞到")
            and one.tag[:1] in ("n", "s", "t")
            and one.tag == other.tag
            and one.text != other.text
        ):
            return sentence.replaced(place + 1, place + 4, f"{other.text}{to.text}{one.text}")
    return None


def swap_order(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap two events: 先吃饭再洗澡 becomes 先洗澡再吃饭."""
    del rng
    text = sentence.text
    if (match := _LATER.search(text)) is None or match["one"] == match["two"]:
        return None
    swapped = f"{match['start']}{match['head']}先{match['two']}，{match['then']}{match['one']}"
    return text[: match.start()] + swapped + match["end"] + text[match.end() :]


def swap_cause(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap cause and effect: 因为A，所以B becomes 因为B，所以A."""
    del rng
    if (match := _CAUSE.search(sentence.text)) is None:
        return None
    swapped = f"因为{match['two']}，{match['then']}{match['one']}{match['end']}"
    return sentence.text[: match.start()] + swapped


def _swapped(sentence: Sentence, places: tuple[int, int] | None) -> str | None:
    if places is None:
        return None
    one, other = places
    between = sentence.span(one + 1, other)
    new = f"{sentence.words[other].text}{between}{sentence.words[one].text}"
    return sentence.replaced(one, other + 1, new)


SWAPS = (
    Rule("names_swapped", swap_names, "neutral", 1.5),
    Rule("persons_swapped", swap_persons, "neutral", 1.5),
    Rule("disposal_swapped", swap_disposal, "contradiction", 1.2),
    Rule("comparison_swapped", swap_compared, "contradiction", 1.2),
    Rule("route_swapped", swap_route, "contradiction", 1.5),
    Rule("order_swapped", swap_order, "contradiction", 1.8),
    Rule("cause_swapped", swap_cause, "neutral", 1.8),
)
