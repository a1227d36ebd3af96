"""What the page answers where two sentences are compared; knows no Gradio."""

from __future__ import annotations

import time
from collections.abc import Mapping

from apps.answers import LIVE_CHARACTERS, MAX_CHARACTERS, in_one_line
from apps.markup import notice
from apps.pair_panels import Grade, pair_panel
from apps.panels import Answer
from apps.texts.languages import Language
from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.tasks.classification.predictor import Classifier, Estimate, Regressor


def compare(
    say: Language,
    models: Mapping[str, Classifier | Regressor],
    first: str | None,
    second: str | None,
    chosen: str | None,
) -> str:
    """Return the panel with what the models say of what stands in the boxes.

    Args:
        say: The page's language.
        models: Of pairs, by name.
        first: A sentence.
        second: Another one.
        chosen: A model's name; empty: all of them.
    """
    first, second = first or "", second or ""
    if not first.strip() or not second.strip():
        return notice(say.pairs.one_missing)
    count = len(first) + len(second)
    if count > MAX_CHARACTERS:
        return notice(say.page.too_long.filled(count=f"{count:,}", limit=f"{MAX_CHARACTERS:,}"))
    answers: list[Answer | Grade] = []
    for name in [chosen] if chosen and chosen in models else models:
        start = time.perf_counter()
        try:
            model = models[name]
            result = model([(first, second)])[0]
        except DataError:
            return notice(say.pairs.nothing_to_read)
        except (ZhAlbertError, RuntimeError, MemoryError) as error:
            return notice(say.page.failed.filled(reason=in_one_line(error)))
        seconds = time.perf_counter() - start
        if isinstance(result, Estimate):
            assert isinstance(model, Regressor)
            answers.append(Grade(name, result.value, seconds, model.lowest, model.highest))
        else:
            answers.append(Answer(name, result, seconds))
    return pair_panel(say, first, second, answers)


def announce_pair(say: Language, first: str | None, second: str | None) -> str:
    """Return what is shown while long texts are read; nothing for short ones."""
    count = len(first or "") + len(second or "")
    if first and second and LIVE_CHARACTERS < count <= MAX_CHARACTERS:
        return notice(say.page.working.filled(count=f"{count:,}"), alarm=False)
    return ""


def compare_typed(
    say: Language,
    models: Mapping[str, Classifier | Regressor],
    first: str | None,
    second: str | None,
    chosen: str | None,
) -> str:
    """Return the panel while the user types: long texts wait for the button."""
    first, second = first or "", second or ""
    if not first.strip() or not second.strip():
        return notice(say.pairs.waiting, alarm=False)
    count = len(first) + len(second)
    if LIVE_CHARACTERS < count <= MAX_CHARACTERS:
        return notice(say.pairs.long.filled(count=f"{count:,}"), alarm=False)
    return compare(say, models, first, second, chosen)
