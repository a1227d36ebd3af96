"""The tab of the taggers: entities are marked while one types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import gradio as gr

from apps.entity_answers import announce_entities, find_entities, find_entities_typed
from apps.markup import element, notice, page
from apps.panels import named
from apps.tabs.latest import Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, model_choice, scroll_to
from apps.texts.examples import ENTITIES
from apps.texts.languages import Language
from zh_albert.tasks.ner.predictor import Tagger


def entities_tab(say: Language, taggers: Mapping[str, Tagger]) -> Shared:
    """Lay the tab out; without a tagger it says how to get one. Returns what a link fills."""
    if not taggers:
        gr.HTML(notice(say.entities.no_tagger, alarm=False), elem_id="entities-result")
        return {}
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=say.entities.text,
                placeholder=say.entities.placeholder,
                lines=1,  # so that Enter finds; Shift+Enter begins a line
                max_lines=12,
                elem_id="entities-text",
                elem_classes="za-text",
            )
            chosen = model_choice(say, named(say, taggers), "entities-model")
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.entities.go, variant="primary", elem_id="entities")
                clear = gr.Button(say.page.clear, elem_id="entities-clear")
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(say.entities.waiting, alarm=False),
                elem_id="entities-result",
                elem_classes="za-result",
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            buttons = examples(say, say.page.sentences, ENTITIES)

    latest = Latest()
    latest.on_asking(
        [go.click, text.submit],
        partial(find_entities, say, taggers),
        [text, chosen],
        result,
        announce=lambda text, _: announce_entities(say, text),
        api_name="entities",
    )
    typed = partial(find_entities_typed, say, taggers)
    latest.on_typing([text.change, chosen.input], typed, [text, chosen], result)
    for button, example in zip(buttons, ENTITIES, strict=True):
        put = scroll_to("entities-result", json.dumps(example.text))
        button.click(None, None, text, js=put, **QUIETLY)
    clear.click(lambda: ("", typed("", "")), None, [text, result], **QUIETLY)
    return {"text": text, "model": chosen}
