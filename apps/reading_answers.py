"""What the page answers to a question about a passage; knows no Gradio."""

from __future__ import annotations

import time

from apps.answers import LIVE_CHARACTERS, MAX_CHARACTERS, in_one_line
from apps.markup import notice
from apps.reading_panels import reading_panel
from apps.texts.languages import Language
from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.tasks.reading.predictor import Reader

_SHOWN = 5  # answers of the table


def find_answer(say: Language, reader: Reader, question: str | None, passage: str | None) -> str:
    """Return the panel with the answer to what stands in the boxes."""
    question, passage = question or "", passage or ""
    if not question.strip():
        return notice(say.reading.no_question)
    if not passage.strip():
        return notice(say.reading.no_passage)
    count = len(question) + len(passage)
    if count > MAX_CHARACTERS:
        return notice(say.page.too_long.filled(count=f"{count:,}", limit=f"{MAX_CHARACTERS:,}"))
    start = time.perf_counter()
    try:
        answers = reader(question, passage, top_k=_SHOWN)
    except DataError:
        return notice(say.reading.unreadable_question)
    except (ZhAlbertError, RuntimeError, MemoryError) as error:
        return notice(say.page.failed.filled(reason=in_one_line(error)))
    seconds = time.perf_counter() - start
    return reading_panel(
        say, question, passage, answers, seconds, predicts_no_answer=reader.predicts_no_answer
    )


def announce_answer(say: Language, question: str | None, passage: str | None) -> str:
    """Return what is shown while a long passage is read; nothing for a short one."""
    if question and question.strip() and _is_long(question, passage or ""):
        count = len(question) + len(passage or "")
        return notice(say.page.working.filled(count=f"{count:,}"), alarm=False)
    return ""


def find_answer_typed(
    say: Language, reader: Reader, question: str | None, passage: str | None
) -> str:
    """Return the panel while the user types: a long passage waits for the button."""
    question, passage = question or "", passage or ""
    if not question.strip() or not passage.strip():
        return notice(say.reading.waiting, alarm=False)
    if _is_long(question, passage):
        return notice(say.reading.long.filled(count=f"{len(passage):,}"), alarm=False)
    return find_answer(say, reader, question, passage)


def _is_long(question: str, passage: str) -> bool:
    return LIVE_CHARACTERS < len(question) + len(passage) <= MAX_CHARACTERS
