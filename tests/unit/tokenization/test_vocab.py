"""Vocabulary files."""

from __future__ import annotations

import pytest

from zh_albert.errors import DataError
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

# Vocabulary files


def test_a_vocabulary_is_read_as_it_is_written(tmp_path):
    rows = [*SPECIAL_TOKENS, "中", " x", "\u2028", "##a"]
    path = tmp_path / "vocab.txt"
    path.write_bytes(Vocabulary(rows).to_bytes())

    vocabulary = Vocabulary.read(path)

    assert vocabulary.tokens == tuple(rows)
    assert vocabulary.ids["中"] == 5
    assert vocabulary.special == (0, 1, 2, 3, 4)
    assert "中" in vocabulary
    assert len(vocabulary) == 9


def test_a_windows_file_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*SPECIAL_TOKENS, "中", ""]).encode())

    assert Vocabulary.read(path).tokens == (*SPECIAL_TOKENS, "中")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[PAD]\n[UNK]\na\n[SEP]\n", r"missing: \[CLS\] \[MASK\]"),
        (b"", r"missing: \[PAD\] \[UNK\] \[CLS\] \[SEP\] \[MASK\]"),
        (b"[PAD]\n[UNK]\n\n[CLS]\n", "vocab.txt, line 3: expected a token, found an empty line"),
        (b"[PAD]\na\nb\na\n", "vocab.txt, line 4: token 'a' is also in line 2"),
        (b"[PAD]\n\xc4\xe3\n", "vocab.txt, line 2: byte 1 is not UTF-8"),
    ],
)
def test_a_broken_vocabulary_is_refused(tmp_path, content, expected):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)

    with pytest.raises(DataError, match=expected):
        Vocabulary.read(path)


def test_a_missing_vocabulary_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.txt: no such file"):
        Vocabulary.read(tmp_path / "gone.txt")


def test_the_packaged_vocabulary_keeps_its_promises():
    vocabulary = default_vocabulary()
    gb2312 = [bytes((0xB0 + n // 94, 0xA1 + n % 94)).decode("gb2312") for n in range(39 * 94)]

    assert vocabulary.tokens[:5] == SPECIAL_TOKENS
    assert len(vocabulary) % 64 == 0
    assert 8_000 <= len(vocabulary) <= 9_000
    assert all(c in vocabulary for c in "“”‘’—…《》「」『』【】、。，；：？！（）·～℃①№°×÷→😂")
    assert all(c in vocabulary for c in gb2312)
    assert all(f"{mark}{c}" in vocabulary for mark in ("", "##") for c in "az09")
    assert not [
        t for t in vocabulary.tokens if t.startswith("##") and "\u4e00" <= t[2:] <= "\u9fff"
    ]


def test_every_packaged_row_can_come_out_of_a_text():
    vocabulary = default_vocabulary()
    tokenizer = WordPieceTokenizer(vocabulary, fold_width=True)
    plain = [t for t in vocabulary.tokens if not t.startswith(("[", "##")) or len(t) == 1]
    inner = [t for t in vocabulary.tokens if t.startswith("##")]

    assert [tokenizer.tokens(tokenizer.encode(t).ids) for t in plain] == [[t] for t in plain]
    unreached = []
    for token in inner:
        ids = tokenizer.encode("x" + token[2:]).ids
        if vocabulary.special.unk in ids or len(ids) < 2:
            unreached.append(token)
    assert len(unreached) < 0.05 * len(inner)  # "x" with some is itself a row, such as xml
