"""The tab that looks into the encoders: attention, and how far each layer moves its input."""

from __future__ import annotations

from typing import Any

import gradio as gr

from apps.encoder_cache import EncoderCache
from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.latest import Latest
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.inside.answers import Head, InsideAnswers
from apps.tabs.inside.strings import InsideStrings

_START = Head(0, 0)
# The server draws the heads; a click, or an arrow key, only sends which one it was. They are not
# drawn again, so that the keyboard stays where it is.
_SEND_HEAD = """
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


def inside_tab(strings: InsideStrings, encoders: EncoderCache) -> LinkedBoxes:
    """Lay the tab out.

    Args:
        strings: The tab's strings.
        encoders: The encoders to look into; at least one.
    """
    answers = InsideAnswers(strings, encoders)
    names = encoders.names
    with layout.areas():
        with layout.area("input"):
            text = layout.text_box(
                strings.text,
                strings.text_placeholder,
                "inside-text",
                kind="za-short-text",
                max_lines=5,
            )
            model = gr.Dropdown(
                choices=layout.named_models(strings.page, names),
                value="encoder" if "encoder" in names else names[0],
                label=strings.page.model,
                visible=len(names) > 1,
                elem_id="inside-model",
            )
        with layout.area("answer"):
            start = answers.typed("", "", _START).overview
            overview = layout.result_panel(start, "inside-heads", js_on_load=_SEND_HEAD)
            enlarged = layout.result_panel("", "inside-map")
        with layout.examples_area(strings.page):
            [examples] = read_examples("inside").values()
            title = strings.page.sentences
            layout.offer_examples(strings.page, title, examples, [text], "inside-heads")
    movement = layout.result_panel("", "inside-movement")
    picked = gr.State(_START)

    def pick(text: str, model: str, event: gr.EventData) -> tuple[Head, str]:
        head = Head(int(event.layer), int(event.head))
        return head, answers.enlarged(text, model, head)

    boxes: Any = [text, model, picked]
    panels: Any = [overview, enlarged, movement]
    latest = Latest()
    latest.on_typing([text.change, model.input], answers.typed, boxes, panels)
    latest.on_asking([text.submit], answers.asked, boxes, panels, api_name="inside")
    how = layout.QUIETLY | {"trigger_mode": "always_last"}
    overview.select(pick, [text, model], [picked, enlarged], **how)
    return {"text": text, "model": model}
