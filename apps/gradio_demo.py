"""The demo page, served on this computer only, with no request to any other."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence

from apps.gradio_page.environment import HOST, import_gradio, temporary_files
from apps.jobs import PageJobs
from apps.models import bundled_models, open_models, warm_up
from apps.strings import CHINESE, ENGLISH
from zh_albert.serving.listening import bound


def serve(*, port: int, models: Sequence[str] | None = None, more: Sequence[str] = ()) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C; its address is printed on standard error.

    Args:
        port: 0 takes a free one.
        models: Names, folders or hub ids; default: the bundled ones.
        more: Models to add to these.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
        CheckpointError: If a model cannot be opened.
        ZhAlbertError: If the port cannot be used.
    """
    if threading.current_thread() is threading.main_thread():
        # Services and containers send SIGTERM: it removes the page's files as Ctrl-C does.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with bound(HOST, port) as listening:  # first: it is cheap and fails most often
        import_gradio()
        from apps.gradio_page.server import serve_pages
        from apps.page import build_page

        names, fast = bundled_models() if models is None else (models, [])
        opened = open_models([*names, *more], fast)
        with temporary_files() as folder:
            jobs = PageJobs(folder)
            try:
                pages = {one.page: build_page(one, opened, jobs) for one in (CHINESE, ENGLISH)}
                threading.Thread(target=warm_up, args=[opened], daemon=True).start()
                serve_pages(pages, listening)
            finally:
                jobs.close()
