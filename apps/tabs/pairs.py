"""The tab of two sentences: what follows from one, and whether both mean the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gradio as gr

from apps.markup import element, notice, page
from apps.pair_answers import announce_pair, compare, compare_typed
from apps.panels import choices
from apps.tabs.latest import Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, model_choice, scroll_to
from apps.texts.examples import Example
from apps.texts.languages import Language
from apps.texts.pairs import INFERENCE, SIMILARITY, PairExample
from zh_albert.tasks.classification.predictor import Classifier, Regressor


def pairs_tab(say: Language, models: Mapping[str, Classifier | Regressor]) -> Shared:
    """Lay the tab out; returns what a link fills.

    Args:
        say: The page's language.
        models: Of pairs, by name; at least one.
    """
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            first, second = (
                gr.Textbox(
                    label=label,
                    placeholder=placeholder,
                    lines=1,  # so that Enter compares
                    max_lines=6,
                    elem_id=f"pairs-{name}",
                    elem_classes="za-text za-short-text",
                )
                for name, label, placeholder in (
                    ("first", say.pairs.first, say.pairs.first_placeholder),
                    ("second", say.pairs.second, say.pairs.second_placeholder),
                )
            )
            chosen = model_choice(say, choices(say, models), "pairs-model")
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.pairs.go, variant="primary", elem_id="pairs", min_width=96)
                swap = gr.Button(say.pairs.swap, elem_id="pairs-swap", min_width=96)
                clear = gr.Button(say.page.clear, elem_id="pairs-clear", min_width=72)
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(say.pairs.waiting, alarm=False),
                elem_id="pairs-result",
                elem_classes="za-result",
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            offers = [
                *_offer(say, say.pairs.inference, INFERENCE),
                *_offer(say, say.pairs.similarity, SIMILARITY),
            ]

    boxes: Any = [first, second, chosen]
    latest = Latest()
    latest.on_asking(
        [go.click, first.submit, second.submit],
        partial(compare, say, models),
        boxes,
        result,
        announce=lambda first, second, _: announce_pair(say, first, second),
        api_name="pairs",
    )
    typed = partial(compare_typed, say, models)
    latest.on_typing([first.change, second.change, chosen.input], typed, boxes, result)
    swap.click(None, [first, second], [first, second], js="(a, b) => [b, a]", **QUIETLY)
    for button, pair in offers:
        put = scroll_to("pairs-result", json.dumps([pair.first, pair.second]))
        button.click(None, None, [first, second], js=put, **QUIETLY)
    clear.click(lambda: ("", "", typed("", "", "")), None, [first, second, result], **QUIETLY)
    return {"first": first, "second": second, "model": chosen}


def _offer(
    say: Language, title: str, pairs: Sequence[PairExample]
) -> list[tuple[gr.Button, PairExample]]:
    both = [Example(f"{pair.first}\n{pair.second}", pair.meaning) for pair in pairs]
    return list(zip(examples(say, title, both), pairs, strict=True))
