"""The tab of the reader: a question, a passage, and the answer marked in it."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import gradio as gr

from apps.markup import element, notice, page
from apps.reading_answers import announce_answer, find_answer, find_answer_typed
from apps.tabs.latest import Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, scroll_to
from apps.texts.languages import Language
from apps.texts.reading import PASSAGES
from zh_albert.tasks.reading.predictor import Reader


def reading_tab(say: Language, reader: Reader) -> Shared:
    """Lay the tab out; returns what a link fills."""
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            question = gr.Textbox(
                label=say.reading.question,
                placeholder=say.reading.question_placeholder,
                lines=1,  # so that Enter asks
                max_lines=4,
                elem_id="reading-question",
                elem_classes="za-text za-short-text",
            )
            passage = gr.Textbox(
                label=say.reading.passage,
                placeholder=say.reading.passage_placeholder,
                lines=5,
                max_lines=14,
                elem_id="reading-passage",
                elem_classes="za-text",
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.reading.go, variant="primary", elem_id="reading")
                clear = gr.Button(say.page.clear, elem_id="reading-clear")
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(say.reading.waiting, alarm=False),
                elem_id="reading-result",
                elem_classes="za-result",
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            asked: list[tuple[gr.Button, list[str]]] = []
            for one in PASSAGES:
                buttons = examples(say, f"{one.text[:18]}……", one.questions)
                puts = [[q.text, one.text] for q in one.questions]
                asked += zip(buttons, puts, strict=True)

    boxes: Any = [question, passage]
    latest = Latest()
    latest.on_asking(
        [go.click, question.submit],
        partial(find_answer, say, reader),
        boxes,
        result,
        announce=partial(announce_answer, say),
        api_name="reading",
    )
    typed = partial(find_answer_typed, say, reader)
    latest.on_typing([question.change, passage.change], typed, boxes, result)
    for button, put in asked:
        button.click(None, None, boxes, js=scroll_to("reading-result", json.dumps(put)), **QUIETLY)
    clear.click(lambda: ("", "", typed("", "")), None, [*boxes, result], **QUIETLY)
    return {"question": question, "passage": passage}
