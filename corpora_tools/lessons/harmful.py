"""Rules that change what a sentence says by a word: a negation, an opposite, a number, a name."""

from __future__ import annotations

import random

from corpora_tools.lessons import tables
from corpora_tools.lessons.numbers import other_number
from corpora_tools.lessons.role_swaps import SWAPS
from corpora_tools.lessons.sentence import NEGATION, Relation, Rule, Sentence, drawn

_TAGS = {"g": "a", "a": "a", "v": "v"}


def add_negation(sentence: Sentence, rng: random.Random) -> str | None:
    """Negate a sentence without a negation: 他会来 becomes 他不会来."""
    if NEGATION.search(sentence.text) or not sentence.states:
        return None
    found = []
    for place, word in enumerate(sentence.words):
        before, after = sentence.word(place - 1), sentence.word(place + 1)
        if word.text != "是" and sentence.in_modifier(place):
            continue
        if word.text == "是" and before.tag[:1] in ("n", "r") and after.tag and before.text != "还":
            if before.text not in ("什么", "谁", "哪", "哪里", "那就", "就"):
                found.append(sentence.replaced(place, place, "不"))
        elif (
            word.text in tables.words("modal")
            and before.tag[:1] in ("n", "r")
            and after.tag not in ("", "uj")
        ):
            found.append(sentence.replaced(place, place, "不"))
        elif word.text in ("很", "非常", "十分", "挺", "相当") and after.tag == "a":
            found.append(sentence.replaced(place, place + 1, "不"))
        elif word.text == "有" and before.tag[:1] in ("n", "r") and after.tag[:1] in ("n", "v"):
            found.append(sentence.replaced(place, place + 1, "没有"))
        elif (
            word.tag == "v"
            and after.text == "了"
            and before.tag[:1] in ("n", "r")
            and sentence.word(place + 2).tag[:1] in ("n", "r", "m")
        ):
            found.append(sentence.replaced(place, place + 2, f"没有{word.text}"))
    return drawn(rng, found)


def remove_negation(sentence: Sentence, rng: random.Random) -> str | None:
    """Affirm a sentence with one negation: 他不会来 becomes 他会来.

    Left alone are questions (A不A), doubled negations, and words like 不错 and 不仅.
    """
    del rng
    text = sentence.text
    if len(NEGATION.findall(text)) != 1 or not sentence.states or "太" in text:
        return None
    for place, word in enumerate(sentence.words):
        before, after = sentence.word(place - 1), sentence.word(place + 1)
        if not NEGATION.search(word.text):
            continue
        if sentence.in_modifier(place) or before.text in tables.words("negated_adverb"):
            return None
        if word.text in tables.mapping("negations"):
            return sentence.replaced(place, place + 1, tables.mapping("negations")[word.text])
        if word.text == "不" and after.text in (*tables.words("modal"), "是", "要"):
            return sentence.replaced(place, place + 1, "")
        if word.text == "不" and after.tag == "a" and len(after.text) > 1:
            return sentence.replaced(place, place + 1, "很")
        if word.text == "没有" and after.tag[:1] in ("n", "m", "a"):
            return sentence.replaced(place, place + 1, "有")
        if (
            word.text in ("没有", "没")
            and after.tag == "v"
            and after.text not in ("想到", "有", "能")
        ):
            bare = sentence.word(place + 2).tag in ("v", "ul", "uj", "ug", "uz", "d", "u")
            return None if bare else sentence.replaced(place, place + 2, f"{after.text}了")
        if word.text in ("别", "不要") and after.tag == "v" and not before.tag:
            return sentence.replaced(place, place + 1, "请")
    return None


def opposite_word(sentence: Sentence, rng: random.Random) -> str | None:
    """Replace a word by its opposite: 价格上涨了 becomes 价格下跌了."""
    if not sentence.states:
        return None
    found = []
    for start, end, others in sentence.phrases(tables.antonyms()):
        word, before = sentence.span(start, end), sentence.word(start - 1)
        if len(word) == 1 and before.text not in tables.words("degree"):
            continue
        tag = _TAGS.get(tables.marks()[word])
        if end == start + 1 and tag and sentence.words[start].tag != tag:
            continue  # 安全 in 考虑安全 is no adjective
        if sentence.in_modifier(start) or sentence.word(end).tag in ("uj", "n", "vn"):
            continue
        if any(other in sentence.text for other in others) or NEGATION.search(before.text):
            continue
        if tag == "v" and before.tag in ("a", "b"):
            continue  # 重要支持 is a noun
        found.append((start, end, others))
    if (choice := drawn(rng, found)) is None:
        return None
    start, end, others = choice
    return sentence.replaced(start, end, rng.choice(others))


def other_entity(sentence: Sentence, rng: random.Random) -> str | None:
    """Replace a subject or thing by one of its kind: 北京的房价 becomes 上海的房价."""
    return _replace_entity(sentence, rng, placed=False)


def other_place_or_time(sentence: Sentence, rng: random.Random) -> str | None:
    """Replace where or when something was: 在北京开会 becomes 在上海开会."""
    return _replace_entity(sentence, rng, placed=True)


def change_scope(relation: Relation, sentence: Sentence, rng: random.Random) -> str | None:
    """Change a word of quantity, necessity or time: 所有 becomes 有些, 至少 becomes 至多."""
    if not sentence.states or (NEGATION.search(sentence.text)):
        return None
    found = [
        (start, end, other)
        for start, end, others in sentence.phrases(tables.scopes())
        for other, said in others
        if said == relation and not sentence.in_modifier(start)
    ]
    choice = drawn(rng, [one for one in found if _fits(sentence, one[0], one[1])])
    if choice is None:
        return None
    start, end, other = choice
    noun, after = sentence.word(end).text, sentence.word(end + 1)
    if other in ("所有", "全部") and after.tag[:1] in ("v", "a", "d") and after.text != "都":
        return sentence.replaced(start, end + 1, f"{other}{noun}都")
    if other in ("有些", "部分") and after.text == "都":
        return sentence.replaced(start, end + 2, f"{other}{noun}")
    return sentence.replaced(start, end, other)


def _fits(sentence: Sentence, start: int, end: int) -> bool:
    word, after, before = sentence.span(start, end), sentence.word(end), sentence.word(start - 1)
    if word in tables.words("quantifier"):
        return after.tag == "n" and (before.tag == "" or (before.tag == "p" and word != "一些"))
    if word in tables.words("bound"):
        return before.tag[:1] in ("m", "q") or after.tag[:1] == "m"
    if word == "只" and before.tag[:1] == "m":  # 两只
        return False
    if word in ("之前", "之后"):
        return before.tag[:1] in ("n", "v", "t", "m", "q")
    if word == "都":
        return after.tag[:1] in ("v", "a") and before.text.endswith(("们", "大家", "部"))
    if word in tables.words("modality"):
        return after.tag in ("v", "d", "p")
    return bool(after.tag) and after.text != "的"


def _replace_entity(sentence: Sentence, rng: random.Random, *, placed: bool) -> str | None:
    found = []
    for place, word in enumerate(sentence.words):
        kind = tables.kinds().get(word.text)
        before, after = sentence.word(place - 1), sentence.word(place + 1)
        if not kind or sentence.text.count(word.text) > 1 or before.text == "大":
            continue
        if before.tag in ("ns", "n", "nz", "nt") or "、" in (before.text, after.text):
            continue
        if after.tag in ("ns", "nt", "nz"):
            continue
        if (
            kind in tables.TIMES or before.text in tables.words("before_place")
        ) == placed and after.text not in (
            "市",
            "省",
        ):
            others = [one for one in tables.entities()[kind] if one not in sentence.text]
            found += [(place, place + 1, one) for one in others]
    choice = drawn(rng, found)
    return sentence.replaced(*choice) if choice else None


def _scope(relation: Relation) -> Rule:
    def change(sentence: Sentence, rng: random.Random) -> str | None:
        return change_scope(relation, sentence, rng)

    return Rule("scope", change, relation, 2.0)


HARMFUL = (
    *SWAPS,
    Rule("negation_added", add_negation, "contradiction", 1.0),
    Rule("negation_removed", remove_negation, "contradiction", 1.0),
    Rule("opposite", opposite_word, "contradiction", 1.0),
    Rule("number", other_number, "contradiction", 2.0),
    Rule("entity", other_entity, "neutral", 1.5),
    Rule("place_or_time", other_place_or_time, "contradiction", 1.8),
    _scope("neutral"),
    _scope("contradiction"),
    _scope("entailment"),
)
