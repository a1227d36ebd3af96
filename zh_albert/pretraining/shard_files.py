"""Writing of shards: part after part in bounded memory; a folder is complete or not there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import DataError
from zh_albert.files.textio import atomic_write
from zh_albert.pretraining.bulk_tokenizer import Block
from zh_albert.pretraining.shards import (
    FORMAT,
    FORMAT_VERSION,
    KINDS,
    MANIFEST,
    ShardCounts,
    tokenizer_digest,
)
from zh_albert.tokenization.tokenizer import Tokenizer


class PartWriter:
    """Writer of one part of a folder; only ``finish`` completes it.

    Until then, file names contain the process id, so that an orphan of a killed job and its
    successor do not mix; both would write the same bytes.
    """

    def __init__(self, folder: Path, name: str, *, unknown_id: int) -> None:
        self._folder, self._name, self._unknown = folder, name, unknown_id
        self._files: dict[str, IO[bytes]] = {}
        self._digests = {kind: hashlib.sha256() for kind in KINDS}
        self._pending = np.zeros(0, np.bool_)  # word starts that do not yet fill a byte
        self.counts = ShardCounts()

    def __enter__(self) -> PartWriter:
        try:
            for kind in KINDS:
                self._files[kind] = self._temporary(kind).open("wb")
        except OSError as error:
            self.__exit__()
            raise _not_written(self._folder / self._name, error) from None
        return self

    def __exit__(self, *_: object) -> None:
        for kind, file in self._files.items():
            with contextlib.suppress(OSError):  # fails on a full disk, which was reported before
                file.close()
            self._temporary(kind).unlink(missing_ok=True)

    def write(self, block: Block) -> None:
        """Append a block.

        Raises:
            DataError: If the disk is full, or the part has more tokens than 32 bits count.
        """
        before = self.counts.tokens
        self.counts += ShardCounts(
            documents=len(block.documents),
            sentences=len(block.sentences),
            words=int(block.word_starts.sum()),
            tokens=len(block.token_ids),
            unknown=int((block.token_ids == self._unknown).sum()),
            characters=block.characters,
        )
        if self.counts.tokens >= 1 << 32:
            problem = f"more than {1 << 32} tokens in one input file"
            raise DataError(f"{self._folder / self._name}: {problem}; split the file")
        words = np.concatenate([self._pending, block.word_starts])
        whole = len(words) // 8 * 8
        self._pending = words[whole:]
        self._append("tokens", block.token_ids)
        self._append("words", np.packbits(words[:whole]))
        self._append("sentences", block.sentences + before)
        self._append("documents", block.documents + before)

    def finish(self) -> dict[str, Any]:
        """Give the files their names; return the part's record for the manifest.

        Raises:
            DataError: If the disk is full.
        """
        self._append("words", np.packbits(self._pending))
        files = {}
        try:
            for kind, file in self._files.items():
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
                file.close()
                self._temporary(kind).replace(self._folder / f"{self._name}.{kind}")
                files[kind] = {"bytes": size, "sha256": self._digests[kind].hexdigest()}
        except OSError as error:
            raise _not_written(self._folder / self._name, error) from None
        return {"name": self._name, "counts": asdict(self.counts), "files": files}

    def _append(self, kind: str, values: NDArray[Any]) -> None:
        data = values.astype(KINDS[kind]).tobytes()
        self._digests[kind].update(data)
        try:
            self._files[kind].write(data)
        except OSError as error:
            raise _not_written(self._folder / self._name, error) from None

    def _temporary(self, kind: str) -> Path:
        return self._folder / f".{self._name}.{kind}.{os.getpid()}"


def write_manifest(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    tokenizer: Tokenizer,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Write the tokenizer's files, then the manifest, which completes the folder; return it.

    Args:
        folder: Holds the parts.
        records: From ``PartWriter.finish``, in order.
        tokenizer: The one that produced the ids.
        about: Further entries: inputs, settings.

    Raises:
        DataError: If the disk is full.
    """
    total = sum((ShardCounts(**record["counts"]) for record in records), ShardCounts())
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tokenizer": {"digest": tokenizer_digest(tokenizer), "vocab_size": tokenizer.vocab_size},
        "counts": asdict(total),
        "bytes": sum(file["bytes"] for record in records for file in record["files"].values()),
        "parts": list(records),
        **about,
    }
    try:
        for name, content in tokenizer.save_files().items():
            with atomic_write(folder / name) as file:
                file.write(content)
        with atomic_write(folder / MANIFEST) as file:
            file.write(
                (
                    json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
                ).encode()
            )
    except OSError as error:
        raise _not_written(folder / MANIFEST, error) from None
    return manifest


def _not_written(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path}: could not be written ({error.strerror or error}); free some space and run the "
        "same command again: finished parts are kept"
    )
