"""What both checkouts are asked: made-up texts, seeded, and sentences of the project's pages."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

COUNTS = {"texts": 1000, "pairs": 400, "questions": 300, "masks": 250, "choices": 60}
QUICK = {"texts": 120, "pairs": 80, "questions": 60, "masks": 20, "choices": 30}
MASK = "[MASK]"
COMMON = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可"
ODD = (
    "",
    " ",
    "\u3000\t\n",
    "。",
    "a",
    "！？…——《》“”‘’·",
    "😀😂❤️👨‍👩‍👧🇨🇳2️⃣",
    "今天好开心😀，朋友也来了👍🏽！",
    "𠮷野家的牛肉饭，豈有此理",
    "e\u0301te\u0301 cafe\u0301 中\u0301文",
    "零\u200b宽\u200d空\ufeff格\u00ad和\x00控\x07制\x1c符\x85号\x7f",
    "坏掉的\ufffd字\ufffd",
    "半个\ud800代理\udfff对",
    "\udc00",
    "第一行\n第二行\r\n第三行\r第四行",
    "行\u2028段\u2029落",
    "ＡＢＣ１２３％＋＝全角　空格，：；",
    "İstanbul ß ẞ ΟΔΟΣ ǆ ﬁ ½ ㎏ ℃ №",
    "한국어 がぎぐ パン か\u3099 кириллица العربية",
    "<script>alert('x')</script> &amp; {\"text\": 1} \\n %s {}",
    "[CLS]你好[SEP][PAD][UNK]##字 [unused1]",
    "a" * 300,
    "哈" * 200,
    "1234567890" * 12,
    "http://example.com/a?b=c&d=%E4%BD%A0 someone@example.com 2024-02-30 3.14159",
)
TRADITIONAL = (
    "這家飯店的早餐很豐盛，服務也週到",
    "臺灣大學的張教授昨天飛往舊金山參加會議",
    "電腦的鍵盤壞了，售後說要等兩個禮拜",
    "國際油價連續三日下跌，專家認為與產量有關",
    "他們為什麼還沒有來？說好三點在車站門口見面的",
)
LATIN = (
    "iPhone6s",
    "GPT-4",
    "AlphaGo",
    "NBA",
    "C++",
    "Hello world",
    "2024年",
    "36.5%",
    "５Ｇ",
    "Wi-Fi",
)
WORDS = ("环境", "朋友", "天气", "学校", "公园", "味道", "经济", "足球", "北京", "电影")


class Inputs(NamedTuple):
    """What is asked, by the kind of model; rows of equal index are asked alike."""

    texts: list[str]
    pairs: list[tuple[str, str]]
    questions: list[tuple[str, str]]
    masks: list[str]
    choices: list[tuple[str, str, list[str]]]


def make_inputs(checkout: Path, *, quick: bool = False, seed: int = 1) -> Inputs:
    """Make what is asked.

    Args:
        checkout: Whose pages lend some of their sentences.
        quick: Only a part.
        seed: Of the random numbers.
    """
    counts, rng = QUICK if quick else COUNTS, random.Random(seed)
    phrases = page_phrases(checkout)
    long = [_long(rng, phrases, size) for size in ((700,) if quick else (300, 500, 700, 900, 1500))]
    texts = [*ODD, *TRADITIONAL, *long]
    texts += [_short(rng, phrases) for _ in range(counts["texts"] - len(texts))]
    pairs = [(rng.choice(texts[:60]), rng.choice(texts)) for _ in range(30)]
    pairs += [("", ""), ("好", ""), ("", "好"), (long[0], long[-1]), (ODD[12], ODD[7])]
    while len(pairs) < counts["pairs"]:
        first = _short(rng, phrases)
        pairs.append((first, _changed(rng, first) if rng.random() < 0.5 else _short(rng, phrases)))
    questions = [*_odd_questions(long)]
    while len(questions) < counts["questions"]:
        context = "".join(_short(rng, phrases) for _ in range(rng.randint(1, 6)))
        questions.append((rng.choice(_questions(rng, context)), context))
    odd = ODD[4 : 8 if quick else 20]
    masks = ["[MASK]", "没有遮盖", "", *(text + MASK for text in odd), long[0] + MASK * 2]
    masks += [MASK * 3, f"{long[-1][:400]}{MASK}{long[-1][400:]}{MASK}"]
    while len(masks) < counts["masks"]:
        masks.append(_masked(rng, _short(rng, phrases)))
    return Inputs(texts, pairs, questions, masks, list(_choices(rng, phrases, counts["choices"])))


def page_phrases(checkout: Path) -> list[str]:
    """Return Chinese sentences that stand in the code of a checkout's demo page."""
    found: dict[str, None] = {}
    for path in sorted((checkout / "apps").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Constant(value=str(text)):
                    chinese = len(re.findall("[一-鿿]", text))
                    if chinese >= 8 and len(text) < 100 and not re.search(r"[<{*`\n]", text):
                        found[text] = None
    return sorted(found)


def _short(rng: random.Random, phrases: Sequence[str]) -> str:
    match rng.randrange(10):
        case 0:
            return "".join(rng.choices(COMMON, k=rng.randint(2, 40)))
        case 1:
            return f"{rng.choice(TRADITIONAL)}，{rng.choice(TRADITIONAL)[: rng.randint(3, 12)]}"
        case 2:
            first, second = rng.sample(LATIN, 2)
            return f"{first}{_part(rng, phrases)}{second} {rng.randint(0, 9999)}"
        case 3:
            place, text = rng.randint(0, 8), _part(rng, phrases)
            return text[:place] + rng.choice(ODD[4:21])[:12] + text[place:]
        case 4:
            return f"{_part(rng, phrases)}，{_part(rng, phrases)}"
        case _:
            return _part(rng, phrases)


def _part(rng: random.Random, phrases: Sequence[str]) -> str:
    return rng.choice(phrases)[: rng.randint(4, 30)]


def _long(rng: random.Random, phrases: Sequence[str], size: int) -> str:
    text = ""
    while len(text) < size:
        text += rng.choice(phrases) + "。"
    return text[:size]


def _changed(rng: random.Random, text: str) -> str:
    """Return something alike: a part left out, or a character changed."""
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(("", "不", "都", "很")) + text[place + rng.randint(0, 2) :]


def _questions(rng: random.Random, context: str) -> list[str]:
    place = rng.randint(0, max(0, len(context) - 6))
    return [
        f"{context[place : place + 6]}是什么？",
        f"谁在{context[place : place + 4]}？",
        rng.choice(("为什么？", "有多少？", "什么时候开始的？", "誰說的？", "Where is it?")),
    ]


def _odd_questions(long: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in ODD:
        yield "这是什么？", text
        yield text, "李华昨天坐火车去了杭州，今天在西湖边散步。"
    for text in TRADITIONAL:
        yield "誰？", text
    for text in long:
        yield "说的是什么？", text
    yield long[0], long[-1]  # a question that leaves hardly any room


def _masked(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 1, 2))):
        place, width = rng.randint(0, len(text)), rng.choice((1, 1, 2, 3))
        text = text[:place] + MASK * rng.choice((1, 1, width)) + text[place + width :]
    return text


def _choices(
    rng: random.Random, phrases: Sequence[str], count: int
) -> Iterator[tuple[str, str, list[str]]]:
    for number in range(count):
        context = "" if number == 3 else "".join(_short(rng, phrases) for _ in range(2))
        asked = "" if number % 7 == 0 else rng.choice(_questions(rng, context))
        yield context, asked, [*rng.sample(WORDS, rng.randint(1, 3)), _short(rng, phrases)]


def as_row(kind: str, asked: Any) -> dict[str, Any]:
    """Return the object that stands for one of them in a JSON Lines file, or in a request."""
    match kind:
        case "pairs":
            return {"text_a": asked[0], "text_b": asked[1]}
        case "questions":
            return {"question": asked[0], "context": asked[1]}
        case "choices":
            return {"context": asked[0], "question": asked[1], "choices": asked[2]}
        case _:
            return {"text": asked}
