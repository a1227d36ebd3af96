"""Vocabulary files, WordPiece, model inputs, and tokenizers in model folders."""

from __future__ import annotations

import json
import pickle
import time

import numpy as np
import pytest

from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.tokenization.encoding import (
    Encoding,
    SpecialIds,
    build_input,
    pad,
    truncate_pair,
    windows,
)
from zh_albert.tokenization.tokenizer import default_tokenizer, load_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

SPECIAL = SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4)


def slices(text: str) -> list[str]:
    return [text[start:end] for start, end in default_tokenizer().encode(text).offsets]


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
    vocabulary, tokenizer = default_vocabulary(), default_tokenizer()
    plain = [t for t in vocabulary.tokens if not t.startswith(("[", "##")) or len(t) == 1]
    inner = [t for t in vocabulary.tokens if t.startswith("##")]

    assert [tokenizer.tokens(tokenizer.encode(t).ids) for t in plain] == [[t] for t in plain]
    unreached = []
    for token in inner:
        ids = tokenizer.encode("x" + token[2:]).ids
        if vocabulary.special.unk in ids or len(ids) < 2:
            unreached.append(token)
    assert len(unreached) < 0.05 * len(inner)  # "x" with some is itself a row, such as xml


# WordPiece


@pytest.mark.parametrize("text", ["", " ", "   \n\t\u3000 ", "\x00", "\ufeff\u200b", "\ud800"])
def test_a_text_of_nothing_has_no_tokens(text):
    assert default_tokenizer().encode(text) == Encoding([], [])


def test_a_known_text_is_cut_as_expected():
    text = "ＡＢ（10）在“中文”上……\x00café 3℃,𠮷\ud800好😂😂"
    tokenizer = default_tokenizer()
    encoding = tokenizer.encode(text)

    expected = "ab|（|1|##0|）|在|“|中|文|”|上|…|…|ca|##f|##e|3|##℃|,|[UNK]|好|😂|##😂"
    cut = "ＡＢ|（|1|0|）|在|“|中|文|”|上|…|…|ca|f|é|3|℃|,|𠮷|好|😂|😂"
    assert tokenizer.tokens(encoding.ids) == expected.split("|")
    assert slices(text) == cut.split("|")


def test_a_composed_and_a_decomposed_accent_are_the_same_token():
    tokenizer = default_tokenizer()

    assert tokenizer.encode("café").ids == tokenizer.encode("cafe\u0301").ids
    assert tokenizer.encode("café").ids == tokenizer.encode("CAFE").ids


def test_full_width_letters_are_folded_only_when_asked():
    vocabulary = Vocabulary([*SPECIAL_TOKENS, "a", "ａ", "%"])
    texts = ["Ａ", "％"]

    folded = WordPieceTokenizer(vocabulary, fold_width=True).encode_batch(texts)
    as_is = WordPieceTokenizer(vocabulary).encode_batch(texts)

    assert [e.ids for e in folded] == [[5], [7]]
    assert [e.ids for e in as_is] == [[6], [1]]
    assert default_tokenizer().encode("，！：").ids == [
        default_vocabulary().ids[c] for c in "，！："
    ]


@pytest.mark.parametrize("typed", ["[MASK]", "[SEP]", "[CLS]", "[PAD]", "[unused1]", "[mask]"])
def test_a_typed_special_token_stays_text(typed):
    tokenizer = default_tokenizer()

    assert slices(typed)[0] == "["
    assert set(tokenizer.encode(typed).ids).isdisjoint(tokenizer.special)


@pytest.mark.parametrize(
    "text", ["中" * 100_000, "a" * 100_000, "e\u0301" * 50_000, "a，" * 50_000, "\ud800" * 100_000]
)
def test_a_long_text_takes_no_longer_than_its_length(text):
    began = time.process_time()
    encoding = default_tokenizer().encode(text)

    assert time.process_time() - began < 5
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)


def test_a_very_long_word_is_one_unknown():
    tokenizer = default_tokenizer()

    assert tokenizer.encode("a" * 101) == Encoding([tokenizer.special.unk], [(0, 101)])
    assert tokenizer.special.unk not in tokenizer.encode("a" * 100).ids


def test_the_cache_of_runs_stays_small():
    tokenizer = WordPieceTokenizer(default_vocabulary())
    numbers = [str(n) for n in range(60_000)]
    batch = tokenizer.encode_batch(numbers)

    assert batch[7] == tokenizer.encode("7")
    assert len(tokenizer._runs) <= 50_000


def test_a_tokenizer_can_be_sent_to_another_process():
    tokenizer = pickle.loads(pickle.dumps(default_tokenizer()))

    assert tokenizer.encode("中文 NLP") == default_tokenizer().encode("中文 NLP")


# Model inputs


def test_special_tokens_are_put_around_one_text_and_a_pair():
    single = build_input(SPECIAL, [7, 8])
    pair = build_input(SPECIAL, [7, 8], [9])
    empty = build_input(SPECIAL, [])

    assert (single.token_ids, single.type_ids) == ([2, 7, 8, 3], [0] * 4)
    assert (pair.token_ids, pair.type_ids) == ([2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1])
    assert [pair.token_ids[i] for i in (*pair.first, *pair.second)] == [7, 8, 9]
    assert empty.token_ids == [2, 3]


def test_inputs_are_padded_to_a_rectangle():
    batch = pad([build_input(SPECIAL, [7]), build_input(SPECIAL, [7], [8])], 0, multiple_of=8)

    assert batch.token_ids.tolist() == [[2, 7, 3, 0, 0, 0, 0, 0], [2, 7, 3, 8, 3, 0, 0, 0]]
    assert batch.mask.sum(axis=1).tolist() == [3, 5]
    assert batch.type_ids.sum() == 2
    assert batch.token_ids.dtype == np.int64
    assert pad([], 0).token_ids.shape == (0, 0)


@pytest.mark.parametrize(("max_tokens", "stride"), [(0, 0), (4, 4), (4, -1)])
def test_windows_that_cannot_move_are_refused(max_tokens, stride):
    with pytest.raises(ConfigError, match="must be"):
        windows(Encoding([1] * 9, [(0, 1)] * 9), max_tokens, stride)


def test_an_empty_text_has_one_empty_window():
    assert windows(Encoding([], []), 5, 2) == [range(0)]
    with pytest.raises(ConfigError, match="at least 0, got -1"):
        truncate_pair(1, 1, -1)


def test_a_part_keeps_the_offsets_of_the_whole():
    encoding = default_tokenizer().encode("一二三四")

    assert encoding.part(range(1, 3)).offsets == [(1, 2), (2, 3)]


# Model folders


def test_a_saved_tokenizer_is_loaded_with_its_settings(tmp_path):
    tokenizer = WordPieceTokenizer(default_vocabulary(), lowercase=False, fold_width=True)
    for name, content in tokenizer.save_files(max_tokens=128).items():
        (tmp_path / name).write_bytes(content)

    loaded = load_tokenizer(tmp_path)

    assert loaded.to_config() == tokenizer.to_config()
    assert loaded.encode("Ａpple 好") == tokenizer.encode("Ａpple 好")
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert settings["model_max_length"] == 128


def test_a_folder_without_settings_is_uncased_and_folds_nothing(tmp_path):
    (tmp_path / "vocab.txt").write_bytes(default_vocabulary().to_bytes())

    config = load_tokenizer(tmp_path).to_config()

    assert (config["do_lower_case"], config["strip_accents"], config["fold_width"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("settings", "error", "expected"),
    [
        ("{", DataError, "tokenizer_config.json: not JSON"),
        ("[]", DataError, "expected a JSON object, found list"),
        ('{"do_lower_case": "yes"}', ConfigError, "do_lower_case must be true or false"),
        ('{"tokenize_chinese_chars": false}', ConfigError, "must be true, found false"),
    ],
)
def test_broken_settings_are_refused(tmp_path, settings, error, expected):
    (tmp_path / "vocab.txt").write_bytes(default_vocabulary().to_bytes())
    (tmp_path / "tokenizer_config.json").write_text(settings, encoding="utf-8")

    with pytest.raises(error, match=expected):
        load_tokenizer(tmp_path)


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"expected vocab\.txt or spiece\.model"):
        load_tokenizer(tmp_path)
    with pytest.raises(CheckpointError, match="no such folder"):
        load_tokenizer(tmp_path / "gone")
