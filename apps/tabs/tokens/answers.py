"""The answers of the tokens tab; no Gradio."""

from __future__ import annotations

import random

from apps.markup.text import notice
from apps.tabs.tokens.panels import TokenizedText, tokens_panel
from apps.tabs.tokens.strings import TokenStrings
from apps.text_answers import too_long
from zh_albert.pretraining.masking import choose_whole_words
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import Cut, word_ranges

MAX_SEED = 99


def tokenize_and_mask(
    strings: TokenStrings, tokenizer: Tokenizer, cut: Cut, text: str | None, seed: float | None
) -> str:
    """Return the panel with the tokens of a text and its masks.

    Args:
        strings: The tab's strings.
        tokenizer: Cuts the text into tokens.
        cut: A word segmenter.
        text: The text.
        seed: Decides which words are masked, up to ``MAX_SEED``; anything else counts as 0.
    """
    if not text or not isinstance(text, str):  # a program that uses the API may send anything
        return notice(strings.empty)
    if problem := too_long(strings.page, len(text)):
        return notice(problem)
    encoding = tokenizer.encode(text)
    words = word_ranges(text, encoding.offsets, cut)
    tokenized = TokenizedText(
        text,
        encoding.ids,
        tokenizer.tokens(encoding.ids),
        encoding.offsets,
        words,
        tokenizer.special.unk,
    )
    number = int(seed) if isinstance(seed, int | float) and 0 <= seed <= MAX_SEED else 0
    masked = choose_whole_words(words, random.Random(number))
    return tokens_panel(strings, tokenized, masked)
