"""Hashes of token n-grams, equal on all machines, and the file format of n-gram models."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import how_to_raise, refuse_special, unpacked_limit
from zh_albert.tasks.windows import EncodedText

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, with many bits set

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_DAMAGES = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    RuntimeError,  # encrypted
    SyntaxError,  # an array's header is the text of a Python dictionary
    tokenize.TokenError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def hashed_ngrams(ids: NDArray[np.uint64], orders: int) -> NDArray[np.uint32]:
    """Return a hash of each n-gram of up to ``orders`` tokens, shorter ones first.

    Shape: (n-grams,).

    With a million known n-grams, 0.02 % of the unknown ones collide with one of them, which is
    harmless.
    """
    found = [np.zeros(0, np.uint32)]
    mixed = np.zeros(len(ids), np.uint64)
    for order in range(min(orders, len(ids))):
        mixed = (mixed[: len(ids) - order] + ids[order:] + np.uint64(1)) * MIX
        mixed ^= mixed >> np.uint64(29)
        found.append((mixed >> np.uint64(32)).astype(np.uint32))
    return np.concatenate(found)


def known_places(
    names: NDArray[np.uint32], hashes: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Look up n-grams among the known ones.

    Args:
        names: The known ones, sorted. Shape: (known,).
        hashes: Hashes to look up. Any shape.

    Returns:
        The index of each, valid only if it is known, and whether it is known. Both have the shape
        of ``hashes``.
    """
    places = np.searchsorted(names, hashes)
    known = places < len(names)
    known[known] = names[places[known]] == hashes[known]
    return places, known


def tokens_of(text: EncodedText) -> NDArray[np.uint64]:
    """Return a text's own tokens, each once, from its windows."""
    ids: list[int] = []
    for window, part in zip(text.windows, text.parts, strict=True):
        ids += window.token_ids[1 + len(ids) - part.start : 1 + len(part)]
    return np.array(ids, np.uint64)


def packed(names: NDArray[np.uint32], numbers: Mapping[str, NDArray[Any]]) -> bytes:
    """Return an ``.npz`` archive, compressed.

    Names are stored as differences, all low bytes first: the high bytes are mostly 0 and compress
    well.

    Args:
        names: The n-grams known, sorted.
        numbers: Arrays of the model by name; any name but ``names``.
    """
    steps = np.diff(names, prepend=np.uint32(0)).astype("<u4").view(np.uint8).reshape(-1, 4)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, names=np.ascontiguousarray(steps.T), **numbers)
    return file.getvalue()


def unpacked(path: Path) -> dict[str, NDArray[Any]]:
    """Read an archive written by ``packed``: the arrays, and ``names``.

    Raises:
        CheckpointError: If the file is missing or damaged, unpacks to more than
            ``unpacked_limit``, or holds numbers that are not finite.
    """
    try:
        refuse_special(path)
        with zipfile.ZipFile(path) as archive:
            _refuse_bomb(archive, path)
            found = {
                part.filename.removesuffix(".npy"): _array(archive, part)
                for part in archive.infolist()
            }
        steps = np.ascontiguousarray(found["names"].T).view("<u4")[:, 0]
    except CheckpointError:
        raise
    except _DAMAGES as error:
        raise CheckpointError(f"{path}: missing or damaged ({error}); get it again") from None
    for name, array in found.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise CheckpointError(
                f"{path}: {name}: expected finite numbers, found NaN or infinity; get it again"
            )
    return {**found, "names": np.cumsum(steps, dtype=np.uint32)}


def _refuse_bomb(archive: zipfile.ZipFile, path: Path) -> None:
    """Check the sizes that an archive gives its parts; no part unpacks to more than its size.

    Raises:
        CheckpointError: If they are too large together.
    """
    size = sum(part.file_size for part in archive.infolist())
    if size > (limit := unpacked_limit(path.stat().st_size)):
        raise CheckpointError(
            f"{path}: expected at most {limit:,} bytes of numbers, found {size:,}; {how_to_raise()}"
        )


def _array(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array of a part whose header promises what the part holds.

    Raises:
        ValueError: If it promises another size, or holds no numbers.
    """
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{part.filename} is compressed as by no program for arrays")
    with archive.open(part) as file:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = _HEADERS[version](file)
        promised, there = math.prod(shape) * dtype.itemsize, part.file_size - file.tell()
    if dtype.kind not in "iuf":
        raise ValueError(f"{part.filename} holds {dtype}, expected numbers")
    if promised != there:
        raise ValueError(f"{part.filename} promises {promised:,} bytes and holds {there:,}")
    with archive.open(part) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
