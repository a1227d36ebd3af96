"""Small task files that are easily learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GOOD = ["很好", "喜欢", "满意", "不错", "推荐", "干净", "周到", "好吃"]
BAD = ["太差", "失望", "糟糕", "难吃", "退货", "脏", "吵闹", "冷淡"]
THINGS = ["房间", "服务", "味道", "物流", "包装", "早餐", "价格", "屏幕"]


def reviews(path: Path, *, count: int = 64) -> Path:
    """Write a task file that is easily learned; longer files hold more combinations."""
    rows = []
    for index in range(count):
        thing = THINGS[index % 8]
        words, label = ((GOOD, "positive"), (BAD, "negative"))[(index // 8) % 2]
        word = words[(index // 16 + index) % 8]
        rows.append(json.dumps({"text": f"{thing}{word}。", "label": label}, ensure_ascii=False))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def pair_rows() -> list[dict[str, Any]]:
    """Whether two reviews judge alike: neither text alone tells."""
    rows = []
    for number in range(96):
        words = [(GOOD, BAD)[number // 2**bit % 2][number % 4] for bit in (0, 1)]
        first, second = (THINGS[(number + 3 * side) % 8] + word for side, word in enumerate(words))
        label = "similar" if number % 4 in (0, 3) else "different"
        rows.append({"text_a": f"{first}。", "text_b": f"{second}。", "label": label})
    return rows


PEOPLE = ["王小明", "李华", "张三丰", "Anna"]
PLACES = ["杭州", "北京市", "西湖", "New York"]
FRAMES = ["{0}昨天去了{1}。", "在{1}的{0}很高兴", "{0}和朋友住{1}，", "听说{1}来了{0}！"]


def travels(path: Path, *, nested: bool = False) -> Path:
    """Write a task file that is easily learned: who went where."""
    rows = []
    for person in PEOPLE:
        for number, place in enumerate(PLACES):
            text = FRAMES[number].format(person, place)
            entities = [
                {"start": text.index(name), "end": text.index(name) + len(name), "type": kind}
                for name, kind in ((person, "PER"), (place, "LOC"))
            ]
            if nested:
                entities.append({"start": 0, "end": len(text), "type": "EVENT"})
            rows.append(json.dumps({"text": text, "entities": entities}, ensure_ascii=False))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


FACTS = [("李华", "杭州"), ("王小明", "New York"), ("Anna", "西湖"), ("张三丰", "北京市")]


def trips(path: Path, *, unanswerable: bool = False, filler: int = 0) -> Path:
    """Write a task file that is easily learned: who went, and where; eight questions.

    With filler the text needs several windows, and the answers are in other ones each time.
    """
    rows: list[dict[str, Any]] = []
    for number, (person, place) in enumerate(FACTS):
        around = ["天气不错。" * (filler * share) for share in (number, len(FACTS) - number)]
        context = f"{around[0]}昨天{person}去了{place}，很高兴。{around[1]}"
        for question, answer in (("谁去了？", person), ("去了哪里？", place)):
            answers = [{"text": answer, "start": context.index(answer)}]
            rows.append({"context": context, "question": question, "answers": answers})
        if unanswerable:
            rows.append({"context": context, "question": "吃了什么？", "answers": []})
    lines = [json.dumps({"id": str(n), **row}, ensure_ascii=False) for n, row in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
