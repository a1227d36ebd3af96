"""Rules that change a sentence's words or their order, but not what it says."""

from __future__ import annotations

import random
import re

from corpora_tools.lessons import tables
from corpora_tools.lessons.numbers import other_form
from corpora_tools.lessons.sentence import NEGATION, Rule, Sentence, drawn
from zh_albert.compression.augmentation.tang import Word

_OPENED = re.compile(
    "^(?:(?:请问|想问一下|想问下|其实|事实上|实际上)(?!的)，?|(?:说实话|老实说)，)"
)
_ENDED = re.compile("(?<=[^吗呢吧啊])(?=[？?]$)")
_PAIRED = re.compile("[和与跟及]|以及|、")
_BECAUSE = re.compile(
    "^因为(?P<one>[^，。；？]{3,22})，所以(?P<two>[^，。；？]{3,22})(?P<end>[。！]?)$"
)
_ALTHOUGH = re.compile("虽然(?P<one>[^，。；]{2,22})，(?:但是|但|可是)(?P<two>[^，。；]{2,22})")
_IF = re.compile("(?:如果|要是|假如)(?P<one>[^，。；？的]{2,16})(?P<more>的话)?，")
_BOTH = re.compile(
    "(?P<start>既|一边|一面)(?P<one>[^，。；又既一]{1,8})，?(?P<then>又|一边|一面)"
    "(?P<two>[^，。；又一吗]{1,8})(?P<end>[，。！；]|$)"
)
_CAN = re.compile(
    "(?<![不才还就可功性智需将主重必只机社误体约开])(能|会|要)(?P<rest>[^，。？！不没吗的]{2,14})"
    "吗(?P<end>[？?]?)$"
)
_CAN_OR_NOT = re.compile(
    "(能不能|会不会|要不要|可不可以|能否)(?P<rest>[^，。？！不没呢]{2,14})(?P<end>[？?])$"
)
_IS = re.compile(
    "(?<![不也还都就只但可总算真于若要像老凡该便正])是(?P<rest>[^，。？！不没的]{2,14})"
    "吗(?P<end>[？?]?)$"
)


def use_synonyms(sentence: Sentence, rng: random.Random) -> str | None:
    """Replace one to three words by others of the same meaning."""
    found = [
        (start, end, others)
        for start, end, others in sentence.phrases(tables.synonyms())
        if len(sentence.span(start, end)) > 1 and not NEGATION.search(sentence.word(start - 1).text)
    ]
    if not found:
        return None
    chosen = sorted(rng.sample(found, min(len(found), rng.randint(1, 3))), reverse=True)
    words = [word.text for word in sentence.words]
    for start, end, others in chosen:
        words[start:end] = [rng.choice(others)]
    return "".join(words)


def add_filler(sentence: Sentence, rng: random.Random) -> str | None:
    """Begin with words that say nothing: 请问, 其实."""
    if _OPENED.search(sentence.text):
        return None
    if sentence.asks:
        text = _ENDED.sub(
            "呢" if rng.random() < 0.3 and "么" in sentence.text else "", sentence.text
        )
        return rng.choice(tables.words("asking")) + text
    starts = sentence.words[0].tag == "r"
    return rng.choice(tables.words("saying")) + sentence.text if starts else None


def drop_filler(sentence: Sentence, rng: random.Random) -> str | None:
    """Leave out words that say nothing at the start."""
    del rng
    changed = _OPENED.sub("", sentence.text)
    return changed if changed != sentence.text and len(changed) > 4 else None


def move_time(sentence: Sentence, rng: random.Random) -> str | None:
    """Move a time before or behind the subject: 昨天我在上海, 我昨天在上海."""
    first, second, third = (sentence.word(place) for place in range(3))
    if first.text in tables.words("time"):
        place = 2 if second.text == "，" else 1
        subject, after = sentence.word(place), sentence.word(place + 1)
        if _is_name(subject) and after.tag[:1] in ("v", "p", "d") and after.text != "是":
            return sentence.replaced(0, place + 1, f"{subject.text}{first.text}")
    if second.text in tables.words("time") and _is_name(first) and third.tag[:1] in ("v", "p", "d"):
        comma = rng.choice(["", "，"])
        return sentence.replaced(0, 2, f"{second.text}{comma}{first.text}")
    return None


def swap_joined(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap two nouns joined by 和: 老师和学生 becomes 学生和老师."""
    found = []
    for place, word in enumerate(sentence.words):
        one, other = sentence.word(place - 1), sentence.word(place + 1)
        before, after = sentence.word(place - 2), sentence.word(place + 2)
        if (
            _PAIRED.fullmatch(word.text)
            and one.tag == other.tag
            and one.tag in ("n", "nr", "ns", "nz", "vn", "v", "a")
            and one.text != other.text
            and before.tag in ("", "p", "uj", "d")
            and before.text not in ("”", "》", "、")
            and (not after.tag or after.tag in ("d", "uj") or after.text in ("都", "是"))
            and after.text not in ("、", "》", "等")
            and (word.text != "跟" and (one.tag != "v" or after.tag == ""))
        ):
            found.append((place - 1, place + 2, f"{other.text}{word.text}{one.text}"))
    choice = drawn(rng, found)
    return sentence.replaced(*choice) if choice else None


def turn_cause(sentence: Sentence, rng: random.Random) -> str | None:
    """Say the effect first: 因为A，所以B becomes B，因为A, or 之所以B，是因为A."""
    if (match := _BECAUSE.match(sentence.text)) is None:
        return None
    forms = ("{two}，因为{one}{end}", "之所以{two}，是因为{one}{end}", "由于{one}，因此{two}{end}")
    return rng.choice(forms).format(**match.groupdict())


def turn_concession(sentence: Sentence, rng: random.Random) -> str | None:
    """Write 虽然A，但是B in another way."""
    if (match := _ALTHOUGH.search(sentence.text)) is None:
        return None
    forms = ("{one}，不过{two}", "尽管{one}，可是{two}", "{one}，但{two}")
    new = rng.choice(forms).format(one=match["one"], two=match["two"])
    return sentence.text[: match.start()] + new + sentence.text[match.end() :]


def turn_condition(sentence: Sentence, rng: random.Random) -> str | None:
    """Write 如果A， as 要是A的话，, or without 的话."""
    if (match := _IF.search(sentence.text)) is None:
        return None
    forms = ("如果{one}，", "假如{one}，") if match["more"] else ("要是{one}的话，", "{one}的话，")
    new = rng.choice(forms).format(one=match["one"])
    return sentence.text[: match.start()] + new + sentence.text[match.end() :]


def swap_parallel(sentence: Sentence, rng: random.Random) -> str | None:
    """Swap what is said with 又: 又大又甜 becomes 又甜又大."""
    del rng
    for place, word in enumerate(sentence.words):
        one, again, other = (sentence.word(place + step) for step in (1, 2, 3))
        alike = one.tag == other.tag and one.tag in ("a", "v") and one.text != other.text
        ends = sentence.word(place + 4).tag in ("", "uj")
        if word.text == again.text == "又" and alike and ends:
            return sentence.replaced(place + 1, place + 4, f"{other.text}又{one.text}")
    if (match := _BOTH.search(sentence.text)) is None or match["one"] == match["two"]:
        return None
    comma = "，" if "，" in match[0][:-1] else ""
    new = f"{match['start']}{match['two']}{comma}{match['then']}{match['one']}{match['end']}"
    return sentence.text[: match.start()] + new + sentence.text[match.end() :]


def turn_disposal(sentence: Sentence, rng: random.Random) -> str | None:
    """Change active to passive and back, roles kept: 他把车卖了 becomes 车被他卖了."""
    del rng
    for start, place, end in sentence.sides(("把", "被")):
        if sentence.word(end).tag[:1] == "v":
            one, other = sentence.span(start, place), sentence.span(place + 1, end)
            turned = "被" if sentence.word(place).text == "把" else "把"
            if turned == "把" and not sentence.word(end + 1).tag:
                return None  # 把 needs more than a bare verb
            return sentence.replaced(start, end, f"{other}{turned}{one}")
    return None


def turn_comparison(sentence: Sentence, rng: random.Random) -> str | None:
    """Turn a comparison round with the opposite word: A比B贵 becomes B比A便宜."""
    if (sides := next(sentence.sides(("比",)), None)) is None:
        return None
    start, place, end = sides
    adverb = sentence.word(end).text in ("更", "还", "更加")
    adjective = sentence.word(end + adverb)
    opposite = tables.gradable().get(adjective.text)
    if opposite is None or sentence.word(end + adverb + 1).text == "的":
        return None
    one, other = sentence.span(start, place), sentence.span(place + 1, end)
    if rng.random() < 0.3 and not sentence.word(end + adverb + 1).tag:
        return sentence.replaced(start, end + adverb + 1, f"{other}没有{one}{adjective.text}")
    more = sentence.span(end, end + adverb)
    return sentence.replaced(start, end + adverb + 1, f"{other}比{one}{more}{opposite}")


def deny_opposite(sentence: Sentence, rng: random.Random) -> str | None:
    """Say it with the opposite: 很贵 becomes 不便宜; but what is 不贵 is not cheap yet."""
    found = []
    for place, word in enumerate(sentence.words):
        opposite = tables.gradable(denied=True).get(word.text)
        before, more = sentence.word(place - 1), sentence.word(place - 2)
        if (
            opposite is None
            or more.text in ("并", "也", "都", "一点")
            or NEGATION.search(more.text)
            or sentence.word(place + 1).tag
        ):
            continue
        if before.text in tables.words("deniable_degree") and word.text not in (
            "好",
            "差",
            "大",
            "小",
            "多",
            "少",
        ):
            found.append(
                (
                    place - 1,
                    place + 1,
                    f"不{opposite}" if rng.random() < 0.6 else f"一点也不{opposite}",
                )
            )
    choice = drawn(rng, found)
    return sentence.replaced(*choice) if choice else None


def double_negation(sentence: Sentence, rng: random.Random) -> str | None:
    """Say it with two negations, or with none: 不得不 and 必须."""
    found = [
        found
        for found in sentence.phrases(tables.mapping("doubled"))
        if sentence.word(found[1]).tag in ("v", "p")
        and sentence.word(found[1]).text not in ("有", "是")
        and (
            sentence.word(found[0] - 1).tag == "nr"
            or sentence.word(found[0] - 1).text in tables.words("pronoun")
        )
    ]
    choice = drawn(rng, found)
    return sentence.replaced(*choice) if choice else None


def turn_question(sentence: Sentence, rng: random.Random) -> str | None:
    """Ask in another form: 能退货吗, 能不能退货, 可以退货吗."""
    text = sentence.text
    if match := _CAN.search(text):
        pairs = {"能": ["能不能", "可不可以"], "会": ["会不会"], "要": ["要不要", "需不需要"]}
        asked, particle = rng.choice(pairs[match[1]]), ""
    elif match := _CAN_OR_NOT.search(text):
        plain = {"会不会": "会", "要不要": "要"}
        asked, particle = plain.get(match[1]) or rng.choice(["能", "可以"]), "吗"
    elif match := _IS.search(text):
        asked, particle = rng.choice(["是不是", "是否是"]), ""
    else:
        return None
    return text[: match.start()] + asked + match["rest"] + particle + match["end"]


def _is_name(word: Word) -> bool:
    return word.text in tables.words("pronoun") or (
        word.tag in ("nr", "ns", "nt") and len(word.text) > 1
    )


HARMLESS = (
    Rule("synonyms", use_synonyms, "entailment", 4.6),
    Rule("filler_added", add_filler, "entailment", 4.7),
    Rule("filler_dropped", drop_filler, "entailment", 4.7),
    Rule("time_moved", move_time, "entailment", 4.9),
    Rule("joined_swapped", swap_joined, "entailment", 4.9),
    Rule("cause_turned", turn_cause, "entailment", 4.8),
    Rule("concession_turned", turn_concession, "entailment", 4.8),
    Rule("condition_turned", turn_condition, "entailment", 4.8),
    Rule("parallel_swapped", swap_parallel, "entailment", 4.9),
    Rule("disposal_turned", turn_disposal, "entailment", 4.8),
    Rule("comparison_turned", turn_comparison, "entailment", 4.6),
    Rule("opposite_denied", deny_opposite, "entailment", 4.2),
    Rule("double_negation", double_negation, "entailment", 4.5),
    Rule("question_form", turn_question, "entailment", 4.7),
    Rule("number_form", other_form, "entailment", 4.8),
)
