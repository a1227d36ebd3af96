"""What the tabs share: quiet events, example buttons, the choice of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from apps.markup import element, page
from apps.texts.examples import Example
from apps.texts.languages import Language

QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
MINE: dict[str, Any] = {"js": "(...values) => zaMine(values)", **QUIETLY}
"""For events whose last input is the owner of a job: a secret of the browser's tab, which a page
that is loaded again still has; see ``page.js``."""


def examples(
    say: Language,
    title: str,
    offered: Sequence[Example],
    drawn: Callable[[str], str] = str,
) -> list[gr.Button]:
    """Draw a heading and a button for each example.

    Args:
        say: The page's language.
        title: The heading.
        offered: The examples.
        drawn: Turns an example's text into what its button shows.
    """
    gr.HTML(page(element(title, "h4")))
    captions = [say.caption(drawn(example.text), example) for example in offered]
    return [gr.Button(caption, size="sm", elem_classes="za-example") for caption in captions]


def model_choice(say: Language, offered: Sequence[tuple[str, str]], elem_id: str) -> gr.Radio:
    """Draw the choice of a model, the first one chosen; of fewer than two there is none to see.

    Args:
        say: The page's language.
        offered: Labels and values.
        elem_id: Its id on the page.
    """
    return gr.Radio(
        choices=list(offered),
        value=offered[0][1] if offered else None,
        label=say.page.model,
        visible=len(offered) > 1,
        elem_id=elem_id,
        elem_classes="za-model",
    )


def watching(active: bool) -> gr.Timer:
    """Return how often a page asks after its job: one that is done is kept while it does."""
    return gr.Timer(1 if active else 60, active=True)


def when_opened(answer: Callable[..., Any], inputs: Any, shown: Any, **how: Any) -> None:
    """Fill a tab when the page is opened, or loaded again."""
    page = gr.context.Context.root_block
    assert page is not None
    page.load(answer, inputs, shown, **how)


def scroll_to(result: str, answer: str) -> str:
    """Return the script of an example: on a phone the examples stand below the result.

    Args:
        result: The id of the result.
        answer: What the script returns, as JSON.
    """
    return f"""() => {{
      document.getElementById("{result}").scrollIntoView({{block: "nearest", behavior: "smooth"}});
      return {answer};
    }}"""
