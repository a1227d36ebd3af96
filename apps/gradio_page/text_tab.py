"""The events of a tab that answers while somebody types, and at its button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from apps.gradio_page.latest import Latest
from apps.gradio_page.layout import QUIETLY
from apps.text_answers import TextAnswers


def answer_texts(
    answers: TextAnswers[Any],
    boxes: Sequence[Any],
    result: gr.HTML,
    buttons: tuple[gr.Button, gr.Button],
    api_name: str,
) -> None:
    """Fill the result from the boxes.

    Args:
        answers: What is answered.
        boxes: Of the texts, then the choice of a model, if there is one. Enter asks in boxes of
            one line.
        result: The panel with the answer.
        buttons: The one that asks, and the one that empties the boxes.
        api_name: The name of the answers in the page's API.
    """
    go, clear = buttons
    texts = [box for box in boxes if isinstance(box, gr.Textbox)]
    choices = [box for box in boxes if box not in texts]
    latest = Latest()
    latest.on_asking(
        [go.click, *(text.submit for text in texts if text.lines == 1)],
        answers.asked,
        boxes,
        result,
        announce=answers.announced,
        api_name=api_name,
    )
    typing = [*(text.change for text in texts), *(choice.input for choice in choices)]
    latest.on_typing(typing, answers.typed, boxes, result)
    empty = [""] * len(texts)
    clear.click(lambda: (*empty, answers.typed(*empty)), None, [*texts, result], **QUIETLY)
