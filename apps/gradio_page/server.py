"""The page as a process on this computer: one address, a page for each language, until Ctrl-C."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import uvicorn
from fastapi import FastAPI

from apps.gradio_page.environment import HOST
from apps.gradio_page.job_tab import SAMPLES
from apps.gradio_page.requests import ByLanguage, UntilClosed
from apps.gradio_page.uploads import OwnPageOnly, UploadQuota
from apps.i18n.page import PageStrings
from zh_albert.serving.connections import CloseUnread, LimitedProtocol
from zh_albert.serving.limits import Limits

_STYLES = ("page.css", "inside.css", "jobs.css")  # in this folder
_SCRIPTS = ("stream.js", "composing.js", "copying.js", "answers.js", "keyboard.js", "page.js")


def serve_pages(pages: Mapping[PageStrings, gr.Blocks], listening: socket.socket) -> None:
    """Serve the page in each language until Ctrl-C; its address is printed on standard error.

    ``/?lang=en`` shows the English page, ``/`` the first one.

    Args:
        pages: The page in each language.
        listening: A socket that holds the address; see ``serving.listening``.
    """

    class Server(uvicorn.Server):
        """A server that prints its address once it answers."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                port = listening.getsockname()[1]
                address = f"http://{HOST}:{port}/"
                sys.stderr.write(f"演示已打开 The demo is at {address}  (Ctrl-C 结束 ends it)\n")
                sys.stderr.flush()

    protocol: Any = partial(LimitedProtocol, limits=Limits())
    config = uvicorn.Config(
        CloseUnread(page_app(pages)),
        http=protocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,  # open pages never stop listening
    )
    Server(config).run(sockets=[listening])


def page_app(pages: Mapping[PageStrings, gr.Blocks]) -> Any:
    """Return the ASGI application of the page in each language."""
    app = FastAPI(openapi_url=None)
    first, *others = pages
    paths = {first: "/", **{other: f"/{other.query}/" for other in others}}
    for language in reversed([*pages]):  # "/" takes every address, so it comes last
        gr.mount_gradio_app(
            app,
            pages[language],
            paths[language],
            server_name=HOST,
            theme=_theme(),
            css=_together(_STYLES),
            head=f"<script>{_together(_SCRIPTS)}</script>",
            allowed_paths=[str(SAMPLES)],
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
        )
    return UntilClosed(OwnPageOnly(ByLanguage(app, paths), paths, UploadQuota()))


def _together(names: Sequence[str]) -> str:
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _theme() -> Any:
    """Return calm colours and the system's own fonts: a named Google font would be fetched."""
    chinese = "PingFang SC, Hiragino Sans GB, Microsoft YaHei, Noto Sans CJK SC, Source Han Sans SC"
    fonts = f"{chinese}, WenQuanYi Micro Hei, system-ui, sans-serif".split(", ")
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    return gr.themes.Base(primary_hue="teal", neutral_hue="stone", font=fonts, font_mono=mono)
