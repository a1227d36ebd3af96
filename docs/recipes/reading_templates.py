"""Contracts, dialogues, notices, tables with questions, from templates (reading_lessons.py)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zh_albert import configio

TEMPLATES = Path(__file__).parent / "lessons" / "reading.toml"
ANSWERED, MISSING, UNSAID = 5, 1, 1  # questions to a passage; of a dropped part; of nothing said
CHOICE = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{(\w+)(?:=(\w+))?\}")
PART = re.compile(r"<(?:(\d+)-(\d+)(?:/(\d+))?|(\w+))>")
SEPARATORS = ("\t", " ", "  ", " | ", "，")
ASKED = ("{}的{}是{}？", "{}的{}是{}", "请问{}的{}是{}？", "表里{}的{}是{}？", "{}的{}到底是{}？")


class Span(NamedTuple):
    """A part of a passage: the characters from ``start``."""

    start: int
    text: str


class Question(NamedTuple):
    """A question to a passage; without an answer, the passage does not say it."""

    passage: str
    question: str
    answer: Span | None
    kind: str


class Templates:
    """Templates and the kinds of values that fill them."""

    def __init__(self, path: Path, luck: random.Random) -> None:
        given = configio.read_toml(path)
        self.documents: Sequence[Mapping[str, str]] = given["documents"]
        self.tables: Sequence[Mapping[str, Any]] = given["tables"]
        self.cards: Sequence[Mapping[str, str]] = given["cards"]
        self._kinds = {kind: words.split(" ") for kind, words in given["kinds"].items()}
        self._luck = luck

    def document(self, template: Mapping[str, str]) -> Iterator[Question]:
        """Fill a document; ask about its values, about dropped parts, and what it never says."""
        text, spans = self._filled(template["text"])
        known = {name: span.text for name, span in spans.items()}
        answered: list[tuple[str, Span | None]] = []
        missing: list[tuple[str, Span | None]] = []
        for line in template["questions"].strip().splitlines():
            wordings, _, names = line.partition(" = ")
            asked = self._wording(wordings, known)
            answers = [spans[name] for name in names.split("/") if name in spans]
            (answered if answers else missing).append((asked, answers[0] if answers else None))
        unsaid = [(self._wording(q, known), None) for q in template["unsaid"].strip().splitlines()]
        yield from self._some(text, template["kind"], answered, missing, unsaid)

    def table(self, template: Mapping[str, Any]) -> Iterator[Question]:
        """Lay out a table; ask about cells, rows by a cell, the most and least, and absent ones."""
        luck = self._luck
        first, *others = [column.split(":") for column in template["columns"]]
        columns = [first, *luck.sample(others, luck.randint(1, len(others)))]
        absent = [column for column in others if column not in columns]
        names = template["names"].split()
        used: set[str] = set()
        if len(names) == 1:
            names = [self._value(names[0], used) for _ in range(8)]
        size = luck.randint(3, 6)
        *names, other = luck.sample(names, size + 1)
        if template["key"] == "日期":
            names.sort(key=template["names"].split().index)
        rows = [[self._value(kind, used) for _, kind, _ in columns] for _ in names]
        text = luck.choice(["", luck.choice(template["caption"].split("|")) + "\n"])
        separator, in_lines = luck.choice(SEPARATORS), luck.random() < 0.35
        if not in_lines:
            text += separator.join([template["key"], *(header for header, _, _ in columns)]) + "\n"
        answered: list[tuple[str, Span | None]] = []
        starts = []
        for name, values in zip(names, rows, strict=True):
            starts.append(Span(len(text), name))
            text += name + ("：" if in_lines else "")
            for number, (value, (header, _, what)) in enumerate(zip(values, columns, strict=True)):
                text += ("，" * (number > 0) + header) if in_lines else separator
                asked = luck.choice(ASKED).format(name, header, what)
                answered.append((asked, Span(len(text), value)))
                if luck.random() < 0.3:
                    answered.append((f"{header}是{value}的是哪个？", starts[-1]))
                text += value
            text += "\n"
        amounts = [int(re.sub(r"\D", "", values[0])) for values in rows]
        for pick, wordings in ((max, template["most"]), (min, template["least"])):
            asked = luck.choice(wordings.split("|")) + "？"
            best = (asked, starts[amounts.index(pick(amounts))])
            answered += [best] * 3  # asked more often than each cell
        missing = [(luck.choice(ASKED).format(names[0], h, w), None) for h, _, w in absent]
        unsaid = [(luck.choice(ASKED).format(other, *columns[0][::2]), None)]
        yield from self._some(text.rstrip(), "table", answered, missing, unsaid)

    def card(self, template: Mapping[str, str]) -> Iterator[Question]:
        """Write some lines "label：value"; ask about these and about others."""
        luck = self._luck
        lines = [line.split(" ") for line in template["lines"].strip().splitlines()]
        written = luck.sample(lines, luck.randint(4, 7))
        colon, end = luck.choice(["：", ": ", "：", "  "]), luck.choice(["\n", "\n", "；"])
        text = luck.choice(["", luck.choice(template["caption"].split("|")) + "\n"])
        used: set[str] = set()
        answered: list[tuple[str, Span | None]] = []
        for label, kind, wordings in written:
            text += label + colon
            value = self._value(kind, used)
            answered.append((luck.choice(wordings.split("|")) + "？", Span(len(text), value)))
            text += value + end
        missing = [
            (luck.choice(line[2].split("|")) + "？", None) for line in lines if line not in written
        ]
        yield from self._some(text.rstrip("\n"), "card", answered, missing, missing[1:])

    def _some(
        self,
        text: str,
        kind: str,
        answered: Sequence[tuple[str, Span | None]],
        missing: Sequence[tuple[str, Span | None]],
        unsaid: Sequence[tuple[str, Span | None]],
    ) -> Iterator[Question]:
        asked = set()
        for some, count in ((answered, ANSWERED), (missing, MISSING), (unsaid, UNSAID)):
            for question, answer in self._luck.sample(some, min(count, len(some))):
                if question not in asked:
                    asked.add(question)
                    plain = question.rstrip("？") if self._luck.random() < 0.3 else question
                    yield Question(text, plain, answer, kind)

    def _wording(self, wordings: str, known: Mapping[str, str]) -> str:
        return self._luck.choice(wordings.split("|")).format_map(known)

    def _filled(self, template: str) -> tuple[str, dict[str, Span]]:
        """Choose wordings and values; return the text and where each value first stands."""
        template = template.strip()
        while CHOICE.search(template):
            template = CHOICE.sub(lambda m: self._luck.choice(m[1].split("|")), template)
        template = re.sub("\n+", "\n", re.sub("，(?=[。？\n])", "", template)).rstrip()
        text, end, used = "", 0, set[str]()
        spans: dict[str, Span] = {}
        for slot in SLOT.finditer(template):
            text += template[end : slot.start()]
            end = slot.end()
            name, kind = slot.groups()
            if kind:
                spans[name] = Span(len(text), self._value(kind, used))
            text += spans[name].text
        return text + template[end:], spans

    def _value(self, kind: str, used: set[str]) -> str:
        """Draw a value of a kind, as unlike those used in this passage as there are."""
        for _ in range(30):
            value = self._spelled(kind)
            if not any(value in other or other in value for other in used):
                break
        used.add(value)
        return value

    def _spelled(self, kind: str) -> str:
        def part(match: re.Match[str]) -> str:
            low, high, step, of_kind = match.groups()
            if of_kind:
                return self._spelled(of_kind)
            return str(self._luck.randrange(int(low), int(high) + 1, int(step or 1)))

        return PART.sub(part, self._luck.choice(self._kinds[kind]))


def template_questions(luck: random.Random, passages: int) -> Iterator[Question]:
    """Yield the questions to so many passages of each template."""
    templates = Templates(TEMPLATES, luck)
    for _ in range(passages):
        for document in templates.documents:
            yield from templates.document(document)
        for table in templates.tables:
            yield from templates.table(table)
        for card in templates.cards:
            yield from templates.card(card)
