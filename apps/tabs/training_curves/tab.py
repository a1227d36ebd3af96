"""The tab with the encoder's training curves."""

from __future__ import annotations

import gradio as gr

from apps.gradio_page.url_state import LinkedBoxes
from apps.tabs.training_curves.panels import curves_panel
from apps.tabs.training_curves.strings import TrainingCurveStrings
from zh_albert.inference.fill_mask import FillMask


def training_curves_tab(strings: TrainingCurveStrings, encoder: FillMask | None) -> LinkedBoxes:
    """Lay the tab out; without an encoder it says how to get one."""
    gr.HTML(curves_panel(strings, encoder), elem_id="training-result")
    return {}
