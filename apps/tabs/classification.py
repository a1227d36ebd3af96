"""The tab of the classifiers: answers follow the typing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import gradio as gr

from apps.answers import announce, classify, classify_typed
from apps.markup import element, notice, page
from apps.panels import choices
from apps.tabs.latest import Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, model_choice, scroll_to
from apps.texts.examples import HEADLINES, REVIEWS
from apps.texts.languages import Language
from zh_albert.tasks.classification.predictor import Classifier


def classification_tab(say: Language, models: Mapping[str, Classifier]) -> Shared:
    """Lay the tab out; without models it says how to get one. Returns what a link fills."""
    with gr.Row(equal_height=False, elem_classes="za-areas"):  # the style sheet places the three
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=say.classification.text,
                placeholder=say.classification.placeholder,
                lines=1,  # so that Enter classifies; Shift+Enter begins a line
                max_lines=10,
                autofocus=True,
                elem_id="classify-text",
                elem_classes="za-text",
            )
            chosen = model_choice(say, choices(say, models), "model")
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.classification.go, variant="primary", elem_id="classify")
                clear = gr.Button(say.page.clear, elem_id="clear")
        with gr.Column(elem_classes="za-answer"):
            start = say.classification.waiting if models else say.classification.no_models
            result = gr.HTML(
                notice(start, alarm=False), elem_id="classify-result", elem_classes="za-result"
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            buttons = [
                *examples(say, say.classification.reviews, REVIEWS),
                *examples(say, say.classification.headlines, HEADLINES),
            ]

    latest = Latest()
    latest.on_asking(
        [go.click, text.submit],
        partial(classify, say, models),
        [text, chosen],
        result,
        announce=lambda text, _: announce(say, models, text),
        api_name="classify",
    )
    typed = partial(classify_typed, say, models)
    latest.on_typing([text.change, chosen.input], typed, [text, chosen], result)
    for button, example in zip(buttons, [*REVIEWS, *HEADLINES], strict=True):
        put = scroll_to("classify-result", json.dumps(example.text))
        button.click(None, None, text, js=put, **QUIETLY)
    clear.click(lambda: ("", typed("", "")), None, [text, result], **QUIETLY)
    return {"text": text, "model": chosen}
