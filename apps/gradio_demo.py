"""The demo page, served on this computer only, with no request to any other."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from apps.batch_job import BulkModel
from apps.jobs import Jobs
from apps.markup import element, escape, page
from apps.models import Models, bundled_models, open_models, warm_up
from apps.page_server import LANGUAGES, bound, import_gradio, serve_pages, temporary_files
from apps.texts.languages import CHINESE, ENGLISH, Language
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.tokenization.words import segmenter

if TYPE_CHECKING:
    import gradio as gr


def build_demo(
    say: Language,
    models: Models,
    *,
    tokenizer: Tokenizer | None = None,
    jobs: Jobs | None = None,
) -> gr.Blocks:
    """Build the page in one language.

    A tab whose model is missing says how to get one, or is left out.

    Args:
        say: The language.
        models: What answers.
        tokenizer: Whose tokens are shown; default: the one of this project's own vocabulary.
        jobs: Where long work is done; default: queues of this page's own.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
    """
    gr = import_gradio()
    from apps.tabs.batch import batch_tab
    from apps.tabs.classification import classification_tab
    from apps.tabs.entities import entities_tab
    from apps.tabs.fill_mask import fill_mask_tab
    from apps.tabs.finetuning import finetuning_tab
    from apps.tabs.inside import inside_tab
    from apps.tabs.pairs import pairs_tab
    from apps.tabs.reading import reading_tab
    from apps.tabs.sharing import Shared, copy_button, share
    from apps.tabs.tokens import tokens_tab
    from apps.tabs.training import training_tab

    cut = segmenter().cut
    jobs = jobs or Jobs()
    in_bulk: dict[str, BulkModel] = {**models.classifiers, **models.taggers}
    if models.reader:
        in_bulk["reader"] = models.reader
    in_bulk |= models.pairs
    folder = models.encoder.folder if models.encoder else None
    tokens_of = tokenizer or default_tokenizer()
    layouts: list[tuple[str, str, Callable[[], Shared]]] = [
        (
            "classification",
            say.classification.tab,
            partial(classification_tab, say, models.classifiers),
        ),
        ("entities", say.entities.tab, partial(entities_tab, say, models.taggers)),
    ]
    if models.reader:
        layouts.append(("reading", say.reading.tab, partial(reading_tab, say, models.reader)))
    if models.pairs:
        layouts.append(("pairs", say.pairs.tab, partial(pairs_tab, say, models.pairs)))
    layouts += [
        ("fill", say.fill_mask.tab, partial(fill_mask_tab, say, models.encoder, cut)),
        ("tokens", say.tokens.tab, partial(tokens_tab, say, tokens_of, cut)),
    ]
    if models.encoders.names:
        layouts.append(("inside", say.inside.tab, partial(inside_tab, say, models.encoders)))
    layouts += [
        ("training", say.training.tab, partial(training_tab, say, models.encoder)),
        ("batch", say.batch.tab, partial(batch_tab, say, in_bulk, jobs.bulk)),
        ("finetuning", say.finetuning.tab, partial(finetuning_tab, say, folder, jobs.training)),
    ]
    with gr.Blocks(title=say.page.title, analytics_enabled=False, delete_cache=(600, 7200)) as demo:
        gr.HTML(_header(say, copy_button(say)), elem_classes="za-head")
        with gr.Tabs(overflow_behavior="wrap") as tabs:  # on a phone no tab hides in a menu
            shared = {}
            for name, title, lay_out in layouts:
                with gr.Tab(title, id=name) as tab:
                    shared[name] = (tab, lay_out())
        share(demo, tabs, shared)
    return demo


def serve(*, port: int, models: Sequence[str] | None = None, more: Sequence[str] = ()) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C; its address is printed on standard error.

    Args:
        port: 0 takes a free one.
        models: Names, folders or hub ids; default: the bundled ones.
        more: Models beside these.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
        CheckpointError: If a model cannot be opened.
        ZhAlbertError: If the port cannot be used.
    """
    if threading.current_thread() is threading.main_thread():
        # As Ctrl-C, so that files go with the page; what stops services and containers sends it.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with bound(port) as listening:  # the first thing to go wrong, and the cheapest to find out
        import_gradio()
        opened = open_models([*(bundled_models() if models is None else models), *more])
        with temporary_files() as folder:
            jobs = Jobs(folder)
            try:
                pages = {say: build_demo(say, opened, jobs=jobs) for say in LANGUAGES}
                threading.Thread(target=warm_up, args=[opened], daemon=True).start()
                serve_pages(pages, listening)
            finally:
                jobs.close()


def _header(say: Language, copy_link: str) -> str:
    other = ENGLISH if say is CHINESE else CHINESE
    return page(
        f'<div class="za-title">{element(say.page.title, "h1")}<div class="za-switches">{copy_link}'
        f'<a id="language" class="za-switch" lang="{other.code}" href="?lang={other.query}">'
        f"{escape(say.page.switch)}</a></div></div>{element(say.page.promise, 'p')}"
        '<p id="link-said" role="status"></p>'
    )
