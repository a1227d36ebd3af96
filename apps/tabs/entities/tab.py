"""The entities tab: entities are marked while somebody types."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.text_tab import answer_texts
from apps.gradio_page.url_state import LinkedBoxes
from apps.markup.text import notice
from apps.tabs.entities.answers import EntityAnswers
from apps.tabs.entities.strings import EntityStrings
from zh_albert.tasks.ner.predictor import Tagger


def entities_tab(strings: EntityStrings, taggers: Mapping[str, Tagger]) -> LinkedBoxes:
    """Lay the tab out; without a tagger it says how to get one."""
    if not taggers:
        gr.HTML(notice(strings.no_tagger, alarm=False), elem_id="entities-result")
        return {}
    answers = EntityAnswers(strings, taggers)
    with layout.areas():
        with layout.area("input"):
            text = layout.text_box(strings.text, strings.placeholder, "entities-text", max_lines=12)
            chosen = layout.model_choice(
                strings.page, layout.named_models(strings.page, taggers), "entities-model"
            )
            buttons = layout.go_and_clear(strings.page, strings.go, "entities")
        with layout.area("answer"):
            result = layout.result_panel(answers.typed(""), "entities-result")
        with layout.examples_area(strings.page):
            [examples] = read_examples("entities").values()
            title = strings.page.sentences
            layout.offer_examples(strings.page, title, examples, [text], "entities-result")
    answer_texts(answers, [text, chosen], result, buttons, "entities")
    return {"text": text, "model": chosen}
