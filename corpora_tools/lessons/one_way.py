"""Rules whose result follows from a sentence, or says more than it: for inference alone."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from corpora_tools.lessons import tables
from corpora_tools.lessons.sentence import NEGATION, Rule, Sentence, drawn
from zh_albert.compression.augmentation.tang import Word

_COUNTED = re.compile(
    "(?<![第两几数一二三四五六七八九十百千万前后每这那的])(?P<number>[三四五六七八九])"
    "(?P<unit>[名位只条本家辆张]|个人)"
)
_MEASURES = {"城市": "座", "山": "座", "河流": "条", "国家": "个"}
_LESS = {"三": "两", "四": "三", "五": "三", "六": "四", "七": "五", "八": "五", "九": "六"}
_ALL = re.compile("所有|每|都|全部|任何|一切|凡|只|仅|最|第一|唯一|像|比")
_LINKS = re.compile(
    "^(?:但|而|所以|因此|因为|如果|虽然|于是|不过|可|并|就|才|却|还|也|又|则|以|从而|使|让|令)|[：:、]|一边|一面"
)
_PART = re.compile(
    "[的后时前下]$|(?:表示|指出|认为|介绍|报道|强调|说|称|显示|看来?|知道|觉得|相信|发现|明白|一下|行为)$"
    "|(?:来说|来讲|以来|起|中)$"
    "|^(?:面对|经过|因|据|自|对于|根据|在|随着|当|作为|为了|从|由于|按照|只|除了|通过)"
)


def drop_clause(sentence: Sentence, rng: random.Random) -> str | None:
    """Leave out the last of several statements: A，B，C becomes A，B."""
    clauses: list[list[Word]] = [[]]
    for word in sentence.words:
        if word.text in ("，", "；"):
            clauses.append([])
        elif word.text not in ("。", "！"):
            clauses[-1].append(word)
    if len(clauses) < 2 or not sentence.states or not all(map(_is_statement, clauses)):
        return None
    kept = clauses[: rng.randint(1, len(clauses) - 1)]
    return "，".join("".join(word.text for word in clause) for clause in kept) + "。"


def drop_time(sentence: Sentence, rng: random.Random) -> str | None:
    """Leave out an adverbial of time: 他昨天来了 becomes 他来了."""
    found = [
        (place, place + (2 if sentence.word(place + 1).text == "，" else 1), "")
        for place, word in enumerate(sentence.words)
        if word.tag == "t"
        and len(word.text) > 1
        and (
            sentence.word(place - 1).tag in ("", "nr", "ns", "nt")
            or sentence.word(place - 1).text in tables.words("pronoun")
        )
        and (place > 0 or sentence.word(1).tag in ("", "r", "nr", "ns", "n"))
        and sentence.word(place + 1).tag in ("", "r", "nr", "ns", "v", "d", "p")
        and sentence.word(place + 1).text not in ("、", "是", "的", "。", "起", "以来")
    ]
    choice = drawn(rng, found) if _says_so(sentence) else None
    return sentence.replaced(*choice) if choice else None


def drop_degree(sentence: Sentence, rng: random.Random) -> str | None:
    """Leave out a degree: 非常漂亮的房子 becomes 漂亮的房子."""
    found = [
        (place, place + 1, "")
        for place, word in enumerate(sentence.words)
        if word.text in tables.words("intensity")
        and sentence.word(place + 1).tag in ("a", "v")
        and (sentence.word(place - 1).tag or place == 0)
        and sentence.word(place - 1).tag[:1] != "m"
        and sentence.word(place - 1).text not in ("的", "是", "很")
    ]
    choice = drawn(rng, found) if _says_so(sentence) else None
    return sentence.replaced(*choice) if choice else None


def drop_attribute(sentence: Sentence, rng: random.Random) -> str | None:
    """Leave out an attribute of an object: 买了一辆红色的车 becomes 买了一辆车."""
    found = [
        (place - 1, place + 1, "")
        for place, word in enumerate(sentence.words)
        if word.text == "的"
        and sentence.word(place - 1).tag in ("a", "b", "z")
        and sentence.word(place - 2).text.startswith(
            ("一", "了", "个", "只", "种", "辆", "件", "条", "位")
        )
        and sentence.word(place + 1).tag in ("n", "nr", "nz")
        and sentence.word(place - 1).text not in ("真正", "假", "可能", "一样")
    ]
    choice = drawn(rng, found) if _says_so(sentence) else None
    return sentence.replaced(*choice) if choice else None


def more_general(sentence: Sentence, rng: random.Random) -> str | None:
    """Say it of a more general thing: 买了一辆出租车 becomes 买了一辆车."""
    found = [
        (place, place + 1, new)
        for place, word in enumerate(sentence.words)
        for general in tables.hypernyms().get(word.text, ())
        if general not in sentence.text and (new := _generalized(sentence, place, general))
    ]
    choice = drawn(rng, found) if _says_so(sentence) else None
    return sentence.replaced(*choice) if choice else None


def _generalized(sentence: Sentence, place: int, general: str) -> str | None:
    """Return what stands for a word where one of its kind is meant, and not all of them."""
    before, after = sentence.word(place - 1).text, sentence.word(place + 1)
    if after.tag[:1] in ("n", "u", "j") or after.text in tuple("、和与"):
        return None
    if general in tables.words("bare"):
        fits = before in tables.words("before_place") and after.text != "，"
        return (
            f"一{_MEASURES[general]}{general}" if fits and after.tag[:1] in ("", "v", "d") else None
        )
    if general == "人":
        return general if before.endswith("个") else None
    counted = before.endswith(tuple("个只辆种条件位"))
    had = before in tables.words("before_object") and not after.tag
    return general if counted or had else None


def at_least(sentence: Sentence, rng: random.Random) -> str | None:
    """Say a lower bound: 来了五个人 becomes 来了至少三个人."""
    del rng
    text = sentence.text
    match = _COUNTED.search(text) if _says_so(sentence) else None
    if match is None or sentence.text[: match.start()].endswith(
        ("至少", "至多", "这", "那", "的", "不到")
    ):
        return None
    return (
        f"{text[: match.start()]}至少{_LESS[match['number']]}{match['unit']}{text[match.end() :]}"
    )


def add_detail(sentence: Sentence, rng: random.Random) -> str | None:
    """Say more than the sentence: how or when it was done."""
    first, second, third = (sentence.word(place) for place in range(3))
    person = first.tag in ("r", "nr") and first.text in ("他", "她", "我", "他们", "我们", "她们")
    acts = (
        second.text not in tables.words("modal")
        and second.tag == "v"
        and third.text in ("了", "过")
        and second.text not in ("有", "成", "想")
    )
    if not (person and acts and _says_so(sentence)) or len(sentence.text) > 30:
        return None
    return sentence.replaced(1, 1, rng.choice(tables.words("how")))


def add_clause(sentence: Sentence, rng: random.Random) -> str | None:
    """Say more than the sentence: why, or what came of it."""
    if not sentence.states or "，" in sentence.text or len(sentence.text) > 24:
        return None
    if sentence.words[0].tag not in ("r", "nr", "ns", "t") or "了" not in sentence.text:
        return None
    return sentence.text.rstrip("。！") + rng.choice(tables.words("why")) + "。"


def _is_statement(clause: Sequence[Word]) -> bool:
    text = "".join(word.text for word in clause)
    acts = any(word.tag in ("v", "a") for word in clause)
    return acts and len(text) > 5 and not _LINKS.search(text) and not _PART.search(text)


def _says_so(sentence: Sentence) -> bool:
    text = sentence.text
    return sentence.states and not NEGATION.search(text) and not _ALL.search(text)


ONE_WAY = (
    Rule("clause_dropped", drop_clause, "entailment", None),
    Rule("time_dropped", drop_time, "entailment", None),
    Rule("degree_dropped", drop_degree, "entailment", None),
    Rule("attribute_dropped", drop_attribute, "entailment", None),
    Rule("more_general", more_general, "entailment", None),
    Rule("at_least", at_least, "entailment", None),
    Rule("detail_added", add_detail, "neutral", None),
    Rule("clause_added", add_clause, "neutral", None),
)
