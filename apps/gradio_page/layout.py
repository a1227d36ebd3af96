"""The parts that tabs are laid out from: areas, boxes, buttons, results, examples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import gradio as gr

from apps.examples import Example
from apps.i18n.page import PageStrings
from apps.markup.sections import caption
from apps.markup.text import element, panel

QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""Settings of events that show no progress and are no part of the API."""


def areas() -> gr.Row:
    """Return the row of a tab's three areas; the style sheet places them."""
    return gr.Row(equal_height=False, elem_classes="za-areas")


def area(kind: Literal["input", "answer"]) -> gr.Column:
    """Return the area of the boxes or of the answer."""
    return gr.Column(elem_classes=f"za-{kind}")


@contextmanager
def examples_area(strings: PageStrings, about: str = "") -> Iterator[None]:
    """Begin the area of the examples with a heading.

    Args:
        strings: The page's strings.
        about: A paragraph above the heading.
    """
    with gr.Column(elem_classes="za-examples"):
        gr.HTML(panel(caption(about) + element(strings.examples, "h3")))
        yield


def text_box(
    label: str, placeholder: str, elem_id: str, *, kind: str = "", lines: int = 1, **how: Any
) -> gr.Textbox:
    """Draw a box for a text; with one line Enter asks for an answer, Shift+Enter begins a line.

    Args:
        label: Its label.
        placeholder: Shown while it is empty.
        elem_id: Its id on the page.
        kind: Another class of the style sheet.
        lines: Lines seen at least.
        how: Other settings of Gradio.
    """
    return gr.Textbox(
        label=label,
        placeholder=placeholder,
        lines=lines,
        elem_id=elem_id,
        elem_classes=f"za-text {kind}".strip(),
        **how,
    )


def go_and_clear(
    strings: PageStrings, go: str, elem_id: str, clear_id: str = ""
) -> tuple[gr.Button, gr.Button]:
    """Draw the button that asks for an answer, and the one that empties the boxes.

    Args:
        strings: The page's strings.
        go: The first button's label.
        elem_id: Its id on the page.
        clear_id: The other one's.
    """
    with gr.Row(elem_classes="za-actions"):
        return (
            gr.Button(go, variant="primary", elem_id=elem_id),
            gr.Button(strings.clear, elem_id=clear_id or f"{elem_id}-clear"),
        )


def result_panel(start: str, elem_id: str, **how: Any) -> gr.HTML:
    """Draw a panel of the answers, with what it shows at first.

    Args:
        start: That.
        elem_id: Its id on the page.
        how: Other settings of Gradio.
    """
    return gr.HTML(start, elem_id=elem_id, elem_classes="za-result", **how)


def model_choice(
    strings: PageStrings, offered: Sequence[tuple[str, str]], elem_id: str
) -> gr.Radio:
    """Draw the choice of a model, the first one chosen; invisible with fewer than two.

    Args:
        strings: The page's strings.
        offered: Labels and values.
        elem_id: Its id on the page.
    """
    return gr.Radio(
        choices=list(offered),
        value=offered[0][1] if offered else None,
        label=strings.model,
        visible=len(offered) > 1,
        elem_id=elem_id,
        elem_classes="za-model",
    )


def named_models(strings: PageStrings, models: Iterable[str]) -> list[tuple[str, str]]:
    """Return the choice of a model: names on the page, and the models' own names."""
    return [(strings.names.of_model(name), name) for name in models]


def models_or_all(strings: PageStrings, models: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the choice of a model, or of all of them: ``""``, the first of two or more.

    >>> from apps.i18n.page import CHINESE
    >>> [value for _, value in models_or_all(CHINESE, {"sentiment": ..., "mine": ...})]
    ['', 'sentiment', 'mine']
    """
    single = named_models(strings, models)
    if len(single) < 2:
        return single
    together = strings.both_models if len(single) == 2 else strings.all_models
    return [(together, ""), *single]


def example_buttons(
    strings: PageStrings, title: str, captions: Sequence[str], examples: Sequence[Example]
) -> list[gr.Button]:
    """Draw a heading and a button for each example.

    Args:
        strings: The page's strings.
        title: The heading.
        captions: What the buttons show; on the English page also the translation.
        examples: The examples.
    """
    gr.HTML(panel(element(title, "h4")))
    return [
        gr.Button(strings.caption(caption, example.meaning), size="sm", elem_classes="za-example")
        for caption, example in zip(captions, examples, strict=True)
    ]


def offer_examples(
    strings: PageStrings,
    title: str,
    examples: Sequence[Example],
    boxes: Sequence[Any],
    result: str,
    *,
    shown: int = 2,
) -> None:
    """Draw a heading and buttons that fill the boxes with examples.

    Args:
        strings: The page's strings.
        title: The heading.
        examples: The examples.
        boxes: One for each text of an example.
        result: The id of the panel with the answer.
        shown: How many texts of an example its button shows at most.
    """
    captions = ["\n".join(example.texts[:shown]) for example in examples]
    buttons = example_buttons(strings, title, captions, examples)
    for button, (texts, _) in zip(buttons, examples, strict=True):
        value = json.dumps(texts[0] if len(boxes) == 1 else texts)
        button.click(None, None, list(boxes), js=scroll_to(result, value), **QUIETLY)


def scroll_to(result: str, answer: str) -> str:
    """Return the script of an example: on a phone the examples stand below the result.

    Args:
        result: The id of the panel with the answer.
        answer: What the script returns, as JSON.
    """
    return f"""() => {{
      document.getElementById("{result}").scrollIntoView({{block: "nearest", behavior: "smooth"}});
      return {answer};
    }}"""
