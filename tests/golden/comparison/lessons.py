"""Small made-up files to learn from, in the format of each task."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
THINGS = ("房间", "服务", "味道", "物流", "包装", "早餐", "价格", "屏幕")
GOOD = ("很好", "让人喜欢", "令人满意", "不错", "值得推荐", "干净", "周到", "好吃")
BAD = ("太差", "让人失望", "很糟糕", "难吃", "只能退货", "很脏", "吵闹", "冷淡")
WHEN = ("昨天", "今天上午", "上个月", "2023年", "周末", "刚刚")
NAMES = {
    "name": ("王小明", "李华", "张伟"),
    "address": ("杭州市西湖区", "北京", "上海浦东"),
    "company": ("星河影业", "腾达公司"),
    "organization": ("中国足协", "浙江大学"),
    "position": ("教授", "局长", "前锋"),
    "scene": ("故宫", "颐和园"),
    "book": ("《长城谣》", "《红楼梦》"),
    "movie": ("《流浪地球》", "《大闹天宫》"),
    "game": ("《王者荣耀》", "《魔兽世界》"),
    "government": ("市财政局", "外交部"),
}
"""Types of the bundled tagger, which teaches."""
COUNTS = {"": 64, "-dev": 24}


def write_data(folder: Path, phrases: Sequence[str]) -> None:
    """Write a training file, a dev file and texts without labels of each kind, and a corpus.

    Args:
        folder: Where to.
        phrases: Sentences that are put between.
    """
    kinds: dict[str, Callable[[random.Random, int], Row]] = {
        "reviews": _review,
        "labels": _labels,
        "values": _value,
        "pairs": _pair,
        "alike": _alike,
        "choices": _choice,
        "entities": _entities,
        "questions": _question,
    }
    for number, (name, make) in enumerate(kinds.items()):
        rng = random.Random(300 + number)
        for part, count in COUNTS.items():
            _write(folder / f"{name}{part}.jsonl", (make(rng, n) for n in range(count)))
        unlabelled = [make(rng, n) for n in range(24)]
        kept = ("text", "text_a", "text_b")
        rows = ({key: row[key] for key in kept if key in row} for row in unlabelled)
        _write(folder / f"{name}-unlabelled.jsonl", rows)
    rng = random.Random(3)
    _write(folder / "corpus.jsonl", ({"text": _document(rng, phrases)} for _ in range(120)))


def _write(path: Path, rows: Iterator[Row]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _said(rng: random.Random, words: Sequence[str]) -> str:
    end = rng.choice(("。", "！", "，下次再说。", "…"))
    return f"{rng.choice(WHEN)}的{rng.choice(THINGS)}{rng.choice(words)}{end}"


def _document(rng: random.Random, phrases: Sequence[str]) -> str:
    parts = [
        rng.choice((_said(rng, GOOD), _said(rng, BAD), f"{rng.choice(phrases)}。"))
        for _ in range(8)
    ]
    return "".join(parts)


def _review(rng: random.Random, number: int) -> Row:
    text = _said(rng, (GOOD, BAD)[number % 2])
    if number % 9 == 0:  # several windows
        text = "".join(_said(rng, (GOOD, BAD)[number % 2]) for _ in range(6))
    return {"text": text, "label": ("positive", "negative")[number % 2]}


def _labels(rng: random.Random, number: int) -> Row:
    things = rng.sample(THINGS[:4], 1 + number % 3)
    return {"text": "".join(f"{thing}{rng.choice(GOOD)}。" for thing in things), "label": things}


def _value(rng: random.Random, number: int) -> Row:
    good = rng.randint(0, 3)
    parts = [_said(rng, GOOD) for _ in range(good)] + [_said(rng, BAD) for _ in range(3 - good)]
    return {"text": "".join(parts), "label": good + number % 2 / 2}


def _pair(rng: random.Random, number: int) -> Row:
    thing, good = rng.choice(THINGS), rng.choice(GOOD)
    second = (f"{thing}{rng.choice(BAD)}", f"{thing}{good}", f"{rng.choice(WHEN)}来过")[number % 3]
    label = ("contradiction", "entailment", "neutral")[number % 3]
    return {"text_a": f"{rng.choice(WHEN)}的{thing}{good}", "text_b": second, "label": label}


def _alike(rng: random.Random, number: int) -> Row:
    first, value = _said(rng, GOOD), float(number % 6)
    second = first[: len(first) * (number % 6) // 5] + _said(rng, BAD)[: 8 - number % 6]
    return {"text_a": first, "text_b": second, "label": value}


def _choice(rng: random.Random, number: int) -> Row:
    thing, word = rng.choice(THINGS), rng.choice(GOOD)
    choices = [word, *rng.sample(BAD, 1 + number % 3)]
    rng.shuffle(choices)
    context = f"{rng.choice(WHEN)}的{thing}{word}。{_said(rng, BAD)}"
    asked = {"context": context, "question": f"{thing}怎么样？", "choices": choices}
    return {**asked, "label": choices.index(word)}


def _entities(rng: random.Random, number: int) -> Row:
    text, entities = rng.choice(WHEN), []
    kinds = list(NAMES)
    for kind in (kinds[number % len(kinds)], *rng.sample(kinds, 2)):
        name = rng.choice(NAMES[kind])
        entities.append({"start": len(text), "end": len(text) + len(name), "type": kind})
        text += name + rng.choice(("在", "介绍了", "，", "与"))
    return {"text": f"{text}大家都来了。", "entities": entities}


def _question(rng: random.Random, number: int) -> Row:
    name, place = rng.choice(NAMES["name"]), rng.choice(NAMES["address"])
    told = "".join(_said(rng, GOOD) for _ in range(number % 4))
    context = f"{told}{rng.choice(WHEN)}{name}去了{place}。{_said(rng, BAD)}"
    if number % 5 == 0:
        return {"context": context, "question": f"{name}吃了什么？", "answers": []}
    answers = [{"text": place, "start": context.index(place)}]
    return {"context": context, "question": f"{name}去了哪里？", "answers": answers}
