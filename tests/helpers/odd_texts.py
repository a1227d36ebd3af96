"""Texts of characters that tokenizers trip over, and a tokenizer with rows that ours has not."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

CHUNKS = st.one_of(
    st.text("中文自然语言处理的一是不了人我在有他这", max_size=8),
    st.sampled_from(
        ["Hello", "NLP", "iPhone6s", "café", "naïve", "Node.js", "3.14", "2024", "a" * 101]
    ),
    st.text("ＡＢＣａｂｃ０１９％＋＝＆＠＃＄，！？：；（）～　", max_size=5),
    st.sampled_from(["“好”", "‘", "’", "——", "……", "《书》", "·", "「", "』", "～～"]),
    st.sampled_from(["😀", "😂😂", "👨‍👩‍👧", "❤️", "👍🏽", "🇨🇳", "2️⃣"]),
    st.sampled_from(["𠮷", "𠮷野家", "𝒳", "豈", "\U0002f800", "\U0001f9ff"]),
    st.sampled_from(["e\u0301", "a\u0300\u0323b", "\u0301", "n\u0303", "中\u0301", "!\u0338", "≮"]),
    st.sampled_from(
        ["\x00", "\x07", "\u200b", "\u200d", "\ufeff", "\x7f", "\x1c", "\x85", "\ufffd"]
    ),
    st.sampled_from(["\ud800", "\udfff", "\udc00中"]),
    st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\u3000", "\xa0", "\u2028"]),
    st.sampled_from(
        ["İ", "İstanbul", "ß", "ẞ", "Σ", "ΟΔΟΣ", "한국", "각", "がぎ", "パン", "か\u3099"]
    ),
    st.sampled_from(["30℃", "①", "№1", "½", "ﬁ", "ǆ", "㎏", "×", "[MASK]", "[SEP]", "##a"]),
)
TEXTS = st.lists(CHUNKS, max_size=12).map("".join)
ANYTHING = st.one_of(TEXTS, st.text(max_size=60))


@cache
def odd_tokenizer(lowercase: bool) -> WordPieceTokenizer:
    """Return one whose vocabulary has rows that ours has not: full-width, ``##字``, accents."""
    plain = "中文自然语言处理豈𠮷ＡａaeéboDinsh한각ᄒ각かがハ，。“”—…!?.[]<≮😀😂❤%％123½\u0301"
    rows = [*plain, *(f"##{c}" for c in plain), "hello", "naive", "##phone", "[MASK", "##中文"]
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *rows]), lowercase=lowercase)
