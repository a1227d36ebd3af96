"""Sentence splitting for Chinese text, as spans that cover the text without gaps.

A sentence ends after 。！？……, together with the closing quotes and brackets that follow, and at
the end of a line. There is no end inside quotes and brackets that close on the same line, so
他说：“好。走吧。”然后走了。 is split only after the quotation, and “好。”他说。 not at all.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

_MAX_QUOTE = 200  # characters; longer quotations and brackets are split like plain text
_DEPTH = 16  # of nested quotes and brackets; limits the work on malformed text

_PAIRS = {"”": "“", "’": "‘", "」": "「", "』": "『", "）": "（", ")": "(", "】": "【", "》": "《"}
_PAIRS |= {"]": "[", "〉": "〈", "〕": "〔", "〗": "〖"}
_OPENING = frozenset(_PAIRS.values())
_BRACKETS = "）)】》]〉〕〗"  # a remark (like this one.) in brackets does not end its sentence
_CLOSE = f"[{re.escape(''.join(_PAIRS))}]"
_STOPS = "[。！？!?…]"
# Continuation after a closing mark: “好。”，他 and “好。”他笑着说。 continue, （……）的 does not.
_SAID = r"[^\s，。！？：；…“「]{0,8}[说道问答喊叫](?:[，。：！？；]|着[，：])"
_GOES_ON = r"[，、；：,;:—～]| [a-z]"
_END = re.compile(
    r"[\n。！？…!?.](?:(?<=\n)|(?:"  # one set of characters first: that makes the search fast
    # From the first mark of a run alone, as the next would end it at the same place.
    rf"(?<={_STOPS})(?<!{_STOPS}.)(?:"
    rf"(?:(?<=[。！？])|(?=[!?…]*+[。！？])|(?<=…)(?=…)|(?=(?:[!?]|…(?!…))*+……)){_STOPS}*+"
    rf"|(?:(?<=[!?])|(?=…*+[!?])){_STOPS}*+(?![A-Za-z0-9=&/]))"  # not in an address: ?id=1
    # A full stop of Latin text: before a space, not after an initial (J. R.) or a point (e.g.).
    rf"|(?<=[a-z\d)\u3400-\u9fff][a-z\d)\u3400-\u9fff]\.)(?={_CLOSE}*+[\s\"])"
    rf")(?:{_CLOSE}++(?!{_SAID})|(?!{_CLOSE}))(?P<straight>\"?+)(?!{_GOES_ON}))"
)
_MARK = re.compile(rf'[{re.escape("".join(_OPENING))}"\n]|{_CLOSE}')
_SPACE = re.compile(r"\s*+")
_INLINE_SPACE = re.compile(r"[^\S\n]*+(?:\n\s*+)?")
_LETTER = re.compile(r"[^\W_]")


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences; concatenated they are the text.

    >>> split_sentences("好吗？好！“走吧。快走！”他说。就走了……")
    ['好吗？', '好！', '“走吧。快走！”他说。', '就走了……']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    r"""Return the sentences' spans, half-open and contiguous from 0 to ``len(text)``.

    White space after a sentence is part of it; punctuation without a letter is part of the sentence
    before. An empty text has no sentence.

    >>> sentence_spans("一。\n\n二（三。四）。五")
    [(0, 4), (4, 11), (11, 12)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        if end <= start:
            continue
        if spans and not _LETTER.search(text, start, end):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    """Yield the ends of sentences, white space included; the last is the end of the text."""
    protected, closing = _protected(text)
    guard = iter(protected)
    done = 0
    opened, closed = next(guard, (len(text), len(text)))
    for match in _END.finditer(text):
        end = match.end()
        if end <= done:
            continue
        if match.group("straight") and end - 1 not in closing:
            end -= 1  # an opening quote
        aside = False
        while closed < end:
            aside = closed > match.start() and text[closed] in _BRACKETS and opened > done
            opened, closed = next(guard, (len(text), len(text)))
        if end <= opened and not aside:
            yield (done := _space_after(text, end))
    yield len(text)


def _space_after(text: str, end: int) -> int:
    pattern = _SPACE if text[end - 1] == "\n" else _INLINE_SPACE
    return pattern.match(text, end).end()  # type: ignore[union-attr]  # it matches nothing too


def _protected(text: str) -> tuple[list[tuple[int, int]], set[int]]:
    """Find quotes and brackets that close on their line.

    Returns:
        Outermost pairs, as indices of the two marks; the indices of closing straight quotes.
    """
    pairs: list[tuple[int, int]] = []
    closing: set[int] = set()
    opened: deque[tuple[str, int]] = deque(maxlen=_DEPTH)
    for match in _MARK.finditer(text):
        mark, place = match.group(), match.start()
        if mark == "\n":
            opened.clear()
        elif mark in _OPENING:
            opened.append((mark, place))
        else:
            partner = _PAIRS.get(mark, mark)
            depth = next((i for i, (m, _) in enumerate(reversed(opened), 1) if m == partner), 0)
            if depth:
                for _ in range(depth):
                    _, start = opened.pop()
                if mark == '"':
                    closing.add(place)
                if place - start - 1 <= _MAX_QUOTE:
                    while pairs and pairs[-1][0] > start:
                        pairs.pop()
                    pairs.append((start, place))
            elif mark == '"':
                opened.append((mark, place))
    return pairs, closing
