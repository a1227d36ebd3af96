"""The tab that shows how a text is cut into tokens and words, and what pretraining would mask."""

from __future__ import annotations

from functools import partial

import gradio as gr

from apps.answers import cut_and_mask
from apps.tabs.sharing import Shared
from apps.tabs.wiring import QUIETLY
from apps.texts.examples import TOKENS
from apps.texts.languages import Language
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.words import Cut


def tokens_tab(say: Language, tokenizer: Tokenizer, cut: Cut) -> Shared:
    """Lay the tab out; returns what a link fills.

    Args:
        say: The page's language.
        tokenizer: Whose tokens are shown.
        cut: A word segmenter.
    """
    draw = partial(cut_and_mask, say, tokenizer, cut)
    with gr.Row(equal_height=False, elem_classes="za-columns"):
        with gr.Column(scale=5, min_width=320):
            text = gr.Textbox(
                TOKENS,
                label=say.tokens.text,
                lines=1,
                max_lines=8,
                elem_id="tokens-text",
                elem_classes="za-text",
            )
        with gr.Column(scale=4, min_width=280):
            seed = gr.Slider(0, 99, 0, step=1, label=say.tokens.seed, elem_id="seed")
            again = gr.Button(say.tokens.again, elem_id="again")
    panel = gr.HTML(draw(TOKENS, 0), elem_id="tokens-result")
    gr.on(
        [text.change, seed.change],
        draw,
        [text, seed],
        panel,
        trigger_mode="always_last",
        show_progress="hidden",
        api_name="tokens",
    )
    again.click(None, seed, seed, js="seed => ((seed || 0) + 1) % 100", **QUIETLY)
    return {"text": text, "seed": seed}
