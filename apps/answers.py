"""What the page answers to what stands in its boxes; knows no Gradio."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

from apps.markup import notice
from apps.panels import Answer, classification_panel
from apps.texts.languages import Language
from apps.token_panels import CutText, tokens_panel
from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.pretraining.masking import choose_whole_words
from zh_albert.tasks.classification.predictor import Classifier
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import Cut, word_ranges

MAX_CHARACTERS = 100_000
LIVE_CHARACTERS = 1_000  # up to here a result comes as fast as one types


def classify(
    say: Language, models: Mapping[str, Classifier], text: str | None, chosen: str | None
) -> str:
    """Return the panel of the classification tab.

    Args:
        say: The page's language.
        models: By name.
        text: What stands in the box.
        chosen: A model's name; empty: all of them.
    """
    if not models:
        return notice(say.classification.no_models, alarm=False)
    if not text:
        return notice(say.classification.empty)
    if len(text) > MAX_CHARACTERS:
        return notice(say.page.too_long.filled(count=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
    answers = []
    for name in [chosen] if chosen and chosen in models else models:
        start = time.perf_counter()
        try:
            members = models[name].members(text)
        except DataError:
            return notice(say.classification.nothing_to_read)
        except (ZhAlbertError, RuntimeError, MemoryError) as error:
            return notice(say.page.failed.filled(reason=in_one_line(error)))
        seconds = time.perf_counter() - start
        answers.append(Answer(name, members.together, seconds, members))
    return classification_panel(say, text, answers)


def announce(say: Language, models: Mapping[str, Classifier], text: str | None) -> str:
    """Return what is shown while a long text is read; nothing for a short one."""
    if models and text and LIVE_CHARACTERS < len(text) <= MAX_CHARACTERS:
        return notice(say.page.working.filled(count=f"{len(text):,}"), alarm=False)
    return ""


def classify_typed(
    say: Language, models: Mapping[str, Classifier], text: str | None, chosen: str | None
) -> str:
    """Return the panel while the user types: a long text waits for the button."""
    if models and (not text or not text.strip()):
        return notice(say.classification.waiting, alarm=False)
    if models and text and LIVE_CHARACTERS < len(text) <= MAX_CHARACTERS:
        return notice(say.classification.long.filled(count=f"{len(text):,}"), alarm=False)
    return classify(say, models, text, chosen)


def cut_and_mask(
    say: Language, tokenizer: Tokenizer, cut: Cut, text: str | None, seed: float | None
) -> str:
    """Return the panel of the second tab.

    Args:
        say: The page's language.
        tokenizer: Whose tokens are shown.
        cut: A word segmenter.
        text: What stands in the box.
        seed: Decides which words are masked.
    """
    if not text:
        return notice(say.tokens.empty)
    if len(text) > MAX_CHARACTERS:
        return notice(say.page.too_long.filled(count=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
    encoding = tokenizer.encode(text)
    words = word_ranges(text, encoding.offsets, cut)
    rows = tokenizer.tokens(encoding.ids)
    masked = choose_whole_words(words, random.Random(int(seed or 0)))
    unknown = tokenizer.special.unk
    parts = CutText(text, encoding.ids, rows, encoding.offsets, words, unknown)
    return tokens_panel(say, parts, masked)


def in_one_line(error: Exception) -> str:
    """Return what an error says, short enough for the page."""
    return " ".join(str(error).split())[:200] or type(error).__name__
