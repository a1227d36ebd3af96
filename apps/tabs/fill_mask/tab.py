"""The fill-mask tab: the words of a sentence are buttons that hide them; answers come at once."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import gradio as gr

from apps.examples import read_examples
from apps.gradio_page import layout
from apps.gradio_page.latest import NOW, Latest
from apps.gradio_page.url_state import LinkedBoxes
from apps.markup.text import notice
from apps.tabs.fill_mask.answers import FillAnswers, FillState
from apps.tabs.fill_mask.strings import FillMaskStrings
from zh_albert.inference.fill_mask import MASK, FillMask
from zh_albert.tokenization.words import Cut

# The server draws the words; a click only sends which one it was.
# Quick clicks come before the answer to the one before: what was just clicked counts, not what an
# answer on its way shows.
_SEND_WORDS = """
let chosen = new Map(), text = "", last = 0;
element.addEventListener("click", event => {
  const word = event.target.closest("button[data-word]");
  if (!word) return;
  const every = [...element.querySelectorAll("button[data-word]")];
  const now = Date.now(), shown = every.map(one => one.dataset.word).join();
  if (shown !== text || now - last > 3000) chosen = new Map();
  [text, last] = [shown, now];
  const hides = one => chosen.get(one.dataset.word) ?? one.getAttribute("aria-pressed") === "true";
  chosen.set(word.dataset.word, !hides(word));
  word.setAttribute("aria-pressed", hides(word));
  trigger("select", {words: every.filter(hides).map(one => one.dataset.word)});
});"""


def fill_mask_tab(strings: FillMaskStrings, encoder: FillMask | None, cut: Cut) -> LinkedBoxes:
    """Lay the tab out; without an encoder it says how to get one.

    Args:
        strings: The tab's strings.
        encoder: Fills the masks.
        cut: A word segmenter.
    """
    if encoder is None:
        gr.HTML(notice(strings.page.no_encoder, alarm=False), elem_id="fill-result")
        return {}
    answers = FillAnswers(strings, encoder, cut)
    start = answers.typed("", [])
    with layout.areas():
        with layout.area("input"):
            text = layout.text_box(strings.text, strings.placeholder, "fill-text", max_lines=8)
            words = gr.HTML(start.words, elem_id="fill-words", js_on_load=_SEND_WORDS)
            go, clear = layout.go_and_clear(strings.page, strings.go, "fill")
        with layout.area("answer"):
            result = layout.result_panel(start.result, "fill-result")
        with layout.examples_area(strings.page):
            examples = read_examples("fill_mask")
            titles = {"words hidden": strings.words_hidden, "masks typed": strings.masks_typed}
            buttons: list[tuple[gr.Button, str]] = []
            for group, title in titles.items():
                marked = [example.texts[0] for example in examples[group]]
                captions = [_lined(text) for text in marked]
                drawn = layout.example_buttons(strings.page, title, captions, examples[group])
                buttons += zip(drawn, marked, strict=True)
    hidden = gr.JSON([], visible=False)  # the hidden words, which a link also holds

    latest = Latest()

    def pick(text: str, moment: object, event: gr.EventData) -> FillState:
        latest.holds(moment)
        return answers.hiding(text, event.words)

    def show(marked: str) -> tuple[Any, ...]:
        text, state = answers.example(marked)
        return text, *state

    shown: Any = [words, hidden, result]
    boxes = [text, hidden]
    latest.on_typing([text.change], answers.typed, boxes, shown)
    how = layout.QUIETLY | latest.in_turn  # hidden words belong to the text they came with
    # Each click counts, however fast they come.
    words.select(pick, [text, latest.moment], shown, js=NOW, trigger_mode="multiple", **how)
    latest.on_asking([go.click, text.submit], answers.asked, boxes, shown, api_name="fill")
    clear.click(lambda: ("", *start), None, [text, *shown], **how)
    for button, marked_text in buttons:
        scroll = layout.scroll_to("fill-result", "[]")
        button.click(partial(show, marked_text), None, [text, *shown], js=scroll, **how)
    return {"text": text, "hidden": hidden}


def _lined(marked: str) -> str:
    """Return an example as its button shows it, with a line for each hidden character."""
    lined = re.sub("【(.*?)】", lambda word: "＿" * len(word[1]), marked)
    return lined.replace(MASK, "＿")
