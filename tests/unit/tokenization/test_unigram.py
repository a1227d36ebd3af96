"""SentencePiece unigram: exact offsets under every normalisation, special tokens, bad models."""

from __future__ import annotations

import io
import itertools
import pickle
import sys
from functools import cache

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import DataError, MissingExtraError
from zh_albert.tokenization.characters import replace_surrogates
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import load_tokenizer
from zh_albert.tokenization.unigram import UnigramTokenizer

SENTENCES = [
    "自然语言处理是人工智能的一个方向，语言模型是它的基础。",
    "中文没有空格，所以要分词；hello world 这样的英文 text 有空格。",
    "ABC abc 2024年1月，价格100%！“好”的（一）kg l",
    "good morning, good day, good night, good luck, good work",
] * 20
ALBERT = {
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": 2,
    "eos_id": 3,
    "pad_piece": "<pad>",
    "bos_piece": "[CLS]",
    "eos_piece": "[SEP]",
}


@cache
def train(normalization: str = "identity", *, fallback: bool = False, **kind: str) -> bytes:
    """Train a small model; ``kind`` says how [MASK] is declared."""
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=writer,
        vocab_size=400 if fallback else 140,
        hard_vocab_limit=False,
        normalization_rule_name=normalization,
        byte_fallback=fallback,
        minloglevel=2,
        **ALBERT,
        **(kind or {"control_symbols": "[MASK]"}),
    )
    return writer.getvalue()


MODELS = [
    pytest.param("identity", False, id="identity"),
    pytest.param("nmt_nfkc", False, id="nfkc"),
    pytest.param("nmt_nfkc_cf", False, id="nfkc-casefold"),
    pytest.param("identity", True, id="byte-fallback"),
    pytest.param("nmt_nfkc", True, id="nfkc-byte-fallback"),
]
PARTS = [
    "语言",
    "模型，",
    "ABC",
    " ",
    "  ",
    "hello",
    "ＡＢ",
    "①",
    "㎏",
    "𠮷",
    "😀",
    "e\u0301",
    "\x00",
]
ODD = [
    "\ud800",
    "\ufffd",
    "…",
    "“好”",
    "İ",
    "ß",
    "한",
    "が",
    "か\u3099",
    "\n",
    "[MASK]",
    "[SEP]",
    "<pad>",
]


@pytest.mark.parametrize(("normalization", "fallback"), MODELS)
@given(text=st.lists(st.sampled_from(PARTS + ODD), max_size=12).map("".join))
def test_offsets_are_exact_under_every_normalisation(normalization, fallback, text):
    tokenizer = UnigramTokenizer(train(normalization, fallback=fallback), lowercase=False)
    encoding = tokenizer.encode(text)

    normalize = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model).normalize
    tokens = tokenizer.tokens(encoding.ids)
    assert {0, 2, 3, 4}.isdisjoint(encoding.ids)
    for before, after in itertools.pairwise(encoding.offsets):
        assert before[1] <= after[0] or before == after
    shared = {a for a, b in itertools.pairwise(encoding.offsets) if a == b}
    for token, (start, end) in zip(tokens, encoding.offsets, strict=True):
        if token == "▁" and start == end:
            continue  # stands for no character, or for white space alone
        assert start < end <= len(text)
        assert token == "▁" or not (token.startswith("▁") and text[start].isspace())
        form = normalize(replace_surrogates(text[start:end])).replace("▁", "")
        if (start, end) in shared:
            assert token.startswith("<0x") or token == "<unk>" or token.strip("▁") in form
        elif token != "<unk>" and not token.startswith("<0x"):
            assert token.replace("▁", "") == form


def test_a_known_text_is_cut_as_expected():
    tokenizer = UnigramTokenizer(train("nmt_nfkc"))
    encoding = tokenizer.encode("㎏ HELLO")

    pieces = tokenizer.tokens(encoding.ids)
    assert "".join(pieces).replace("▁", " ").strip() == "kg hello"
    assert (0, 1) in encoding.offsets
    assert encoding.offsets[-1][1] == 7


def test_the_space_before_a_word_is_not_the_words():
    tokenizer = UnigramTokenizer(train())
    encoding = tokenizer.encode("语言  work")

    assert tokenizer.tokens(encoding.ids)[-1] == "▁work"
    assert encoding.offsets[-1] == (4, 8)


@pytest.mark.parametrize("between", [" ", "\n", "\r\n", "\u3000"])
def test_white_space_alone_is_no_character_of_a_token(between: str) -> None:
    tokenizer = UnigramTokenizer(train("nmt_nfkc"))
    encoding = tokenizer.encode(f"中文{between}自然")

    assert tokenizer.tokens(encoding.ids)[-3] == "▁"
    assert encoding.offsets[-4:-1] == [(1, 2), (2, 2), (2 + len(between), 3 + len(between))]


@pytest.mark.parametrize("text", ["", " ", "   "])
def test_a_text_of_nothing_has_no_tokens(text):
    assert UnigramTokenizer(train()).encode_batch([text]) == [Encoding([], [])]


def test_a_long_text_is_encoded():
    encoding = UnigramTokenizer(train()).encode("语言模型，" * 20_000)

    assert encoding.offsets[-1] == (99_999, 100_000)


def test_a_mask_that_is_typed_stays_text():
    tokenizer = UnigramTokenizer(train(user_defined_symbols="[MASK]"), lowercase=False)

    assert tokenizer.special == (0, 1, 2, 3, 4)
    assert 4 not in tokenizer.encode("好[MASK]").ids


def test_a_saved_tokenizer_is_loaded_with_its_settings(tmp_path):
    tokenizer = UnigramTokenizer(train(), lowercase=False)
    for name, content in tokenizer.save_files().items():
        (tmp_path / name).write_bytes(content)

    loaded = load_tokenizer(tmp_path)

    assert loaded.to_config() == {"do_lower_case": False, "simplify": False}
    assert loaded.vocab_size == tokenizer.vocab_size
    assert loaded.encode("ABC 语言") == tokenizer.encode("ABC 语言")
    assert pickle.loads(pickle.dumps(loaded)).encode("ABC") == loaded.encode("ABC")


def test_a_file_that_is_no_model_is_named(tmp_path):
    (tmp_path / "spiece.model").write_bytes(b"not a model")

    with pytest.raises(DataError, match=r"spiece\.model: not a SentencePiece model"):
        load_tokenizer(tmp_path)


def test_missing_special_tokens_are_all_named():
    with pytest.raises(DataError, match=r"lacks the special tokens \[MASK\]"):
        UnigramTokenizer(train(user_defined_symbols="[other]"))


def test_the_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)

    with pytest.raises(MissingExtraError, match=r"zh-albert\[unigram\]"):
        UnigramTokenizer(b"")


@pytest.mark.parametrize("fallback", [False, True])
def test_what_ids_spell_is_the_text_they_came_from(fallback: bool) -> None:
    tokenizer = UnigramTokenizer(train(fallback=fallback))
    for text in ("自然语言处理", "价格100%！", "good day, hello world"):
        assert tokenizer.text(tokenizer.encode(text).ids) == text
    if fallback:
        assert tokenizer.text(tokenizer.encode("龘").ids) == "龘"
