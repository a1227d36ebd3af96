"""The reading tab: a question, a passage, and the answer marked in it."""

from __future__ import annotations

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.text_tab import answer_texts
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.reading.answers import ReadingAnswers
from apps.tabs.reading.strings import ReadingStrings
from zh_albert.tasks.reading.predictor import Reader


def reading_tab(strings: ReadingStrings, reader: Reader) -> LinkedBoxes:
    """Lay the tab out."""
    answers = ReadingAnswers(strings, reader)
    with layout.areas():
        with layout.area("input"):
            question = layout.text_box(
                strings.question,
                strings.question_placeholder,
                "reading-question",
                kind="za-short-text",
                max_lines=4,
            )
            passage = layout.text_box(
                strings.passage,
                strings.passage_placeholder,
                "reading-passage",
                lines=5,
                max_lines=14,
            )
            buttons = layout.go_and_clear(strings.page, strings.go, "reading")
        with layout.area("answer"):
            result = layout.result_panel(answers.typed("", ""), "reading-result")
        boxes = [question, passage]
        with layout.examples_area(strings.page):
            for examples in read_examples("reading").values():  # a group for each passage
                title = f"{examples[0].texts[1][:18]}……"
                layout.offer_examples(
                    strings.page, title, examples, boxes, "reading-result", shown=1
                )
    answer_texts(answers, boxes, result, buttons, "reading")
    return {"question": question, "passage": passage}
