"""Answers to a question → HTML: a mark in the passage, and a table of all candidates."""

from __future__ import annotations

from collections.abc import Sequence

from apps.markup.bars import meter
from apps.markup.numbers import duration, percent_text
from apps.markup.sections import caption, header, plain_table, section
from apps.markup.text import element, escape, panel, plain, shown
from apps.tabs.reading.strings import ReadingStrings
from zh_albert.tasks.reading.predictor import Answer

_SHORT = 16  # characters of an answer that is written large


def reading_panel(
    strings: ReadingStrings,
    question: str,
    passage: str,
    answers: Sequence[Answer],
    seconds: float,
    *,
    predicts_no_answer: bool,
) -> str:
    """Return the panel of a reader's answers.

    Args:
        strings: The tab's strings.
        question: What was asked.
        passage: What was read.
        answers: Best first, at least one; an empty one means that there is none.
        seconds: The time it took.
        predicts_no_answer: Whether the reader can say that there is no answer.
    """
    best = answers[0]
    if best.text:
        kind = "za-answer-long" if len(best.text) > _SHORT else "za-answer-short"
        found = f'<strong class="{kind}">{shown(best.text)}</strong>'
        below = strings.position.format(start=best.start, end=best.end)
        title = strings.in_passage
        marked = (
            f'{shown(passage[: best.start])}<mark class="za-found">{shown(best.text)}</mark>'
            f"{shown(passage[best.end :])}"
        )
    else:
        found = element(strings.no_answer, "strong", "za-none")
        below, title, marked = strings.no_answer_hint, strings.passage, shown(passage)
    took = strings.page.latency.format(time=duration(seconds))
    answer = (
        f'{header(strings.answer, took)}<p class="za-asked"><q>{plain(question)}</q></p>'
        f'<p class="za-best">{found}<span class="za-percent">{percent_text(100 * best.score)}'
        f"</span></p>{caption(below)}"
    )
    return panel(
        section(answer, "za-first")
        + section(f'{element(title, "h3")}<p class="za-flow za-passage">{marked}</p>')
        + _candidates(strings, answers, predicts_no_answer=predicts_no_answer)
    )


def _candidates(
    strings: ReadingStrings, answers: Sequence[Answer], *, predicts_no_answer: bool
) -> str:
    hint = strings.scores_hint if predicts_no_answer else strings.scores_hint_without_none
    head = "".join(element(name, "th") for name in strings.columns)
    rows = "".join(_row(strings, answer, is_best=answer is answers[0]) for answer in answers)
    listed = plain_table(head, rows, "za-candidates")
    return section(f"{element(strings.candidates, 'h3')}{listed}{caption(hint)}", "za-numbers")


def _row(strings: ReadingStrings, answer: Answer, *, is_best: bool) -> str:
    text = shown(answer.text) if answer.text else f"<i>{escape(strings.no_answer_row)}</i>"
    place = f"{answer.start}–{answer.end}" if answer.text else "—"
    percent = 100 * answer.score
    return (
        f'<tr class="{"za-winner" if is_best else ""}"><td class="za-name">{text}</td>'
        f'<td>{place}</td><td class="za-share"><span class="za-percent">{percent_text(percent)}'
        f"</span>{meter(percent)}</td></tr>"
    )
