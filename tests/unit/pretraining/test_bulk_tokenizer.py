"""Long texts in blocks of tokens."""

from __future__ import annotations

import pytest

from corpora_tools.sentences import sentence_spans
from zh_albert.errors import ConfigError
from zh_albert.pretraining.bulk_tokenizer import BLOCK_CHARACTERS, BlockEncoder
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter

TOKENIZER = default_tokenizer()


def test_a_vocabulary_beyond_16_bits_is_refused() -> None:
    rows = Vocabulary([*SPECIAL_TOKENS, *(f"w{i}" for i in range(1 << 16))])

    with pytest.raises(ConfigError, match="at most 65536 rows, found 65541"):
        BlockEncoder(WordPieceTokenizer(rows), segmenter().cut, sentence_spans)


def test_words_stay_whole_in_a_vocabulary_without_the_letters_that_are_probed_with() -> None:
    rows = Vocabulary([*SPECIAL_TOKENS, *"中文he", "hello"])
    tokenizer = WordPieceTokenizer(rows, split_unknown=True)
    [block] = BlockEncoder(tokenizer, segmenter().cut, sentence_spans).blocks(["中文hello"])
    assert tokenizer.tokens(block.token_ids.tolist()) == ["中", "文", "hello"]


@pytest.mark.parametrize("sign", ["国", "国。", "a", "a ", "…", "“"])
def test_one_long_line_is_read_in_blocks(sign: str) -> None:
    text = sign * (BLOCK_CHARACTERS * 2 // len(sign) + 100)
    encoder = BlockEncoder(TOKENIZER, segmenter().cut, sentence_spans)
    blocks = list(encoder.blocks([text]))

    assert len(blocks) == 3
    assert sum(len(block.documents) for block in blocks) == 1
    assert sum(block.characters for block in blocks) == len(text)
    if sign in "国a":  # nothing ends where a block does
        assert sum(len(block.sentences) for block in blocks) == 1


@pytest.mark.parametrize("sign", ["\n", "\0", "\u200b", "\ufffd"])
def test_a_document_that_begins_with_a_piece_without_a_token_is_counted(sign: str) -> None:
    texts = ["中国。", sign * (BLOCK_CHARACTERS + 10) + "你好。", "再见。"]
    blocks = list(BlockEncoder(TOKENIZER, segmenter().cut, sentence_spans).blocks(texts))

    assert sum(len(block.documents) for block in blocks) == 3
    assert sum(len(block.token_ids) for block in blocks) == 9
