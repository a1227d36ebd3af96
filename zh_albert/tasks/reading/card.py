"""The model card of a reader."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.reading.reader import TextReader

_LIMITS = """\
A small model that picks the passage whose wording looks most like an answer: it does not count,
compare or conclude, and a question about something else gets an answer as confident as a right
one. An answer begins and ends where a token does, and is one passage of the text."""


def reader_card(reader: TextReader, settings: str) -> str:
    """Return the ``README.md`` of a reader; ``settings``: the resolved TOML of its run."""
    window = reader.window
    predicts_no_answer = (
        "It always gives an answer"
        if reader.threshold is None
        else f"It gives none where the log-odds of the best are below {reader.threshold:.2f}"
    )
    length, repeat = reader.penalties
    penalties = (
        f" From an answer's log-odds {length:g} is taken for each natural logarithm of its tokens, "
        f"and {repeat:g} times the share of them that the question has, too."
    )
    text = CardText(
        title="Chinese reading comprehension",
        pipeline="question-answering",
        answers=f"Answers a question by a passage of a text. {predicts_no_answer}."
        + (penalties if any(reader.penalties) else ""),
        windows=f"Windows of {window.max_length} tokens, overlapping by {window.stride}, the "
        f"question in each; no answer has more than {window.stride} tokens.",
        scores=_per_kind(reader),
        use='read = load("PATH_OF_THIS_FOLDER")\n'
        'print(read(question="浙江大学在哪里?", context="浙江大学在杭州。"))',
        limits=_LIMITS,
    )
    return model_card(text, reader, settings)


def _per_kind(reader: TextReader) -> str:
    rows = [
        f"| {name} | {scores['exact_match']:.2f} | {scores['f1']:.2f} | {scores['support']} |"
        for name, scores in reader.metadata.get("per_kind", {}).items()
    ]
    head = "\n\n| questions | exact_match | f1 | number |\n| --- | --- | --- | --- |\n"
    return head + "\n".join(rows) if rows else ""
