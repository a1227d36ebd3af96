"""The tab that looks into the encoders: attention, and how far each layer moves its input."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import gradio as gr

from apps.inside_answers import Picked, enlarge, look
from apps.markup import element, notice, page
from apps.tabs.latest import Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, scroll_to
from apps.texts.inside import EXAMPLES
from apps.texts.languages import Language
from apps.views import Views

_START = Picked(0, 0)
# The server draws the heads; a click, or an arrow key, only tells which one it was. They are not
# drawn again, so that the keyboard stays where it is.
_TELL_HEAD = """
const pick = button => {
  for (const one of element.querySelectorAll("button[data-head]")) {
    one.setAttribute("aria-pressed", one === button);
    one.tabIndex = one === button ? 0 : -1;
  }
  trigger("select", {layer: button.dataset.layer, head: button.dataset.head});
};
element.addEventListener("click", event => {
  const button = event.target.closest("button[data-head]");
  if (button) pick(button);
});
element.addEventListener("keydown", event => {
  const button = event.target.closest("button[data-head]");
  const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  const step = steps[event.key];
  if (!button || !step) return;
  event.preventDefault();
  const layer = Number(button.dataset.layer) + step[0];
  const head = Number(button.dataset.head) + step[1];
  const next = element.querySelector(
    "button[data-layer='" + layer + "'][data-head='" + head + "']");
  if (next) { next.focus(); pick(next); }
});
"""


def inside_tab(say: Language, encoders: Views) -> Shared:
    """Lay the tab out; returns what a link fills.

    Args:
        say: The page's language.
        encoders: What is looked into; at least one.
    """
    names = encoders.names
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=say.inside.text,
                placeholder=say.inside.text_placeholder,
                lines=1,
                max_lines=5,
                elem_id="inside-text",
                elem_classes="za-text za-short-text",
            )
            model = gr.Dropdown(
                choices=[(say.labels.models.get(name, name), name) for name in names],
                value="encoder" if "encoder" in names else names[0],
                label=say.page.model,
                visible=len(names) > 1,
                elem_id="inside-model",
            )
        with gr.Column(elem_classes="za-answer"):
            overview = gr.HTML(
                notice(say.inside.waiting, alarm=False),
                elem_id="inside-heads",
                js_on_load=_TELL_HEAD,
            )
            large = gr.HTML(elem_id="inside-map")
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            buttons = examples(say, say.page.sentences, EXAMPLES)
    movement = gr.HTML(elem_id="inside-movement")
    picked = gr.State(_START)

    def pick(text: str, model: str, event: gr.EventData) -> tuple[Picked, str]:
        chosen = Picked(int(event.layer), int(event.head))
        return chosen, enlarge(say, encoders, text, model, chosen)

    panels: Any = [overview, large, movement]
    latest = Latest()
    boxes: Any = [text, model, picked]
    typed, asked = (partial(look, say, encoders, asked=pressed) for pressed in (False, True))
    latest.on_typing([text.change, model.input], typed, boxes, panels)
    latest.on_asking([text.submit], asked, boxes, panels, api_name="inside")
    overview.select(pick, [text, model], [picked, large], trigger_mode="always_last", **QUIETLY)
    for button, example in zip(buttons, EXAMPLES, strict=True):
        put = scroll_to("inside-heads", json.dumps(example.text))
        button.click(None, None, text, js=put, **QUIETLY)
    return {"text": text, "model": model}
