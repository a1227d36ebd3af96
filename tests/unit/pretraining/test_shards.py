"""Shards in folders: round trips, and what can be wrong with a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from corpora_tools.sentences import sentence_spans
from tests.helpers.shard_folders import TEXTS, TOKENIZER, write
from tests.helpers.shards_in_memory import shards_of_texts
from zh_albert.errors import DataError
from zh_albert.pretraining.shards import (
    KINDS,
    MANIFEST,
    Shards,
    joined_shards,
    open_shards,
    read_manifest,
    tokenizer_digest,
)
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "shards", TEXTS, TEXTS[:1])


def everything(shards: Shards) -> tuple[list[int], list[int]]:
    ids, words = np.concatenate([p.tokens for p in shards.parts]), []
    for first, end in zip(shards.firsts, shards.firsts[1:], strict=False):
        words += shards.gather(np.array([first]), np.array([end - first]))[1].tolist()
    return ids.tolist(), np.flatnonzero(words).tolist()


def test_several_folders_are_read_as_one_and_one_named_twice_twice(tmp_path: Path) -> None:
    first = open_shards(write(tmp_path / "a", TEXTS[:1], TEXTS[1:2]))
    second = open_shards(write(tmp_path / "b", TEXTS[3:]))
    joined = joined_shards([first, second, second])

    documents = [TOKENIZER.tokens(ids.tolist()) for ids in joined.each_document()]
    expected = [TEXTS[0], TEXTS[1], TEXTS[3], TEXTS[3]]
    assert documents == [TOKENIZER.tokens(TOKENIZER.encode(text).ids) for text in expected]
    assert len(joined) == len(first) + 2 * len(second)
    assert joined.counts == first.counts + second.counts + second.counts
    words = everything(first)[1] + [len(first) + n for n in everything(second)[1]]
    assert everything(joined_shards([first, second]))[1] == words
    digests = {joined_shards(some).digest for some in ([first], [first, second], [second, first])}
    assert len(digests) == 3
    assert joined_shards([first]).digest == first.digest  # a run begun before goes on


def test_manifest_counts(folder: Path) -> None:
    counts = read_manifest(folder)["counts"]

    assert counts == {
        "documents": 4,
        "sentences": 7,
        "words": 8 + 3 + 2 + 8,
        "tokens": 11 + 3 + 5 + 11,
        "unknown": 0,
        "characters": sum(map(len, TEXTS)) + len(TEXTS[0]),
    }


def test_a_folder_reads_back_as_the_texts(folder: Path) -> None:
    on_disk = open_shards(folder, tokenizer=TOKENIZER)
    in_memory = shards_of_texts([*TEXTS, TEXTS[0]], TOKENIZER, segmenter().cut, sentence_spans)

    assert everything(on_disk) == everything(in_memory)
    assert on_disk.sentences().tolist() == in_memory.sentences().tolist()
    assert on_disk.documents().tolist() == in_memory.documents().tolist() == [0, 11, 14, 19, 30]
    assert on_disk.counts == in_memory.counts


def test_ranges_of_several_parts_are_gathered_in_order(folder: Path) -> None:
    shards = open_shards(folder)
    ids, words = shards.gather(np.array([19, 0, 21]), np.array([2, 3, 1]))

    assert TOKENIZER.tokens(ids.tolist()) == list("我们我们在在")
    assert words.tolist() == [True, False, True, False, True, True]


def test_without_a_manifest_there_are_no_shards(folder: Path) -> None:
    (folder / MANIFEST).unlink()

    with pytest.raises(DataError, match=r"expected shards with manifest\.json, found none"):
        open_shards(folder)
    with pytest.raises(DataError, match=r"expected shards with manifest\.json"):
        open_shards(folder / "nowhere")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_changed_bit_is_found(folder: Path, kind: str) -> None:
    path = folder / f"part-00001.{kind}"
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)

    with pytest.raises(DataError, match=rf"part-00001\.{kind}: its checksum"):
        open_shards(folder)


def test_a_short_or_missing_file_is_named(folder: Path) -> None:
    path = folder / "part-00000.tokens"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(DataError, match="expected 38 bytes, found 36"):
        open_shards(folder)
    path.unlink()
    with pytest.raises(DataError, match=r"part-00000\.tokens: cannot be read"):
        open_shards(folder)


def test_another_vocabulary_or_setting_is_refused(folder: Path) -> None:
    rows = Vocabulary([*SPECIAL_TOKENS, *"我们好"])
    for other in (
        WordPieceTokenizer(rows),
        WordPieceTokenizer(TOKENIZER.vocabulary, fold_width=False),
    ):
        with pytest.raises(DataError, match="made with another vocabulary or tokenizer setting"):
            open_shards(folder, tokenizer=other)
    assert tokenizer_digest(TOKENIZER) == read_manifest(folder)["tokenizer"]["digest"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff", b"{}", b'{"format": "zh-albert shards", "format_version": 1}'],
)
def test_a_damaged_manifest_is_refused(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)

    with pytest.raises(DataError, match="not a manifest of shards"):
        open_shards(folder)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("tokenizer",), {}),
        (("tokenizer", "digest"), 5),
        (("parts", 0, "name"), 5),
        (("parts", 0, "files", "tokens", "bytes"), 37),  # a token has two
        (("parts", 0, "files", "tokens", "bytes"), None),
    ],
)
def test_a_manifest_that_lacks_something_is_refused(
    folder: Path, place: Sequence[str | int], value: object
) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    *above, last = place
    inner = manifest
    for step in above:
        inner = inner[step]
    inner[last] = value
    (folder / MANIFEST).write_text(json.dumps(manifest))

    with pytest.raises(DataError, match="not a manifest of shards"):
        open_shards(folder, tokenizer=TOKENIZER)


def test_a_later_format_is_refused(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format_version": 2}))

    with pytest.raises(DataError, match="of version 1, found zh-albert shards of version 2"):
        open_shards(folder)


@pytest.mark.parametrize("name", ["../part-00000", "part\0"])
def test_a_part_cannot_lead_out_of_the_folder(folder: Path, name: str) -> None:
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["parts"][0]["name"] = name
    (folder / MANIFEST).write_text(json.dumps(manifest))

    with pytest.raises(DataError, match="is not a file name"):
        open_shards(folder)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
@pytest.mark.parametrize("name", [MANIFEST, "part-00000.tokens"])
def test_a_pipe_or_a_device_is_not_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DataError, match="found a pipe"):
        open_shards(folder)
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(DataError, match="found a device"):
        open_shards(folder)
