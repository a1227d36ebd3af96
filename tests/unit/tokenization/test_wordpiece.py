"""WordPiece."""

from __future__ import annotations

import pickle
import time

import pytest

from zh_albert.tokenization.encoding import (
    Encoding,
)
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer


def slices(text: str) -> list[str]:
    return [text[start:end] for start, end in default_tokenizer().encode(text).offsets]


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


@pytest.mark.slow
def test_the_cache_of_runs_stays_small():
    tokenizer = WordPieceTokenizer(default_vocabulary())
    numbers = [str(n) for n in range(60_000)]
    batch = tokenizer.encode_batch(numbers)

    assert batch[7] == tokenizer.encode("7")
    assert len(tokenizer._runs) <= 50_000


def test_a_tokenizer_can_be_sent_to_another_process():
    tokenizer = pickle.loads(pickle.dumps(default_tokenizer()))

    assert tokenizer.encode("中文 NLP") == default_tokenizer().encode("中文 NLP")
