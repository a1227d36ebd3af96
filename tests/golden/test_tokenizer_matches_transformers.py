"""The same ids and offsets as BERT's own tokenizer in transformers, on random vocabularies."""

from __future__ import annotations

import random

import pytest
import transformers

from zh_albert.tokenization.characters import fold_width
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

ALPHABET = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家"
    "，。！？：；、“”‘’（）《》…—～·,.!?-_()'\"#$%@&*+=/ \n\t\u3000"
    "abcdeghinorstuzABCDEGHéÉüñİßΣσかがパ한𠮷豈😀❤️30①℃ＡＢ０１％\u0301\u200b\x00\x07\ufffd\xa0"
)


def random_rows(rng: random.Random) -> list[str]:
    """Draw pieces of all kinds: characters, parts of English words, ``##字``, full-width."""
    pieces = {c for c in ALPHABET if rng.random() < 0.7 and not c.isspace()}
    for _ in range(300):
        pieces.add("".join(rng.choices("abcdeghinorstuz0123", k=rng.randint(1, 4))))
    pieces |= {f"##{piece}" for piece in pieces if rng.random() < 0.7}
    rows = [*SPECIAL_TOKENS, *sorted(pieces)]
    rng.shuffle(rows)
    return rows


def random_text(rng: random.Random) -> str:
    words = ("".join(rng.choices(ALPHABET, k=rng.randint(1, 6))) for _ in range(rng.randint(0, 40)))
    return "".join(words)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_ids_and_offsets_equal_transformers(tmp_path, seed, lowercase):
    rng = random.Random(seed)
    ours = WordPieceTokenizer(Vocabulary(random_rows(rng)), lowercase=lowercase)
    path = tmp_path / "vocab.txt"
    path.write_bytes(ours.vocabulary.to_bytes())
    theirs = transformers.BertTokenizer(str(path), do_lower_case=lowercase)
    assert len(theirs) == ours.vocab_size

    for text in (random_text(rng) for _ in range(200)):
        expected = theirs(text, add_special_tokens=False, return_offsets_mapping=True)
        actual = ours.encode(text)
        assert actual.ids == expected["input_ids"]
        assert actual.offsets == expected["offset_mapping"]


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_saved_folder_opens_in_transformers(tmp_path, lowercase):
    ours = WordPieceTokenizer(default_tokenizer().vocabulary, lowercase=lowercase, fold_width=True)
    for name, content in ours.save_files(max_tokens=256).items():
        (tmp_path / name).write_bytes(content)

    theirs = transformers.BertTokenizer.from_pretrained(tmp_path)

    assert theirs.model_max_length == 256
    assert len(theirs) == ours.vocab_size
    special = (theirs.pad_token_id, theirs.unk_token_id, theirs.cls_token_id)
    assert (*special, theirs.sep_token_id, theirs.mask_token_id) == ours.special
    rng = random.Random(0)
    for text in (fold_width(random_text(rng)) for _ in range(200)):
        assert theirs(text, add_special_tokens=False)["input_ids"] == ours.encode(text).ids
