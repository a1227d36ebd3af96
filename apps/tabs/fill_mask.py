"""The fill-mask tab: words of the sentence are buttons that hide them; answers come at once."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import gradio as gr

from apps.fill_answers import FillAnswers, FillState
from apps.fill_panels import words_panel
from apps.markup import element, notice, page
from apps.tabs.latest import NOW, Latest
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY, examples, scroll_to
from apps.texts.examples import HIDDEN, MASKS
from apps.texts.languages import Language
from zh_albert.inference.fill_mask import MASK, FillMask
from zh_albert.tokenization.words import Cut

# The server draws the words; a click only tells which one it was.
_TELL_WORD = """element.addEventListener("click", event => {
  const word = event.target.closest("button[data-word]");
  if (word) trigger("select", {word: word.dataset.word});
});"""


def fill_mask_tab(say: Language, encoder: FillMask | None, cut: Cut) -> Shared:
    """Lay the tab out; without an encoder it says how to get one. Returns what a link fills.

    Args:
        say: The page's language.
        encoder: Fills the masks.
        cut: A word segmenter.
    """
    if encoder is None:
        gr.HTML(notice(say.fill_mask.no_encoder, alarm=False), elem_id="fill-result")
        return {}
    answers = FillAnswers(say, encoder, cut)
    with gr.Row(equal_height=False, elem_classes="za-areas"):
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=say.fill_mask.text,
                placeholder=say.fill_mask.placeholder,
                lines=1,  # so that Enter fills; Shift+Enter begins a line
                max_lines=8,
                elem_id="fill-text",
                elem_classes="za-text",
            )
            words = gr.HTML(
                words_panel(say, "", [], []), elem_id="fill-words", js_on_load=_TELL_WORD
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(say.fill_mask.go, variant="primary", elem_id="fill")
                clear = gr.Button(say.page.clear, elem_id="fill-clear")
        with gr.Column(elem_classes="za-answer"):
            result = gr.HTML(
                notice(say.fill_mask.waiting, alarm=False),
                elem_id="fill-result",
                elem_classes="za-result",
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(element(say.page.examples, "h3")))
            buttons = [
                *examples(say, say.fill_mask.words_hidden, HIDDEN, _lined),
                *examples(say, say.fill_mask.masks_typed, MASKS, _lined),
            ]
    hidden = gr.JSON([], visible=False)  # the words that are hidden; a link has them, too

    latest = Latest()

    def pick(text: str, hidden: object, moment: object, event: gr.EventData) -> FillState:
        latest.holds(moment)
        return answers.toggled(text, hidden, event.word)

    def show(marked: str) -> tuple[Any, ...]:
        text, state = answers.example(marked)
        return text, *state

    shown: Any = [words, hidden, result]
    boxes = [text, hidden]
    latest.on_typing([text.change], answers.typed, boxes, shown)
    how = QUIETLY | latest.in_turn  # what is hidden belongs to the text that came with it
    # Each click counts, however fast they come.
    words.select(pick, [*boxes, latest.moment], shown, js=NOW, trigger_mode="multiple", **how)
    latest.on_asking([go.click, text.submit], answers.asked, boxes, shown, api_name="fill")
    clear.click(lambda: ("", *answers.typed("", [])), None, [text, *shown], **how)
    for button, example in zip(buttons, [*HIDDEN, *MASKS], strict=True):
        scroll = scroll_to("fill-result", "[]")
        button.click(partial(show, example.text), None, [text, *shown], js=scroll, **how)
    return {"text": text, "hidden": hidden}


def _lined(marked: str) -> str:
    """Return an example as its button shows it, with a line for each hidden character."""
    lined = re.sub("【(.*?)】", lambda word: "＿" * len(word[1]), marked)
    return lined.replace(MASK, "＿")
