"""Memory-mapped shards: 16-bit token ids, word starts as bits, offsets of sentences and documents.

A folder holds ``manifest.json``, the tokenizer's files, and for each part ``part-00000.tokens`` and
three more files (see ``docs/formats.md``). The manifest is written last: a folder without it is
incomplete. All files are verified by SHA-256.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import DataError
from zh_albert.files.plain_files import parse_json, read_plain, refuse_special
from zh_albert.pretraining.ranges import joined_ranges
from zh_albert.tokenization.tokenizer import Tokenizer

FORMAT_VERSION = 1
FORMAT = "zh-albert shards"
MANIFEST = "manifest.json"
KINDS: dict[str, np.dtype[Any]] = {
    "tokens": np.dtype("<u2"),
    "words": np.dtype("u1"),  # eight tokens a byte, the first in the highest bit
    "sentences": np.dtype("<u4"),  # first token of each
    "documents": np.dtype("<u4"),
}


@dataclass(frozen=True)
class ShardCounts:
    """Number of documents, sentences, words, tokens and characters of a part, or of all parts."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    tokens: int = 0
    unknown: int = 0  # tokens that are [UNK]
    characters: int = 0  # of the texts, line ends included

    def __add__(self, other: ShardCounts) -> ShardCounts:
        mine, theirs = asdict(self), asdict(other)
        return ShardCounts(**{name: mine[name] + theirs[name] for name in mine})


class Part:
    """Arrays of one part, memory-mapped or in memory; names and types are those of the files."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.tokens: NDArray[np.uint16] = arrays["tokens"]
        self.words: NDArray[np.uint8] = arrays["words"]
        self.sentences: NDArray[np.uint32] = arrays["sentences"]
        self.documents: NDArray[np.uint32] = arrays["documents"]


class Shards:
    """All parts as one sequence of tokens.

    Attributes:
        parts: In order.
        counts: Of all parts.
        digest: Identifies the data; part of a run's settings.
    """

    def __init__(self, parts: Sequence[Part], counts: ShardCounts, *, digest: str) -> None:
        self.parts, self.counts, self.digest = list(parts), counts, digest
        sizes = [len(part.tokens) for part in parts]
        self.firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.firsts[-1])

    def sentences(self) -> NDArray[np.int64]:
        """Return the first token of every sentence, and the end of the last one."""
        return self._offsets([part.sentences for part in self.parts])

    def documents(self) -> NDArray[np.int64]:
        """Return the first token of every document, and the end of the last one."""
        return self._offsets([part.documents for part in self.parts])

    def each_document(self) -> Iterator[NDArray[np.uint16]]:
        """Yield the token ids of each document."""
        for start, end in itertools.pairwise(self.documents()):
            yield self.gather(np.array([start]), np.array([end - start]))[0]

    def gather(
        self, starts: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return ids and word starts of ranges of tokens, concatenated.

        No range crosses the end of its part. Shape of each: (sum of counts,).
        """
        places = joined_ranges(starts, counts)
        if not len(places):
            return np.zeros(0, np.uint16), np.zeros(0, np.bool_)
        homes = np.searchsorted(self.firsts, starts, side="right") - 1
        if (homes == homes[0]).all():
            return _read(self.parts[homes[0]], places - self.firsts[homes[0]])
        ids, words = np.empty(len(places), np.uint16), np.empty(len(places), np.bool_)
        by_token = np.repeat(homes, counts)
        for home in np.unique(homes):
            mine = np.flatnonzero(by_token == home)
            ids[mine], words[mine] = _read(self.parts[home], places[mine] - self.firsts[home])
        return ids, words

    def _offsets(self, arrays: Iterable[NDArray[np.uint32]]) -> NDArray[np.int64]:
        shifted = [a.astype(np.int64) + f for a, f in zip(arrays, self.firsts, strict=False)]
        return np.concatenate([*shifted, self.firsts[-1:]])


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """Return the SHA-256 of the vocabulary's rows and the tokenizer's settings."""
    rows = tokenizer.tokens(range(tokenizer.vocab_size))
    content = json.dumps([rows, tokenizer.to_config()], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a folder's manifest.

    Raises:
        DataError: If there is none (the folder is missing or incomplete), or it has another format
            or version.
    """
    path = folder / MANIFEST
    try:
        manifest: dict[str, Any] = parse_json(read_plain(path))
        if (manifest["format"], manifest["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise DataError(
                f"{path}: expected {FORMAT} of version {FORMAT_VERSION}, found "
                f"{manifest['format']} of version {manifest['format_version']}; build them again"
            )
        ShardCounts(**manifest["counts"])
        _ = manifest["tokenizer"]["digest"][:1], manifest["tokenizer"]["vocab_size"]
        for part in manifest["parts"]:
            if Path(part["name"]).name != part["name"] or "\0" in part["name"]:
                raise ValueError(f"{part['name']!r:.80} is not a file name")
            for kind, dtype in KINDS.items():
                _ = part["files"][kind]["sha256"]
                if part["files"][kind]["bytes"] % dtype.itemsize:
                    raise ValueError(f"a size of {kind} that no file of them has")
    except (FileNotFoundError, NotADirectoryError):
        problem = f"expected shards with {MANIFEST}, found none"
        raise DataError(f"{folder}: {problem}; build them with zh-corpora build") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: not a manifest of shards ({error}); build them again") from None
    return manifest


def open_shards(folder: Path, *, tokenizer: Tokenizer | None = None) -> Shards:
    """Map the shards of a folder into memory, and check every file.

    Args:
        folder: Written by ``zh-corpora build``.
        tokenizer: Of the model that will read them; must be the one they were made with.

    Raises:
        DataError: If something is missing, damaged, or made with another vocabulary.
    """
    manifest = read_manifest(folder)
    if tokenizer is not None and manifest["tokenizer"]["digest"] != tokenizer_digest(tokenizer):
        found = manifest["tokenizer"]
        raise DataError(
            f"{folder}: the shards were made with another vocabulary or tokenizer setting "
            f"({found['vocab_size']} rows, {found['digest'][:12]}…; the model has "
            f"{tokenizer.vocab_size}, {tokenizer_digest(tokenizer)[:12]}…); build them with the "
            "model's tokenizer"
        )
    parts = [Part(_open_part(folder, record)) for record in manifest["parts"]]
    content = json.dumps([manifest["tokenizer"], manifest["parts"]], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return Shards(parts, ShardCounts(**manifest["counts"]), digest=digest)


def joined_shards(several: Sequence[Shards]) -> Shards:
    """Concatenate shards, in order; those given twice are read twice an epoch.

    Args:
        several: At least one, all made with the same tokenizer.
    """
    if len(several) == 1:
        return several[0]
    parts = [part for shards in several for part in shards.parts]
    counts = sum((shards.counts for shards in several), ShardCounts())
    digest = hashlib.sha256("".join(shards.digest for shards in several).encode())
    return Shards(parts, counts, digest=digest.hexdigest())


def check_part(folder: Path, record: Mapping[str, Any]) -> bool:
    """Return whether a part's files are all present and intact."""
    try:
        _open_part(folder, record)
    except (DataError, KeyError, TypeError):
        return False
    return True


def _open_part(folder: Path, record: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for kind, dtype in KINDS.items():
        path, expected = folder / f"{record['name']}.{kind}", record["files"][kind]
        try:
            refuse_special(path)
            size = path.stat().st_size
            if size != expected["bytes"]:
                problem = f"expected {expected['bytes']} bytes, found {size}"
                raise DataError(f"{path}: {problem}; build the shards or copy them again")
            if _file_digest(path) != expected["sha256"]:
                problem = "its checksum differs from the manifest: it was changed or damaged"
                raise DataError(f"{path}: {problem}; build the shards or copy them again")
            mapped = np.memmap(path, dtype, "r") if size else np.zeros(0, dtype)
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
            raise DataError(f"{path}: {problem}; build the shards again") from None
        arrays[kind] = np.asarray(mapped)
    return arrays


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(part: Part, places: NDArray[np.int64]) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    bits = part.words[places >> 3] >> (7 - (places & 7)).astype(np.uint8)
    return part.tokens[places], (bits & 1).astype(np.bool_)
