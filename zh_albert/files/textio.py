"""Text files by line, plain or compressed; JSON; atomic writing of files."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import lzma
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from zh_albert.errors import CheckpointError, DataError, MissingExtraError
from zh_albert.files.encodings import decoded_lines, utf8_lines
from zh_albert.files.half_written import half_written
from zh_albert.files.plain_files import how_to_raise, is_stream, limit_bytes, refuse_special


def _finite_number(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None  # 1e999


LENIENT = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite_number)
"""Reads NaN and Infinity as None: pandas writes empty cells so."""
DAMAGED = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""What damaged compressed files raise; those of bz2 an ``OSError``."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of the disk, of one's share, of the file
_BUFFER = 1 << 17  # bytes; Python's 8 KiB make reading a sixth slower
_DICTIONARY = 128 << 20  # bytes; the highest level of xz needs 65 MiB, a header may say 4 GiB
_ZSTD_CHUNK = 1 << 10  # bytes; four can unpack to 128 KiB, so these to 32 MiB


def read_lines(
    path: Path, *, keep_ends: bool = False, only_utf8: bool = False, pipes: bool = False
) -> Iterator[tuple[int, str]]:
    r"""Yield ``(line number from 1, line without its end)`` as a stream; CSV needs ``keep_ends``.

    Files are decompressed as by ``open_bytes``; the encoding is found (``encodings``); only ``\n``
    and ``\r\n`` end a line (not U+2028 and the like).

    Args:
        path: The file.
        keep_ends: Keep the ends of lines.
        only_utf8: Refuse other encodings, as for files that a program wrote.
        pipes: Whether it may be a pipe or a device; see ``refuse_special``.

    Raises:
        DataError: If the file is missing, no regular file, damaged, or a line is too long or not
            of the file's encoding (file and line are named).
    """
    number = 0
    try:
        refuse_special(path, pipes=pipes)
        with open_bytes(path) as file:
            lines = numbered_lines(file, path, keep_ends=keep_ends, only_utf8=only_utf8)
            for number, line in lines:
                yield number, line
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: expected a file, found a folder") from None
    except DAMAGED as error:
        where = f"{path}, after line {number}"
        raise DataError(f"{where}: the compressed file is damaged: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def numbered_lines(
    file: IO[bytes], source: Path | str, *, keep_ends: bool = False, only_utf8: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the lines of an open file with their numbers; see ``read_lines``."""
    raw_lines = iter(partial(file.readline, limit_bytes() + 1), b"")
    decode = utf8_lines if only_utf8 else decoded_lines
    for number, line in enumerate(decode(raw_lines, source), start=1):
        yield number, line if keep_ends else line.removesuffix("\n").removesuffix("\r")


def parse_object(line: str, number: int, source: Path | str) -> dict[str, Any]:
    """Parse one line of a JSON Lines file; NaN and Infinity, which JSON has not, become None.

    Raises:
        DataError: If the line is not JSON, or JSON but not an object.
    """
    try:
        row = LENIENT.decode(line)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at column {error.colno}"
        raise DataError.at(source, number, problem, hint="One JSON object a line") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; deep nesting
        raise DataError.at(source, number, f"not JSON that can be read: {error}") from None
    if not isinstance(row, dict):
        problem = f"expected a JSON object, found {type(row).__name__}"
        raise DataError.at(source, number, problem, hint="One JSON object a line")
    return row


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
    leave a truncated file under ``path``. What a link leads to is written; into a pipe or a device
    the data go at once.
    """
    if path.is_dir():  # a later error would name the temporary file
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if is_stream(path):
        with path.open("wb") as stream:
            yield stream
        return
    if path.is_symlink():
        path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with half_written(path, is_folder=False) as temporary:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    except OSError as error:
        # A full disk names no file, a disk that is read only the temporary one; an error without
        # a name may also be of what is read meanwhile, a connection for example.
        full = error.errno in _FULL and not error.filename
        if full or f".{path.name}." in str(error.filename):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its name ends in ``.xz``, ``.gz``, ``.bz2`` or ``.zst``.

    Reading it may raise one of ``DAMAGED``.

    Raises:
        OSError: If it cannot be opened.
        MissingExtraError: If it is a ``.zst`` and zstandard is not installed.
    """
    match path.suffix.lower():
        case ".xz":
            return io.BufferedReader(_Chunks(_xz_chunks(path)), _BUFFER)
        case ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        case ".bz2":
            return bz2.open(path, "rb")
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
        if not file.peek(1):
            raise EOFError("it is empty")
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
