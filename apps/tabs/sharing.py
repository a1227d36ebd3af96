"""The state of the page in its address: see ``page.js``, which reads and writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import gradio as gr

from apps.markup import escape
from apps.tabs.wiring import QUIETLY
from apps.texts.languages import Language

Shared = Mapping[str, Any]
"""The boxes of a tab that a link fills, by the names they have in it."""


def share(demo: gr.Blocks, tabs: gr.Tabs, shared: Mapping[str, tuple[gr.Tab, Shared]]) -> None:
    """Keep the address up to date, and fill the page from it when it is opened.

    Args:
        demo: The page.
        tabs: All tabs.
        shared: The tabs by their ids, each with what a link fills.
    """
    boxes = [(id_, name, box) for id_, (_, named) in shared.items() for name, box in named.items()]
    others = [box for _, _, box in boxes if not isinstance(box, gr.Textbox)]
    texts = [one for one in boxes if isinstance(one[2], gr.Textbox)]
    filled = demo.load(
        None,
        [box for _, _, box in boxes],
        [tabs, *others],
        js=f"(...values) => zaLink.restore({json.dumps(list(shared))}, {_told(boxes)}, values)",
        **QUIETLY,
    )
    js = f"() => zaLink.texts({_told(texts)})"
    filled.then(None, None, [box for _, _, box in texts], js=js, **QUIETLY)
    for id_, name, box in boxes:
        box.change(None, box, None, js=f"value => zaLink.keep('{id_}.{name}', value)")
    for id_, (tab, _) in shared.items():
        tab.select(None, None, None, js=f"() => zaLink.show('{id_}')")


def copy_button(say: Language) -> str:
    """Draw the button that copies the page's address, and where it says what came of it."""
    told = {"done": say.page.copied, "long": say.page.link_too_long, "failed": say.page.not_copied}
    data = " ".join(f'data-{name}="{escape(text)}"' for name, text in told.items())
    return (
        f'<button type="button" id="copy-link" class="za-switch" {data}>'
        f"{escape(say.page.copy_link)}</button>"
    )


def _told(boxes: Iterable[tuple[str, str, Any]]) -> str:
    return json.dumps([_described(*one) for one in boxes])


def _described(id_: str, name: str, box: Any) -> dict[str, Any]:
    """Return what ``page.js`` has to know of a box: a link must not put in what it cannot hold."""
    about: dict[str, Any] = {
        "tab": id_,
        "name": name,
        "first": getattr(box.value, "root", box.value),
        "text": isinstance(box, gr.Textbox),
        "json": isinstance(box, gr.Slider | gr.JSON),
    }
    if isinstance(box, gr.Radio | gr.Dropdown):
        about["choices"] = [value for _, value in box.choices]
    if isinstance(box, gr.Slider):
        about |= {"low": box.minimum, "high": box.maximum}
    return about
