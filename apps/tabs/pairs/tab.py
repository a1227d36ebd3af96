"""The tab of sentence pairs: whether one follows from the other, and whether both say the same."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.text_tab import answer_texts
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.pairs.answers import PairAnswers
from apps.tabs.pairs.strings import PairStrings
from zh_albert.tasks.classification.predictor import Classifier, Regressor


def pairs_tab(strings: PairStrings, models: Mapping[str, Classifier | Regressor]) -> LinkedBoxes:
    """Lay the tab out.

    Args:
        strings: The tab's strings.
        models: Of pairs, by name; at least one.
    """
    answers = PairAnswers(strings, models)
    with layout.areas():
        with layout.area("input"):
            first, second = sentences = [
                layout.text_box(label, placeholder, elem_id, kind="za-short-text", max_lines=6)
                for elem_id, label, placeholder in (
                    ("pairs-first", strings.first, strings.first_placeholder),
                    ("pairs-second", strings.second, strings.second_placeholder),
                )
            ]
            chosen = layout.model_choice(
                strings.page, layout.models_or_all(strings.page, models), "pairs-model"
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(strings.go, variant="primary", elem_id="pairs", min_width=96)
                swap = gr.Button(strings.swap, elem_id="pairs-swap", min_width=96)
                clear = gr.Button(strings.page.clear, elem_id="pairs-clear", min_width=72)
        with layout.area("answer"):
            result = layout.result_panel(answers.typed("", ""), "pairs-result")
        with layout.examples_area(strings.page):
            examples = read_examples("pairs")
            titles = {"inference": strings.inference, "similarity": strings.similarity}
            for group, title in titles.items():
                layout.offer_examples(
                    strings.page, title, examples[group], sentences, "pairs-result"
                )
    answer_texts(answers, [*sentences, chosen], result, (go, clear), "pairs")
    swap.click(None, sentences, sentences, js="(a, b) => [b, a]", **layout.QUIETLY)
    return {"first": first, "second": second, "model": chosen}
