"""The page in one language: its header and its tabs. Needs Gradio."""

from __future__ import annotations

import gradio as gr

from apps.gradio_page.uploads import KEPT_S, SWEPT_S
from apps.gradio_page.url_state import LinkedBoxes, copy_button, keep_in_address
from apps.i18n import page
from apps.i18n.page import PageStrings
from apps.jobs import PageJobs
from apps.markup.text import element, escape, panel
from apps.models import Models
from apps.strings import Strings
from apps.tabs.batch.tab import batch_tab
from apps.tabs.classification.tab import classification_tab
from apps.tabs.entities.tab import entities_tab
from apps.tabs.fill_mask.tab import fill_mask_tab
from apps.tabs.finetuning.tab import finetuning_tab
from apps.tabs.inside.tab import inside_tab
from apps.tabs.pairs.tab import pairs_tab
from apps.tabs.reading.tab import reading_tab
from apps.tabs.search.tab import search_tab
from apps.tabs.tokens.tab import tokens_tab
from apps.tabs.training_curves.tab import training_curves_tab
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter


def build_page(strings: Strings, models: Models, jobs: PageJobs) -> gr.Blocks:
    """Build the page in one language.

    A tab whose model is missing says how to get one, or is left out.

    Args:
        strings: What the page says.
        models: The models that answer.
        jobs: The queues of long work.

    Raises:
        MissingExtraError: If no word segmenter is installed.
    """
    cut = segmenter().cut
    encoder = models.encoder
    linked: dict[str, tuple[gr.Tab, LinkedBoxes]] = {}
    with gr.Blocks(
        title=strings.page.title, analytics_enabled=False, delete_cache=(SWEPT_S, KEPT_S)
    ) as blocks:
        gr.HTML(_header(strings.page), elem_classes="za-head")
        with gr.Tabs(overflow_behavior="wrap") as tabs:  # on a phone no tab hides in a menu
            with gr.Tab(strings.classification.tab, id="classification") as tab:
                boxes = classification_tab(strings.classification, models.classifiers)
                linked["classification"] = (tab, boxes)
            with gr.Tab(strings.entities.tab, id="entities") as tab:
                linked["entities"] = (tab, entities_tab(strings.entities, models.taggers))
            if models.reader:
                with gr.Tab(strings.reading.tab, id="reading") as tab:
                    linked["reading"] = (tab, reading_tab(strings.reading, models.reader))
            if models.pairs:
                with gr.Tab(strings.pairs.tab, id="pairs") as tab:
                    linked["pairs"] = (tab, pairs_tab(strings.pairs, models.pairs))
            if models.embedder:
                with gr.Tab(strings.search.tab, id="search") as tab:
                    linked["search"] = (tab, search_tab(strings.search, models.embedder))
            with gr.Tab(strings.fill_mask.tab, id="fill") as tab:
                linked["fill"] = (tab, fill_mask_tab(strings.fill_mask, encoder, cut))
            with gr.Tab(strings.tokens.tab, id="tokens") as tab:
                linked["tokens"] = (tab, tokens_tab(strings.tokens, default_tokenizer(), cut))
            if models.encoders.names:
                with gr.Tab(strings.inside.tab, id="inside") as tab:
                    linked["inside"] = (tab, inside_tab(strings.inside, models.encoders))
            with gr.Tab(strings.training_curves.tab, id="training") as tab:
                linked["training"] = (tab, training_curves_tab(strings.training_curves, encoder))
            with gr.Tab(strings.batch.tab, id="batch") as tab:
                linked["batch"] = (tab, batch_tab(strings.batch, models.in_bulk, jobs.bulk))
            with gr.Tab(strings.finetuning.tab, id="finetuning") as tab:
                folder = encoder.folder if encoder else None
                boxes = finetuning_tab(strings.finetuning, folder, jobs.training)
                linked["finetuning"] = (tab, boxes)
        keep_in_address(blocks, tabs, linked)
    return blocks


def _header(strings: PageStrings) -> str:
    other = page.ENGLISH if strings is page.CHINESE else page.CHINESE
    return panel(
        f'<div class="za-title">{element(strings.title, "h1")}<div class="za-switches">'
        f'{copy_button(strings)}<a id="language" class="za-switch" lang="{other.code}" '
        f'href="?lang={other.query}">{escape(strings.switch)}</a></div></div>'
        f"{element(strings.promise, 'p')}"
        '<p id="link-said" role="status"></p><p id="answer-said" role="status"></p>'
    )
