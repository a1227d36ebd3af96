"""The encoding of people's text files: UTF-8, or what Excel and older programs write.

A byte-order mark decides, else strict UTF-8, else the candidate in which the text has the most
common characters. Detectors for any language fail on short texts; here only Chinese is meant.
"""

from __future__ import annotations

import codecs
import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path

from zh_albert.errors import DataError
from zh_albert.files.notes import FileNote, tell
from zh_albert.files.plain_files import how_to_raise, limit_bytes

NAMES = {"gb18030": "GB18030 (GBK)", "cp950": "Big5", "big5hkscs": "Big5-HKSCS"}
"""Python's codec → what people call it; in the order in which they are tried."""
_SHORT = 1 << 20  # bytes; no limit of a line is smaller
_SAMPLE = 1 << 16  # bytes, from the first line that is not ASCII
_LEAST = 0.0  # of Chinese text; in a wrong encoding a damaged file has less
_BONUS = 0.5  # for UTF-8, into which other text hardly ever fits
_FEW = 4  # bytes to each zero; UTF-16 has one for each character that is ASCII
_PACKED = {  # first bytes → what the file is, and what to do
    b"PK\x03\x04": "a zip archive or a workbook; unpack it, or name it .xlsx",
    b"\x1f\x8b": "a file packed by gzip; name it .gz",
    b"\xfd7zXZ": "a file packed by xz; name it .xz",
    b"\x28\xb5\x2f\xfd": "a file packed by zstd; name it .zst",
}
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class LongLineError(DataError):
    """A line of a file is longer than ``limit_bytes``."""


def decoded_lines(lines: Iterator[bytes], source: Path | str) -> Iterator[str]:
    r"""Decode the lines of a file, with their ends; what is not UTF-8 is told in a warning.

    Args:
        lines: Split at ``\n``.
        source: Named in errors.

    Raises:
        DataError: At the first line that has no such encoding, or another one than those before;
            or if the file is a packed one.
    """
    first = next(lines, b"")
    refuse_packed(first, source)
    if encoding := utf16_codec(first):
        _tell(source, "UTF-16")
        yield from _utf16_lines(chain([first], lines), encoding, source)
        return
    lines = chain([first], lines) if first else lines
    if first.startswith(codecs.BOM_UTF8):
        yield from utf8_lines(lines, source)
        return
    number = 0
    for raw in lines:
        if not raw.isascii():
            lines = chain([raw], lines)
            break
        number += 1
        yield _decoded(raw, number, "utf-8", source)
    sample, size = [], 0
    while size < _SAMPLE and (raw := next(lines, b"")):
        sample.append(raw)
        size += len(raw)
    found = (likely_encoding(b"".join(sample)) if sample else None) or "utf-8"
    if found != "utf-8":
        _tell(source, NAMES[found])
    rest = enumerate(chain(sample, lines), start=number + 1)
    yield from (_decoded(raw, place, found, source) for place, raw in rest)


def utf8_lines(lines: Iterator[bytes], source: Path | str) -> Iterator[str]:
    """Decode the lines of a file in UTF-8, with their ends; see ``decoded_lines``."""
    first = next(lines, b"").removeprefix(codecs.BOM_UTF8)
    if first:
        for number, raw in enumerate(chain([first], lines), start=1):
            yield _decoded(raw, number, "utf-8", source, only=True)


def refuse_packed(content: bytes, source: Path | str) -> None:
    """Check that what is read as text is not a packed file, which its name does not tell.

    Raises:
        DataError: If it is one.
    """
    for mark, found in _PACKED.items():
        if content.startswith(mark):
            raise DataError(f"{source}: expected text, found {found}")


def likely_encoding(sample: bytes) -> str | None:
    """Return the codec of some text, without a byte-order mark; None: it is none of the known ones.

    >>> [likely_encoding("房间很干净".encode(name)) for name in ("utf-8", "gbk")]
    ['utf-8', 'gb18030']
    >>> likely_encoding("房間很乾淨".encode("big5"))
    'cp950'
    """
    scores: dict[str, float] = {}
    for codec in ("utf-8", *NAMES):
        try:
            text = sample.decode(codec)
        except UnicodeDecodeError:
            continue
        scores[codec] = _commonness(text) + _BONUS * (codec == "utf-8")
        if codec == "utf-8" and len(sample) > 1_000:
            break
    best = max(scores, key=lambda codec: scores[codec], default=None)
    return best if best and scores[best] > _LEAST else None


def _commonness(text: str) -> float:
    """Return how common the characters are that are not ASCII: 1 at most, below 0 if unknown."""
    ranks = _ranks()
    counts = {c: count for c, count in Counter(text).items() if not c.isascii()}
    weights = (
        count * (1 - math.log(ranks[c]) / math.log(len(ranks)) if c in ranks else -1.0)
        for c, count in counts.items()
    )
    return sum(weights) / (sum(counts.values()) or 1)


@cache
def _ranks() -> dict[str, int]:
    """Return the characters of the packaged vocabulary, the most frequent first, from 1.

    Traditional characters have the rank of the simplified ones.
    """
    folder = files("zh_albert.tokenization")
    rows = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ranks = {row: rank for rank, row in enumerate((r for r in rows if len(r) == 1), start=1)}
    for line in (folder / "simplified.tsv").read_text(encoding="utf-8").splitlines():
        traditional, _, simple = line.partition("\t")
        if len(traditional) == 1 and simple in ranks:
            ranks[traditional] = min(ranks[simple], ranks.get(traditional, len(ranks)))
    return ranks


def utf16_codec(first: bytes) -> str | None:
    """Return the codec if a file's first line is UTF-16, with a byte-order mark or without."""
    if encoding := _MARKS.get(first[:2]):
        return encoding
    even, odd = first[:_SAMPLE:2].count(0), first[1:_SAMPLE:2].count(0)
    if bool(even) == bool(odd):  # no zeros, or of some other kind of file
        return None
    if (even + odd) * _FEW < len(first[:_SAMPLE]) and likely_encoding(first) == "utf-8":
        return None  # a text with a stray zero
    return "utf-16-be" if even else "utf-16-le"


def _utf16_lines(lines: Iterator[bytes], encoding: str, source: Path | str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    text, number = "", 0
    try:
        for raw in chain(lines, [b""]):
            _refuse_long(raw, number + 1, source)
            text += decoder.decode(raw, final=not raw)
            *whole, text = text.split("\n")
            for line in whole:
                number += 1
                yield (line.removeprefix("\ufeff") if number == 1 else line) + "\n"
    except UnicodeDecodeError as error:
        raise DataError.at(source, number + 1, f"not UTF-16: {error.reason}") from None
    if text := text.removeprefix("\ufeff"):
        yield text


def _decoded(
    raw: bytes, number: int, encoding: str, source: Path | str, *, only: bool = False
) -> str:
    if len(raw) > _SHORT:
        _refuse_long(raw, number, source)
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        name = NAMES.get(encoding, "UTF-8")
        problem = f"byte {error.start + 1} is not {name} (0x{raw[error.start]:02x})"
        if encoding == "utf-8" and not only:
            problem += ", nor is the text GB18030 or Big5"
        hint = "Save the file again in one encoding, best in UTF-8"
        raise DataError.at(source, number, problem, hint=hint) from None


def _refuse_long(raw: bytes, number: int, source: Path | str) -> None:
    if len(raw) > (longest := limit_bytes()):
        problem = f"expected a line of at most {longest:,} bytes, found a longer one"
        raise LongLineError.at(source, number, f"{problem}; {how_to_raise()}")


def _tell(source: Path | str, name: str) -> None:
    tell(FileNote(f"{source}: read as {name}, for it is not UTF-8", "encoding", name=name))
