"""The tab with the encoder's training curves."""

from __future__ import annotations

import gradio as gr

from apps.curves import curves_panel
from apps.tabs.sharing import Shared
from apps.texts.languages import Language
from zh_albert.inference.fill_mask import FillMask


def training_tab(say: Language, encoder: FillMask | None) -> Shared:
    """Lay the tab out; without an encoder it says so and how to get one."""
    gr.HTML(curves_panel(say, encoder), elem_id="training-result")
    return {}
