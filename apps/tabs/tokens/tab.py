"""The tokens tab: how a text is cut into tokens and words, and what pretraining would mask."""

from __future__ import annotations

from functools import partial

import gradio as gr

from apps.gradio_page.latest import Latest
from apps.gradio_page.layout import QUIETLY, result_panel
from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.tokens.answers import MAX_SEED, tokenize_and_mask
from apps.tabs.tokens.strings import TokenStrings
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import Cut

_EXAMPLE = "今天在杭州西湖边喝了一杯龙井茶，朋友用 iPhone 拍了 36 张照片，好开心😀！"


def tokens_tab(strings: TokenStrings, tokenizer: Tokenizer, cut: Cut) -> LinkedBoxes:
    """Lay the tab out.

    Args:
        strings: The tab's strings.
        tokenizer: Cuts texts into tokens.
        cut: A word segmenter.
    """
    draw = partial(tokenize_and_mask, strings, tokenizer, cut)
    with gr.Row(equal_height=False, elem_classes="za-columns"):
        with gr.Column(scale=5, min_width=320):
            text = gr.Textbox(
                _EXAMPLE,
                label=strings.text,
                lines=1,
                max_lines=8,
                elem_id="tokens-text",
                elem_classes="za-text",
            )
        with gr.Column(scale=4, min_width=280):
            seed = gr.Slider(0, MAX_SEED, 0, step=1, label=strings.seed, elem_id="seed")
            again = gr.Button(strings.again, elem_id="again")
    result = result_panel(draw(_EXAMPLE, 0), "tokens-result")
    latest = Latest()
    # Of the number of a slider everything may be deleted, to type another one.
    boxes, changed = [text, seed], [text.change, seed.change]
    latest.on_typing(changed, draw, boxes, result, api_name="tokens", checked=False)
    again.click(None, seed, seed, js="seed => ((seed || 0) + 1) % 100", **QUIETLY)
    return {"text": text, "seed": seed}
