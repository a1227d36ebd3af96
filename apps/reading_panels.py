"""A question's answers → HTML: a mark in the passage, and a table of what else was considered."""

from __future__ import annotations

from collections.abc import Sequence

from apps.markup import element, escape, page, plain, shown
from apps.panels import duration, percent_text
from apps.texts.languages import Language
from zh_albert.tasks.reading.predictor import Answer

_SHORT = 16  # characters of an answer that is written large


def reading_panel(
    say: Language,
    question: str,
    passage: str,
    answers: Sequence[Answer],
    seconds: float,
    *,
    predicts_no_answer: bool,
) -> str:
    """Show what a reader answers.

    Args:
        say: The page's language.
        question: What was asked.
        passage: What was read.
        answers: Best first, at least one; an empty one says that there is none.
        seconds: How long it took.
        predicts_no_answer: Whether the reader can say that there is no answer.
    """
    best = answers[0]
    took = say.page.latency.format(time=duration(seconds))
    if best.text:
        place = say.reading.position.format(start=best.start, end=best.end)
        kind = "za-answer-long" if len(best.text) > _SHORT else "za-answer-short"
        found = f'<strong class="{kind}">{shown(best.text)}</strong>'
        below = element(place, "p", "za-caption")
    else:
        found = f'<strong class="za-none">{escape(say.reading.no_answer)}</strong>'
        below = element(say.reading.no_answer_hint, "p", "za-caption")
    marked, title = shown(passage), say.reading.passage
    if best.text:
        title = say.reading.in_passage
        marked = (
            f'{shown(passage[: best.start])}<mark class="za-found">{shown(best.text)}</mark>'
            f"{shown(passage[best.end :])}"
        )
    return page(
        f'<section class="za-section za-first"><header><h3>{escape(say.reading.answer)}</h3>'
        f'<span class="za-chip">{escape(took)}</span></header>'
        f'<p class="za-asked"><q>{plain(question)}</q></p>'
        f'<p class="za-best">{found}<span class="za-percent">{percent_text(100 * best.score)}'
        f"</span></p>{below}</section>"
        f'<section class="za-section">{element(title, "h3")}'
        f'<p class="za-flow za-passage">{marked}</p></section>'
        f"{_table(say, answers, predicts_no_answer=predicts_no_answer)}"
    )


def _table(say: Language, answers: Sequence[Answer], *, predicts_no_answer: bool) -> str:
    hint = say.reading.scores_hint if predicts_no_answer else say.reading.scores_hint_without_none
    heads = "".join(f"<th>{escape(head)}</th>" for head in say.reading.columns)
    rows = "".join(_row(say, answer, is_best=answer is answers[0]) for answer in answers)
    return (
        f'<section class="za-section za-numbers">{element(say.reading.candidates, "h3")}'
        f'<table class="za-candidates"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        f"{element(hint, 'p', 'za-caption')}</section>"
    )


def _row(say: Language, answer: Answer, *, is_best: bool) -> str:
    text = shown(answer.text) if answer.text else f"<i>{escape(say.reading.no_answer_row)}</i>"
    place = f"{answer.start}–{answer.end}" if answer.text else "—"
    percent = 100 * answer.score
    return (
        f'<tr class="{"za-winner" if is_best else ""}"><td class="za-name">{text}</td>'
        f'<td>{place}</td><td class="za-share"><span class="za-percent">{percent_text(percent)}'
        f'</span><span class="za-track" role="meter" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{percent:.1f}"><span class="za-fill" style="width:{percent:.1f}%">'
        "</span></span></td></tr>"
    )
