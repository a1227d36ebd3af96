"""The classification tab: answers follow the typing."""

from __future__ import annotations

from collections.abc import Mapping

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.text_tab import answer_texts
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.classification.answers import ClassificationAnswers
from apps.tabs.classification.strings import ClassificationStrings
from zh_albert.tasks.classification.predictor import Classifier


def classification_tab(
    strings: ClassificationStrings, models: Mapping[str, Classifier]
) -> LinkedBoxes:
    """Lay the tab out; without models it says how to get one."""
    answers = ClassificationAnswers(strings, models)
    with layout.areas():
        with layout.area("input"):
            text = layout.text_box(
                strings.text, strings.placeholder, "classify-text", max_lines=10, autofocus=True
            )
            chosen = layout.model_choice(
                strings.page, layout.models_or_all(strings.page, models), "model"
            )
            buttons = layout.go_and_clear(strings.page, strings.go, "classify", "clear")
        with layout.area("answer"):
            result = layout.result_panel(answers.typed(""), "classify-result")
        with layout.examples_area(strings.page):
            examples = read_examples("classification")
            titles = {"reviews": strings.reviews, "headlines": strings.headlines}
            for group, title in titles.items():
                layout.offer_examples(
                    strings.page, title, examples[group], [text], "classify-result"
                )
    answer_texts(answers, [text, chosen], result, buttons, "classify")
    return {"text": text, "model": chosen}
