"""Rules that change what a sentence says, by few words or by their order alone."""

from __future__ import annotations

import random
import re

from corpora_tools.lessons import tables
from corpora_tools.lessons.numbers import other_number
from corpora_tools.lessons.sentence import NEGATION, PERSONS, Relation, Rule, Sentence, drawn

_DEGREE = frozenset("很 太 更 最 挺 真 较 非常 十分 特别 相当 比较 越来越 极其 越 不 够 这么 那么".split())
_TAGS = {"g": "a", "a": "a", "v": "v"}
_MODAL = frozenset(
    "能 会 可以 能够 应该 应当 需要 愿意 敢 肯 喜欢 同意 支持 相信 知道 认为 赞成 允许 属于 适合 想 打算 觉得 记得 "
    "重视 接受 承认 影响 适用 符合 具备 包括 存在 担心 害怕 在乎 了解 明白 理解".split()
)
_REMOVED = {
    "不能": "能", "不会": "会", "不是": "是", "不可以": "可以", "不需要": "需要", "不想": "想", "不要": "要",
    "不应": "应", "不必": "必须", "不愿": "愿", "无法": "可以", "未": "已", "尚未": "已经", "不敢": "敢",
    "不喜欢": "喜欢", "不同意": "同意", "不应该": "应该", "不肯": "肯", "不用": "要", "从不": "经常",
    "从未": "曾经", "没法": "可以", "不准": "可以", "不许": "可以", "不行": "可以", "不好": "好", "不同": "相同",
}  # fmt: skip
_JOINED = re.compile("[和与跟同、及或]|互相|相互|彼此|之间|一起|双方|相同|一样|不同|是")
_PLACED = ("在", "到", "去", "来", "从", "于", "位于", "来自", "前往", "抵达", "回", "住在", "来到", "自")
_MODALITY = frozenset("必须 应该 应当 可以 可能 也许 一定 肯定 完全".split())
_LATER = re.compile("(?P<start>^|[，。；])(?P<head>[^，。；先]{0,6})先(?P<one>[^，。；先再才从]{2,10})，?(?P<then>再|然后再|然后)(?P<two>[^，。；！？再先才就]{2,12})(?P<end>[。！，；]|$)")
_CAUSE = re.compile("因为(?P<one>[^，。；]{4,20})，(?P<then>所以|因此)(?P<two>[^，。；]{4,20})(?P<end>[。！]?)$")


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
        elif word.text in _MODAL and before.tag[:1] in ("n", "r") and after.tag not in ("", "uj"):
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
        if sentence.in_modifier(place) or before.text in ("得", "并", "再", "也", "毫", "从", "都", "完全", "一点", "根本", "还", "而"):
            return None
        if word.text in _REMOVED:
            return sentence.replaced(place, place + 1, _REMOVED[word.text])
        if word.text == "不" and after.text in _MODAL | {"是", "要"}:
            return sentence.replaced(place, place + 1, "")
        if word.text == "不" and after.tag == "a" and len(after.text) > 1:
            return sentence.replaced(place, place + 1, "很")
        if word.text == "没有" and after.tag[:1] in ("n", "m", "a"):
            return sentence.replaced(place, place + 1, "有")
        if word.text in ("没有", "没") and after.tag == "v" and after.text not in ("想到", "有", "能"):
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
        if len(word) == 1 and before.text not in _DEGREE:
            continue
        tag = _TAGS.get(tables.marks()[word])
        if end == start + 1 and tag and sentence.words[start].tag != tag:
            continue  # 安全 in 考虑安全 is no adjective
        if sentence.in_modifier(start) or sentence.word(end).tag in ("uj", "n", "vn"):
            continue
        if any(other in sentence.text for other in others) or NEGATION.search(before.text):
            continue
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


def swap_names(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap two names around a verb: 小王借给小李 becomes 小李借给小王."""
    if _JOINED.search(sentence.text):
        return None
    places = [
        place
        for place, word in enumerate(sentence.words)
        if (word.tag == "ns" and len(word.text) > 1)
        or (word.tag == "nr" and len(word.text) > 1 and word.text[0] in tables.entities()["surname"])
    ]
    found = [
        (one, other)
        for one, other in zip(places, places[1:], strict=False)
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
        if word.text in PERSONS and sentence.word(place - 1).tag != "uj"
        for other in range(place + 2, min(place + 5, len(sentence.words)))
        if sentence.words[other].text in PERSONS
        and sentence.words[other].text != word.text
        and sentence.word(other + 1).text not in ("的", "自己", "和", "跟")
        and any(one.tag.startswith("v") for one in sentence.words[place + 1 : other])
        and all(one.tag for one in sentence.words[place:other])
    ]
    return None if _JOINED.search(sentence.text) else _swapped(sentence, drawn(rng, found))


def swap_disposal(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap who did it and to whom it was done: 他把小王打了 becomes 小王把他打了."""
    del rng
    for place, word in enumerate(sentence.words):
        if word.text in ("把", "被") and word.tag == "p":
            start = sentence.noun_phrase(place - 1, -1) + 1
            end = sentence.noun_phrase(place + 1, 1)
            opens, _ = sentence.clause(place)
            if opens == start < place and place + 1 < end and sentence.word(end).tag[:1] == "v":
                one, other = sentence.span(start, place), sentence.span(place + 1, end)
                if one != other:
                    return sentence.replaced(start, end, f"{other}{word.text}{one}")
    return None


def swap_compared(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap the two sides of a comparison: A比B贵 becomes B比A贵."""
    del rng
    if (sides := compared(sentence)) is None:
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


def compared(sentence: Sentence) -> tuple[int, int, int] | None:
    """Find a comparison: where its first side starts, the place of 比, the second side's end."""
    for place, word in enumerate(sentence.words):
        if word.text == "比" and word.tag == "p":
            start = sentence.noun_phrase(place - 1, -1) + 1
            end = sentence.noun_phrase(place + 1, 1)
            if sentence.clause(place)[0] == start < place and place + 1 < end:
                return start, place, end
    return None


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
    if word in ("所有", "有些", "一些", "部分", "全部", "大多数", "多数", "大部分"):
        return after.tag == "n" and (before.tag == "" or (before.tag == "p" and word != "一些"))
    if word in ("以上", "以下", "以内", "超过", "不到", "至少", "至多", "最少", "最多", "不少于"):
        return before.tag[:1] in ("m", "q") or after.tag[:1] == "m"
    if word in ("之前", "之后"):
        return before.tag[:1] in ("n", "v", "t", "m", "q")
    if word == "都":
        return after.tag[:1] in ("v", "a") and before.text.endswith(("们", "大家", "部"))
    if word in _MODALITY:
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
        if (kind in tables.TIMES or before.text in _PLACED) == placed and after.text not in ("市", "省"):
            others = [one for one in tables.entities()[kind] if one not in sentence.text]
            found.append((place, place + 1, rng.choice(others)))
    choice = drawn(rng, found)
    return sentence.replaced(*choice) if choice else None


def _swapped(sentence: Sentence, places: tuple[int, int] | None) -> str | None:
    if places is None:
        return None
    one, other = places
    between = sentence.span(one + 1, other)
    new = f"{sentence.words[other].text}{between}{sentence.words[one].text}"
    return sentence.replaced(one, other + 1, new)


def _scope(relation: Relation) -> Rule:
    def change(sentence: Sentence, rng: random.Random) -> str | None:
        return change_scope(relation, sentence, rng)

    return Rule("scope", change, relation, 2.0)


HARMFUL = (
    Rule("negation_added", add_negation, "contradiction", 1.0),
    Rule("negation_removed", remove_negation, "contradiction", 1.0),
    Rule("opposite", opposite_word, "contradiction", 1.0),
    Rule("number", other_number, "contradiction", 2.0),
    Rule("entity", other_entity, "neutral", 1.5),
    Rule("place_or_time", other_place_or_time, "contradiction", 1.8),
    Rule("names_swapped", swap_names, "neutral", 1.5),
    Rule("persons_swapped", swap_persons, "neutral", 1.5),
    Rule("disposal_swapped", swap_disposal, "contradiction", 1.2),
    Rule("comparison_swapped", swap_compared, "contradiction", 1.2),
    Rule("route_swapped", swap_route, "contradiction", 1.5),
    Rule("order_swapped", swap_order, "contradiction", 1.8),
    Rule("cause_swapped", swap_cause, "neutral", 1.8),
    _scope("neutral"),
    _scope("contradiction"),
    _scope("entailment"),
)
