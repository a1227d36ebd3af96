"""The tab of the tagger: entities are marked while one types."""

from __future__ import annotations

import json
from functools import partial

import gradio as gr

from apps import texts
from apps.entity_answers import announce_entities, find_entities, find_entities_typed
from apps.markup import bilingual, notice, page
from apps.tabs.wiring import QUIETLY, examples, scroll_to
from zh_albert.inference.tagging import Tagger


def entities_tab(tagger: Tagger | None) -> None:
    """Lay the tab out; without a tagger it says how to get one."""
    if tagger is None:
        gr.HTML(notice(texts.NO_TAGGER, alarm=False), elem_id="entities-result")
        return
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=texts.ENTITIES_TEXT.label(),
                placeholder=texts.ENTITIES_PLACEHOLDER,
                lines=1,  # so that Enter finds; Shift+Enter begins a line
                max_lines=12,
                elem_id="entities-text",
                elem_classes="za-text",
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(texts.FIND.label(), variant="primary", elem_id="entities")
                clear = gr.Button(texts.CLEAR.label(), elem_id="entities-clear")
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(texts.ENTITIES_WAITING, alarm=False),
                elem_id="entities-result",
                elem_classes="za-result",
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(bilingual(texts.EXAMPLES, "h3")))
            buttons = examples(texts.SENTENCES, texts.ENTITY_EXAMPLES)

    announced = gr.on(
        [go.click, text.submit],
        lambda text: announce_entities(text) or gr.skip(),
        text,
        result,
        trigger_mode="always_last",
        **QUIETLY,
    )
    asked = announced.then(
        partial(find_entities, tagger),
        text,
        result,
        show_progress="hidden",
        concurrency_limit=4,  # a long text given up by the user goes on for a while
        api_name="entities",
    )
    typed = partial(find_entities_typed, tagger)
    text.change(
        typed, text, result, trigger_mode="always_last", cancels=[announced, asked], **QUIETLY
    )
    for button in buttons:
        put = scroll_to("entities-result", json.dumps(button.value))
        button.click(None, None, text, js=put, **QUIETLY)
    clear.click(
        lambda: ("", typed("")), None, [text, result], cancels=[announced, asked], **QUIETLY
    )
