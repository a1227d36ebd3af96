"""Text files by line, JSON Lines and CSV by row, plain or compressed; atomic writing of files."""

from __future__ import annotations

import codecs
import csv
import errno
import gzip
import io
import json
import lzma
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from zh_albert.errors import CheckpointError, DataError, MissingExtraError
from zh_albert.half_written import half_written
from zh_albert.plain_files import how_to_raise, limit_bytes, refuse_special

_SHORT = 1 << 20  # bytes; no limit of a line is smaller
_BUFFER = 1 << 17  # bytes; Python's 8 KiB make reading a sixth slower
_DICTIONARY = 128 << 20  # bytes; the highest level of xz needs 65 MiB, a header may say 4 GiB
_ZSTD_CHUNK = 1 << 10  # bytes; four can unpack to 128 KiB, so these to 32 MiB
_LONGEST_CELL = 1 << 24  # characters; a quote without end would include the rest of the file


class TableError(DataError):
    """A malformed CSV file.

    Attributes:
        kind: "bad_csv" (a quote, or a cell without end), "ragged" (a row of another length than the
            header), "not_comma" (another separator) or "bad_header".
        facts: Line number and further numbers of the message.
    """

    kind: str
    facts: dict[str, int]

    @classmethod
    def of(cls, kind: str, problem: str, source: Path | str, line: int, **facts: int) -> TableError:
        """Return an error with file and line; ``problem`` may contain the names of facts
        in braces.
        """
        error = cls(f"{source}, line {line}: {problem.format(**facts)}")
        error.kind, error.facts = kind, {"line": line, **facts}
        return error


def read_lines(
    path: Path, *, keep_ends: bool = False, pipes: bool = False
) -> Iterator[tuple[int, str]]:
    r"""Yield ``(line number from 1, line without its end)`` as a stream; CSV needs ``keep_ends``.

    ``.xz``, ``.gz`` and ``.zst`` are decompressed; a byte-order mark is dropped; only ``\n`` and
    ``\r\n`` end a line (not U+2028 and the like).

    Args:
        path: The file.
        keep_ends: Keep the ends of lines.
        pipes: Whether it may be a pipe or a device; see ``refuse_special``.

    Raises:
        DataError: If the file is missing, no regular file, damaged, or a line is too long or not
            UTF-8 (file and line are named).
    """
    number = 0
    try:
        refuse_special(path, pipes=pipes)
        with _open_bytes(path) as file:
            for number, raw in enumerate(bounded_lines(file), start=1):
                yield number, decode_line(raw, number, path, keep_end=keep_ends)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: expected a file, found a folder") from None
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        where = f"{path}, after line {number}"
        raise DataError(f"{where}: the compressed file is damaged: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Return the lines of a file for ``decode_line``, which refuses those that are cut here."""
    return iter(partial(file.readline, limit_bytes() + 1), b"")


def decode_line(raw: bytes, number: int, source: Path | str, *, keep_end: bool = False) -> str:
    """Decode one line of a file; see ``read_lines``."""
    if len(raw) > _SHORT and len(raw) > (longest := limit_bytes()):
        problem = f"expected a line of at most {longest:,} bytes, found a longer one"
        raise DataError.at(source, number, f"{problem}; {how_to_raise()}")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not UTF-8 (0x{raw[error.start]:02x})"
        found = (
            "UTF-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "GB18030"
        )
        hint = f"Convert the file to UTF-8, for example: iconv -f {found} -t UTF-8"
        raise DataError.at(source, number, problem, hint=hint) from None
    if number == 1:
        text = text.removeprefix("\ufeff")
    return text if keep_end else text.removesuffix("\n").removesuffix("\r")


def parse_object(line: str, number: int, source: Path | str) -> dict[str, Any]:
    """Parse one line of a JSON Lines file.

    Raises:
        DataError: If the line is not JSON, or JSON but not an object.
    """
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at column {error.colno}"
        raise DataError.at(source, number, problem, hint="One JSON object a line") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; deep nesting
        raise DataError.at(source, number, f"not JSON that can be read: {error}") from None
    if not isinstance(row, dict):
        problem = f"expected a JSON object, found {type(row).__name__}"
        raise DataError.at(source, number, problem, hint="One JSON object a line")
    return row


def is_csv(path: Path) -> bool:
    """Return whether a file is CSV rather than JSON Lines, by its name."""
    return re.search(r"\.csv(\.(xz|gz|zst))?$", path.name, re.IGNORECASE) is not None


def csv_rows(
    lines: Iterable[tuple[int, str]], source: Path | str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield ``(line number, cells by column)`` of CSV, whose first row names the columns.

    Lines must keep their ends, which may be part of a cell. Cells are separated by commas; a cell
    with a comma, a quote or a line end is in double quotes. Blank lines are skipped.

    Raises:
        TableError: At the first row that cannot be read.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader((line for _, line in lines), strict=True)
    header: list[str] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = "a quote is not closed or not doubled, or a cell is too long"
            if "new-line character" in str(error):
                problem = "lines end in a carriage return alone, as on old Macs: save with \\n"
            raise TableError.of("bad_csv", problem, source, reader.line_num) from None
        if cells is None:
            return
        if not cells:
            continue
        if not header:
            header = cells
            _refuse_header(header, source, reader.line_num)
        elif len(cells) != len(header):
            counts = {"found": len(cells), "expected": len(header)}
            problem = "expected {expected} cells as in the first row, found {found}"
            raise TableError.of("ragged", problem, source, reader.line_num, **counts)
        else:
            yield reader.line_num, dict(zip(header, cells, strict=True))


def _refuse_header(header: list[str], source: Path | str, line: int) -> None:
    if len(header) == 1 and any(sign in header[0] for sign in "\t;"):
        problem = "expected commas between the names of the columns, found tabs or semicolons"
        raise TableError.of("not_comma", problem, source, line)
    if len(set(header)) < len(header) or not all(name.strip() for name in header):
        problem = "expected a name for each column, no two alike, as the first row"
        raise TableError.of("bad_header", problem, source, line)


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, object)`` of a JSON Lines file, or of a CSV file according to its name.

    Blank lines are skipped. All values of a CSV file are strings.
    """
    if is_csv(path):
        yield from csv_rows(read_lines(path, keep_ends=True), path)
        return
    for number, line in read_lines(path):
        if line.strip():
            yield number, parse_object(line, number, path)


def encode_json(value: Any, *, indent: int | None = None) -> bytes:
    """Return JSON in UTF-8; a lone surrogate, which UTF-8 cannot encode, is written as an
    escape.

    Raises:
        CheckpointError: If a number is not finite, which JSON cannot express. Answers of damaged or
            overflowing weights are the only such numbers.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        raise CheckpointError(
            "expected finite numbers in an answer, found NaN or infinity: the model's weights are "
            "damaged, or its numbers overflow; get the model again, or use another precision"
        ) from None
    return text.encode("utf-8", "backslashreplace")


def results_json(value: Any, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """Return JSON of losses, scores and settings; a number that is not finite becomes null.

    >>> results_json({"loss": float("nan"), "update": 3})
    '{"loss": null, "update": 3}'
    """
    value = _finite(value)
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Write a file atomically: it appears complete or not at all; on an error the old one remains.

    The data reach the disk before the file gets its name, so a full disk or a power cut cannot
    leave a truncated file under ``path``.
    """
    if path.is_dir():  # a later error would name the temporary file
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with half_written(path, is_folder=False) as temporary:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def _open_bytes(path: Path) -> IO[bytes]:
    match path.suffix.lower():
        case ".xz":
            return io.BufferedReader(_Chunks(_xz_chunks(path)), _BUFFER)
        case ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        case ".zst":
            try:
                import zstandard  # noqa: PLC0415  (an extra)
            except ImportError:
                raise MissingExtraError.of("zstandard", "corpora") from None
            return io.BufferedReader(_Chunks(_zstd_chunks(path, zstandard)), _BUFFER)
    return path.open("rb", _BUFFER)


def _xz_chunks(path: Path) -> Iterator[bytes]:
    """Decompress all streams; Python's own reader takes a dictionary of any size."""
    with path.open("rb") as file:
        if not (left := file.read(_BUFFER)):
            raise EOFError("it is empty")
        while left:
            try:
                stream = lzma.LZMADecompressor(memlimit=max(_DICTIONARY, limit_bytes()))
                yield stream.decompress(left, _BUFFER)
                while not stream.eof:
                    more = file.read(_BUFFER) if stream.needs_input else b""
                    if stream.needs_input and not more:
                        raise EOFError("it is truncated")
                    yield stream.decompress(more, _BUFFER)
            except lzma.LZMAError as error:
                if "Memory usage" not in str(error):
                    raise
                raise lzma.LZMAError(f"its dictionary is too large: {how_to_raise()}") from None
            left = stream.unused_data.lstrip(b"\0")  # streams may be padded
            while not left and (more := file.read(_BUFFER)):
                left = more.lstrip(b"\0")


def _zstd_chunks(path: Path, zstandard: Any) -> Iterator[bytes]:
    """Decompress all frames; zstandard's own reader silently stops after the first, or a truncated
    one.
    """
    frame = None
    with path.open("rb") as file:
        while chunk := file.read(_ZSTD_CHUNK):
            while chunk:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                try:
                    yield frame.decompress(chunk)
                except zstandard.ZstdError as error:
                    raise EOFError(str(error)) from None
                chunk, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("it is truncated")


class _Chunks(io.RawIOBase):
    """File of an iterator of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._left = chunks, memoryview(b"")  # a view: cut without copies

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._chunks, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count
