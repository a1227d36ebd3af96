"""The state of the page in its address: ``page.js`` reads and writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import gradio as gr

from apps.gradio_page.layout import QUIETLY
from apps.i18n.page import PageStrings
from apps.markup.text import escape

LinkedBoxes = Mapping[str, Any]
"""The boxes of a tab whose values stand in the address, by their names in it."""


def keep_in_address(
    demo: gr.Blocks, tabs: gr.Tabs, linked: Mapping[str, tuple[gr.Tab, LinkedBoxes]]
) -> None:
    """Keep the address up to date, and fill the page from it when it is opened.

    Args:
        demo: The page.
        tabs: All tabs.
        linked: The tabs by their ids, each with the boxes that a link fills.
    """
    boxes = [(id_, name, box) for id_, (_, named) in linked.items() for name, box in named.items()]
    others = [box for _, _, box in boxes if not isinstance(box, gr.Textbox)]
    texts = [one for one in boxes if isinstance(one[2], gr.Textbox)]
    filled = demo.load(
        None,
        [box for _, _, box in boxes],
        [tabs, *others],
        js=f"(...values) => zaLink.restore({json.dumps([*linked])}, {_described(boxes)}, values)",
        **QUIETLY,
    )
    js = f"() => zaLink.texts({_described(texts)})"
    filled.then(None, None, [box for _, _, box in texts], js=js, **QUIETLY)
    for id_, name, box in boxes:
        box.change(None, box, None, js=f"value => zaLink.keep('{id_}.{name}', value)")
    for id_, (tab, _) in linked.items():
        tab.select(None, None, None, js=f"() => zaLink.show('{id_}')")


def copy_button(strings: PageStrings) -> str:
    """Return the button that copies the page's address, with what ``page.js`` then says."""
    said = {
        "done": strings.copied,
        "long": strings.link_too_long,
        "failed": strings.not_copied,
        "old": strings.old_answer,
    }
    data = " ".join(f'data-{name}="{escape(text)}"' for name, text in said.items())
    return (
        f'<button type="button" id="copy-link" class="za-switch" {data}>'
        f"{escape(strings.copy_link)}</button>"
    )


def _described(boxes: Iterable[tuple[str, str, Any]]) -> str:
    return json.dumps([_description(*one) for one in boxes])


def _description(id_: str, name: str, box: Any) -> dict[str, Any]:
    """Return what ``page.js`` needs so that a link only fills valid values into a box."""
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
