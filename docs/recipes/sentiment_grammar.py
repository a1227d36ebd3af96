"""Texts of a grammar of opinions, in which no polar word decides (sentiment_lessons.py)."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zh_albert import configio

GRAMMAR = Path(__file__).parent / "lessons" / "sentiment.toml"
DRAWS = 30  # of words for a wording
MOST_AHEAD = 5  # how many more texts of one label than of the other a polar word may be in
ENDS = ("", "", "", "。", "。", "。", "！", "！", "～", "...")


class Lesson(NamedTuple):
    """A text, its label and where it is from."""

    text: str
    label: str
    kind: str


class Grammar:
    """Wordings and words, and how often each polar word has been used in texts of each label."""

    def __init__(self, path: Path, luck: random.Random) -> None:
        grammar = configio.read_toml(path)
        self._luck = luck
        self._words = {name: words.split() for name, words in grammar["words"].items()}
        self._domains = [Domain(given) for given in grammar["domains"].values()]
        self._forms: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for kind, labels in grammar["forms"].items():
            for label, lines in labels.items():
                self._forms[label] += [(line, kind) for line in lines.strip().splitlines()]
        self._ahead: Counter[str] = Counter()  # polar word → positive minus negative texts

    def lessons(self, counts: Mapping[str, int]) -> list[Lesson]:
        """Return so many different texts of each label."""
        found: dict[Lesson, None] = {}
        wanted = [label for label, count in counts.items() for _ in range(count)]
        self._luck.shuffle(wanted)
        for label in wanted:
            lesson = self._lesson(label)
            while lesson is None or lesson in found:
                lesson = self._lesson(label)
            found[lesson] = None
        return list(found)

    def _lesson(self, label: str) -> Lesson | None:
        """Fill a wording so that no polar word gets ahead; None if words of few draws do."""
        form, kind = self._luck.choice(self._forms[label])
        slots = set(re.findall(r"\{([gb]\d?|praise)\}", form))
        step = {"positive": 1, "negative": -1}.get(label, 0)
        for _ in range(DRAWS):
            values = self._values()
            polar = {values[slot] for slot in slots}
            if all(self._ahead[word] * step < MOST_AHEAD for word in polar):
                self._ahead.update(dict.fromkeys(polar, step))
                return Lesson(self._spelled(form.format_map(values)), label, kind)
        return None

    def _values(self) -> Mapping[str, str]:
        """Draw a value of every slot, all of one domain."""
        luck = self._luck
        domain = luck.choice(self._domains)
        values = {name: luck.choice(words) for name, words in self._words.items()}
        values |= {"s": luck.choice(domain.subjects)}
        values |= {"yes": luck.choice(domain.good), "no": luck.choice(domain.bad)}
        values["fact"], values["fact2"] = luck.sample(domain.facts, 2)
        aspects = luck.sample(sorted(domain.aspects), 3)
        for number, aspect in zip(("", "2", "3"), aspects, strict=True):
            good, bad = domain.aspects[aspect]
            values[f"a{number}"] = aspect
            values[f"g{number}"], values[f"b{number}"] = luck.choice(good), luck.choice(bad)
        return values

    def _spelled(self, text: str) -> str:
        """Vary a text's punctuation."""
        if self._luck.random() < 0.12:
            text = text.replace("，", " ")
        return text if text.endswith(("？", "。", "！")) else text + self._luck.choice(ENDS)


class Domain:
    """What is said of one kind of thing."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.subjects = given["subjects"].split()
        self.good, self.bad, self.facts = (
            given[name].strip().splitlines() for name in ("good", "bad", "plain")
        )
        self.aspects: dict[str, tuple[list[str], list[str]]] = {}
        for line in given["aspects"].strip().splitlines():
            aspect, _, words = line.partition(": ")
            good, _, bad = words.partition(" / ")
            self.aspects[aspect] = good.split(), bad.split()
