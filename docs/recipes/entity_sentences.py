"""Sentences as pieces; other names, nicknames, chats made of them (entity_lessons.py)."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import opencc

from zh_albert import configio

GRAMMAR = Path(__file__).parent / "lessons" / "entities.toml"
MSRA_TYPES = {"name": "PER", "address": "LOC", "scene": "LOC"} | dict.fromkeys(
    ("company", "organization", "government"), "ORG"
)
LATIN = re.compile("[A-Za-z]")
TITLE = re.compile("[《》“”「」（）()【】]")
FIRM = re.compile("(公司|集团|银行|厂|店|酒店)$")
AFTER_A_NAME = ("先生", "女士", "同志", "小姐", "夫人", "教授", "总统", "主席")
PARTICLE = re.compile("[呢吗吧呀啊嘛了哦]$")
LONGEST_CHAT = 32  # characters of a sentence that is written as in a chat
LONGEST_NAME = 7  # of a name of the set in a written sentence


class Piece(NamedTuple):
    """A part of a sentence: an entity, or what is between two."""

    text: str
    type: str | None = None


Sentence = Sequence[Piece]


def read_sentence(row: dict[str, Any]) -> list[Piece]:
    """Cut a row's text into pieces. Entities inside of others are left out."""
    pieces, end = [], 0
    for entity in sorted(row["entities"], key=lambda e: (e["start"], -e["end"])):
        if entity["start"] >= end:
            pieces.append(Piece(row["text"][end : entity["start"]]))
            end = entity["end"]
            pieces.append(Piece(row["text"][entity["start"] : end], entity["type"]))
    return [piece for piece in (*pieces, Piece(row["text"][end:])) if piece.text]


def as_row(sentence: Sentence, kind: str) -> dict[str, Any]:
    """Join pieces; say where the entities are."""
    text, entities = "", []
    for piece in sentence:
        if piece.type:
            entities.append(
                {"start": len(text), "end": len(text) + len(piece.text), "type": piece.type}
            )
        text += piece.text
    return {"text": text, "entities": entities, "kind": kind}


class Maker:
    """Makes sentences of a set's types; each method returns None where it cannot change one."""

    def __init__(self, name: str, sentences: Sequence[Sentence], luck: random.Random) -> None:
        grammar = configio.read_toml(GRAMMAR)
        self._msra, self._luck, self._sentences = name == "msra", luck, sentences
        self._own = {kind: words.split("|") for kind, words in grammar["names"].items()}
        self._nick = {part: words.split() for part, words in grammar["nicknames"].items()}
        self._places = [line.split() for line in grammar["address"]["places"].strip().splitlines()]
        self._roads, self._numbers = (
            grammar["address"][part].split() for part in ("road", "number")
        )
        self._around = {part: words.split("|") for part, words in grammar["around"].items()}
        self._written = [
            line for lines in grammar["sentences"].values() for line in lines.strip().splitlines()
        ]
        self._to_traditional = opencc.OpenCC("s2t").convert
        found: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for piece in (piece for sentence in sentences for piece in sentence if piece.type):
            if len(piece.text) > 1 and piece.text.count("《") == piece.text.count("》"):
                found[self._likeness(piece)][piece.text] += 1
        self._alike = {likeness: sorted(names) for likeness, names in found.items()}
        self._common: dict[str, list[str]] = defaultdict(list)  # Chinese, and more than once
        for (kind, length, latin, *_), names in found.items():
            if length <= LONGEST_NAME and not latin:
                self._common[kind] += sorted(
                    name
                    for name, count in names.items()
                    if count > 1 and (kind != "ORG" or FIRM.search(name))
                )

    def other_names(self) -> Sentence | None:
        """Replace entities by others of the set, of their type, length, script and last letter."""

        def other(piece: Piece) -> Piece:
            names = self._alike.get(self._likeness(piece), [])
            swaps = len(names) > 3 and self._luck.random() < 0.8
            return Piece(self._luck.choice(names), piece.type) if swaps else piece

        return self._with_entities(other)

    def own_names(self) -> Sentence | None:
        """Replace people and firms by foreign names and brands."""
        kinds = {"PER": "name", "ORG": "company"}

        def own(piece: Piece) -> Piece:
            kind = kinds.get(piece.type or "", piece.type)
            if kind not in ("name", "company") or len(piece.text) < 2:
                return piece
            if piece.type == "ORG" and not FIRM.search(piece.text):
                return piece
            return Piece(self._luck.choice(self._own[kind]), piece.type)

        return self._with_entities(own)

    def nicknames(self) -> Sentence | None:
        """Replace a Chinese person's name by a nickname."""
        old = self._luck.choice(self._sentences)
        new: list[Piece] = []
        for piece, after in zip(old, [*old[1:], Piece("")], strict=True):
            named = piece.type in ("name", "PER") and re.fullmatch("[一-鿿]{2,3}", piece.text)
            known = after.text.startswith(AFTER_A_NAME)
            new += self._nickname() if named and not known else [piece]
        return new if new != old else None

    def in_chats(self) -> Sentence | None:
        """Write a sentence in lower case, without punctuation, and with words of chats around."""
        sentence = self._luck.choice(self._sentences)
        if sum(len(piece.text) for piece in sentence) > LONGEST_CHAT:
            return None
        pieces = []
        for text, kind in sentence:
            if kind:
                bare = TITLE.sub("", text) if text.startswith("《") else text
                pieces.append(Piece(bare.lower(), kind))
            else:
                pieces.append(Piece(re.sub(r"[，。！？；：、,.!?;:“”]+", " ", text).lower()))
        if pieces and not pieces[-1].type:
            pieces[-1] = Piece(pieces[-1].text.rstrip())
        return self._chatting([piece for piece in pieces if piece.text])

    def blanks(self) -> Sentence | None:
        """Put blanks around entities or inside of names, or write letters in full width."""
        way = self._luck.choice(["around", "inside", "wide"])

        def spaced(piece: Piece) -> Piece:
            text = piece.text
            if way == "wide":
                text = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
            elif way == "inside" and 2 <= len(text) <= 3 and not LATIN.search(text):
                text = self._luck.choice([" ", "　"]).join(text)
            return Piece(text, piece.type)

        sentence = self._with_entities(spaced)
        if sentence is None and way == "around":
            pieces = self._luck.choice(self._sentences)
            sentence = [one for piece in pieces for one in (piece, Piece(" "))][:-1]
            return sentence if len(pieces) > 1 else None
        return sentence

    def traditional(self) -> Sentence | None:
        """Write a sentence in traditional characters."""
        old = self._luck.choice(self._sentences)
        new = [Piece(self._to_traditional(text), kind) for text, kind in old]
        return new if new != old else None

    def written(self) -> Sentence | None:
        """Fill a sentence of the grammar."""
        line = self._luck.choice(self._written)
        pieces: list[Piece] = []
        for part in re.split(r"(\{\w+\})", line):
            if not part.startswith("{"):
                pieces.append(Piece(part))
            else:
                pieces += self._named(part[1:-1])
        return self._chatting([piece for piece in pieces if piece.text])

    def _named(self, kind: str) -> list[Piece]:
        """Return an own name, one of the set, a nickname or a full address."""
        of_set = MSRA_TYPES.get(kind) if self._msra else kind
        if kind == "name" and self._luck.random() < 0.4:
            return self._nickname()
        if kind == "address" and self._luck.random() < 0.35:
            return self._full_address()
        names = self._own[kind]
        alike = kind not in ("scene", "government", "organization") or not self._msra
        if alike and self._common.get(of_set or "") and self._luck.random() < 0.4:
            names = self._common[of_set or ""]
        return [Piece(self._luck.choice(names), None if kind == "thing" else of_set)]

    def _nickname(self) -> list[Piece]:
        person = "PER" if self._msra else "name"
        if self._luck.random() < 0.2:
            around, given = (self._luck.choice(self._nick[part]) for part in ("whole", "given"))
            return [Piece(around.replace("*", given), person)]
        around, surname = (self._luck.choice(self._nick[part]) for part in ("around", "surname"))
        if not self._msra:
            return [Piece(around.replace("*", surname), person)]
        left, _, right = around.partition("*")
        return [one for one in (Piece(left), Piece(surname, person), Piece(right)) if one.text]

    def _full_address(self) -> list[Piece]:
        """Return parts from a province or smaller down to a number."""
        luck = self._luck
        number = re.sub("#", lambda _: str(luck.randint(1, 288)), luck.choice(self._numbers))
        parts = luck.choice(self._places)[luck.randint(0, 2) :]
        parts = [*parts, luck.choice(self._roads) + number]
        if self._msra:
            return [Piece(part, "LOC") for part in parts]
        return [Piece(luck.choice(["", "", " "]).join(parts), "address")]

    def _chatting(self, pieces: list[Piece]) -> list[Piece]:
        """Put a word of chats before or after, sometimes."""
        luck = self._luck
        if luck.random() < 0.3:
            pieces = [Piece(luck.choice(self._around["before"]) + luck.choice(["", " "])), *pieces]
        if luck.random() < 0.4:
            after = luck.choice(self._around["after"])
            if not (PARTICLE.search(pieces[-1].text) and PARTICLE.search(after)):
                pieces = [*pieces, Piece(after)]
        return pieces

    def _with_entities(self, change: Callable[[Piece], Piece]) -> Sentence | None:
        """Draw a sentence and change its entities; None if that changes nothing."""
        old = self._luck.choice(self._sentences)
        changed = {piece: change(piece) for piece in old if piece.type}
        new = [changed.get(piece, piece) for piece in old]
        return new if new != old else None

    @staticmethod
    def _likeness(piece: Piece) -> tuple[Any, ...]:
        """Return what two entities share so that one can stand for the other."""
        text = piece.text
        chinese = not LATIN.search(text)
        ends = text[-1] if chinese and piece.type not in ("name", "PER") else ""
        return piece.type, len(text), not chinese, "《" in text, ends
