"""Texts with tags in columns (BIO, BMES, BIOES, BILOU), and brat's files, as rows with entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from zh_albert.errors import DataError
from zh_albert.files.notes import FileNote, tell
from zh_albert.files.textio import read_lines

Row = dict[str, Any]
_TAG = re.compile(r"O|([BIMELSU])[-_](\S+)")
_COLUMNS = re.compile(r"[ \t]+")  # U+3000 may be a token
_NEW_DOCUMENT = "-DOCSTART-"  # of CoNLL 2003
_WITHIN_WORD = re.compile(r"[A-Za-z0-9]{2}")
_BEGINS, _ENDS = "BSU", "ESLU"


def is_tagged(lines: list[str]) -> bool:
    """Return whether lines are tokens with a tag in the last column.

    >>> is_tagged(["李 B-PER", "华 I-PER", "", "去 O"]), is_tagged(["去 OK"])
    (True, False)
    """
    filled = [_COLUMNS.split(line.rstrip()) for line in lines if line.strip()]
    return bool(filled) and all(len(c) > 1 and _TAG.fullmatch(c[-1]) for c in filled)


def tagged_rows(lines: Iterator[tuple[int, str]], source: Path | str) -> Iterator[tuple[int, Row]]:
    """Yield a row for each block of tokens between blank lines.

    The token is in the first column, the tag in the last. Tokens are joined without blanks, except
    between two words of letters. A number behind each character (as in Weibo's files) is dropped.

    Raises:
        DataError: If a line has no tag.
    """
    tokens: list[str] = []
    tags: list[str] = []
    begun = 0
    for number, line in chain(lines, [(0, "")]):
        columns = _COLUMNS.split(line.rstrip("\r\n \t"))
        if not line.strip():
            if tokens and tokens != [_NEW_DOCUMENT]:
                yield begun, _joined(tokens, tags)
            tokens, tags = [], []
            continue
        if len(columns) < 2 or not _TAG.fullmatch(columns[-1]):
            problem = f"expected a token and a tag (O, B-TYPE, I-TYPE …), found {line!r:.60}"
            raise DataError.at(source, number, problem)
        begun = begun if tokens else number
        tokens.append(columns[0] or " ")  # of a blank only its separator is left
        tags.append(columns[-1])


def _joined(tokens: list[str], tags: list[str]) -> Row:
    if all(re.fullmatch(r".\d", token) for token in tokens):
        tokens = [token[0] for token in tokens]
    text, places = "", []
    for token in tokens:
        if len(token) > 1 and _WITHIN_WORD.fullmatch(text[-1:] + token[0]):
            text += " "
        places.append((len(text), len(text) + len(token)))
        text += token
    entities: list[Row] = []
    last_type, ended = "", True
    for (start, end), tag in zip(places, tags, strict=True):
        found = _TAG.fullmatch(tag)
        part, name = (found[1], found[2]) if found and found[1] else ("", "")
        if name and (ended or part in _BEGINS or name != last_type):
            entities.append({"start": start, "end": end, "type": name})
        elif name:
            entities[-1]["end"] = end
        last_type, ended = name, not name or part in _ENDS
    return {"text": text, "entities": entities}


def brat_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield a row for each line of the text beside an ``.ann`` file, with its entities.

    What our files do not hold is told in a note: relations, events, entities in several pieces or
    over several lines.

    Raises:
        DataError: If the text is missing, or an annotation does not fit it.
    """
    text = "".join(line for _, line in read_lines(path.with_suffix(".txt"), keep_ends=True))
    left_out: Counter[str] = Counter()
    spans: list[tuple[int, int, str]] = []
    for number, line in read_lines(path):
        if not line.startswith("T"):
            left_out["relations, events and notes"] += bool(line.strip())
            continue
        found = re.fullmatch(r"T\S+\t(\S+) (\d+) (\d+)((?:;\d+ \d+)*)\t(.*)", line)
        if not found:
            raise DataError.at(path, number, f"not an annotation of brat: {line!r:.60}")
        start, end = int(found[2]), int(found[3])
        if found[4] or "\n" in text[start:end]:
            left_out["entities in several pieces or lines"] += 1
        elif text[start:end] != found[5]:
            there = text[start:end]
            problem = (
                f"the text has {there!r:.40} at {start} to {end}, the annotation {found[5]!r:.40}"
            )
            raise DataError.at(path, number, problem)
        else:
            spans.append((start, end, found[1]))
    begin = 0
    for number, line in enumerate(text.split("\n"), start=1):
        stop = begin + len(line)
        entities = [
            {"start": start - begin, "end": end - begin, "type": name}
            for start, end, name in sorted(spans)
            if begin <= start and end <= stop
        ]
        if line.strip():
            yield number, {"text": line.removesuffix("\r"), "entities": entities}
        begin = stop + 1
    if counts := ", ".join(f"{count:,} {what}" for what, count in left_out.items() if count):
        tell(FileNote(f"{path}: left out: {counts}", "left_out", counts=counts))
