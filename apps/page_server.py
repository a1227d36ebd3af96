"""The page as a process on this computer: one address, a language each, until Ctrl-C."""

from __future__ import annotations

import errno
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps.page_requests import ByLanguage, UntilClosed
from apps.texts.languages import CHINESE, ENGLISH, Language
from zh_albert.errors import MissingExtraError, ZhAlbertError

if TYPE_CHECKING:
    import gradio as gr

HOST = "127.0.0.1"
LANGUAGES = (CHINESE, ENGLISH)  # the first one is what the plain address shows
_STYLES = ("page.css", "inside.css", "work.css")  # beside this file
_SCRIPTS = ("stream.js", "page.js")
_SAMPLES = Path(__file__).with_name("samples")
_UPLOAD_LIMIT = "256mb"  # more than the tabs take, so that it is they who refuse, and say why
_CHINESE_FONTS = (
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
)


def serve_pages(pages: Mapping[Language, gr.Blocks], listening: socket.socket) -> None:
    """Serve the page in each language until Ctrl-C; its address is printed on standard error.

    ``/?lang=en`` shows the English page, ``/`` the Chinese one.

    Args:
        pages: The page in each language.
        listening: A socket that holds the address; see ``bound``.
    """
    import uvicorn

    gr = import_gradio()
    from fastapi import FastAPI

    class Server(uvicorn.Server):
        """Says where it is once it answers."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                port = listening.getsockname()[1]
                address = f"http://{HOST}:{port}/"
                sys.stderr.write(f"演示已打开 The demo is at {address}  (Ctrl-C 结束 ends it)\n")
                sys.stderr.flush()

    app = FastAPI(openapi_url=None)
    for say in reversed(LANGUAGES):  # "/" takes every address, so it comes last
        gr.mount_gradio_app(
            app,
            pages[say],
            _path(say),
            server_name=HOST,
            theme=_theme(gr),
            css=_together(_STYLES),
            head=f"<script>{_together(_SCRIPTS)}</script>",
            allowed_paths=[str(_SAMPLES)],
            max_file_size=_UPLOAD_LIMIT,
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
        )
    config = uvicorn.Config(
        UntilClosed(ByLanguage(app, {say: _path(say) for say in LANGUAGES})),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,  # open pages listen without end
    )
    Server(config).run(sockets=[listening])


def _path(say: Language) -> str:
    return "/" if say is LANGUAGES[0] else f"/{say.query}/"


def bound(port: int) -> socket.socket:
    """Return a socket that holds a port of this computer; 0 takes a free one.

    Raises:
        ZhAlbertError: If it cannot be used.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        taken = error.errno == errno.EADDRINUSE
        problem = "is in use" if taken else f"cannot be opened ({error.strerror})"
        raise ZhAlbertError(
            f"{HOST}: port {port} {problem}; choose another one, or a free one: "
            "zh-albert demo --port 0"
        ) from None
    return listening


@contextmanager
def temporary_files() -> Iterator[Path]:
    """Give the page a folder for uploads and results, which goes with it."""
    with tempfile.TemporaryDirectory(prefix="zh-albert-demo-", ignore_cleanup_errors=True) as name:
        os.environ["GRADIO_TEMP_DIR"] = name
        yield Path(name)


def import_gradio() -> Any:
    """Return the gradio module, told to call no other computer.

    Raises:
        MissingExtraError: If it is not installed.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    for name in ("NO_PROXY", "no_proxy"):  # a proxy would be asked for our own address
        known = os.environ.get(name, "")
        if HOST not in known.split(","):
            os.environ[name] = f"{known},{HOST}".lstrip(",")
    try:
        import gradio
    except ImportError:
        raise MissingExtraError.of("gradio", "demo") from None
    return gradio


def _together(names: Sequence[str]) -> str:
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _theme(gr: Any) -> Any:
    """Return calm colours and the system's own fonts: a named Google font would be fetched."""
    fonts = [*_CHINESE_FONTS, "system-ui", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    return gr.themes.Base(primary_hue="teal", neutral_hue="stone", font=fonts, font_mono=mono)
