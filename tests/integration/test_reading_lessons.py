"""Passages and questions from templates."""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "recipes"))
from reading_templates import SLOT, TEMPLATES, Question, Templates, template_questions

from zh_albert import configio


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return list(template_questions(random.Random(1), 8))


def test_answers_are_at_their_positions(questions: list[Question]) -> None:
    for passage, _, answer, _ in questions:
        assert answer is None or passage.startswith(answer.text, answer.start)


def test_nothing_of_the_templates_notation_is_left(questions: list[Question]) -> None:
    for question in questions:
        assert not set("[]{}<>") & set(question.passage + question.question), question


def test_a_question_is_asked_once_of_a_passage(questions: list[Question]) -> None:
    asked = defaultdict(list)
    for question in questions:
        asked[question.passage].append(question.question.rstrip("？"))
    assert all(len(set(some)) == len(some) for some in asked.values())
    assert all(3 <= len(some) <= 8 for some in asked.values())


def test_both_kinds_of_questions_are_there(questions: list[Question]) -> None:
    declined = sum(question.answer is None for question in questions) / len(questions)
    assert 0.15 < declined < 0.4


def test_each_answer_names_a_slot_of_its_document() -> None:
    for template in configio.read_toml(TEMPLATES)["documents"]:
        slots = {name for name, kind in SLOT.findall(template["text"]) if kind}
        for line in template["questions"].strip().splitlines():
            assert set(line.partition(" = ")[2].split("/")) <= slots, line


def test_a_corrected_fact_is_the_answer_not_the_first_said() -> None:
    template = {
        "kind": "dialogue",
        "text": "A：{old=city}见。\nB：改到{new=city}。",
        "questions": "最后在哪见？ = new",
        "unsaid": "几点？",
    }
    asked = list(Templates(TEMPLATES, random.Random(3)).document(template))
    passage, _, answer, _ = asked[0]
    assert answer is not None
    assert answer.start == passage.index("改到") + 2


def test_what_a_dropped_part_would_say_has_no_answer() -> None:
    template = {"kind": "x", "text": "[|]房", "questions": "多少钱？ = rent", "unsaid": "谁？"}
    asked = list(Templates(TEMPLATES, random.Random(3)).document(template))
    assert [question.answer for question in asked] == [None, None]


def test_the_most_expensive_of_a_table_is_the_row_with_the_largest_amount() -> None:
    template = {
        "caption": "表",
        "key": "品名",
        "names": "苹果 香蕉 橙子 梨 桃 杏 柚",
        "columns": ["单价:tableprice:多少钱", "产地:city:哪里"],
        "most": "最贵的是什么",
        "least": "最便宜的是什么",
    }
    templates = Templates(TEMPLATES, random.Random(5))
    seen = 0
    for _ in range(20):
        for passage, question, answer, _ in templates.table(template):
            if question.startswith("最贵"):
                assert answer is not None
                amounts = map(int, re.findall(r"(\d+)元", passage))
                row = next(line for line in passage.splitlines() if line.startswith(answer.text))
                assert str(max(amounts)) + "元" in row
                seen += 1
    assert seen
