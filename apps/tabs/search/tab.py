"""The tab of semantic search: texts, a question, and the texts that are nearest to it."""

from __future__ import annotations

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.text_tab import answer_texts
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.search.answers import SearchAnswers
from apps.tabs.search.strings import SearchStrings
from zh_albert.tasks.embedding.predictor import Embedder


def search_tab(strings: SearchStrings, embedder: Embedder) -> LinkedBoxes:
    """Lay the tab out."""
    answers = SearchAnswers(strings, embedder)
    with layout.areas():
        with layout.area("input"):
            question = layout.text_box(
                strings.question,
                strings.question_placeholder,
                "search-question",
                kind="za-short-text",
                max_lines=4,
            )
            lines = layout.text_box(
                strings.lines, strings.lines_placeholder, "search-lines", lines=8, max_lines=16
            )
            buttons = layout.go_and_clear(strings.page, strings.go, "search")
        with layout.area("answer"):
            result = layout.result_panel(answers.typed("", ""), "search-result")
        boxes = [question, lines]
        with layout.examples_area(strings.page):
            for group, examples in read_examples("search").items():  # one for each collection
                title = strings.groups[group]
                layout.offer_examples(
                    strings.page, title, examples, boxes, "search-result", shown=1
                )
    answer_texts(answers, boxes, result, buttons, "search")
    return {"question": question, "lines": lines}
