"""The demo page, served on this computer only, with no request to any other."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps import texts
from apps.markup import bilingual, escape, page
from zh_albert.checkpoints.locate import bundled_names, locate
from zh_albert.checkpoints.store import load_config
from zh_albert.errors import MissingExtraError, ZhAlbertError
from zh_albert.inference.classification import Classifier
from zh_albert.inference.fill_mask import FillMask
from zh_albert.inference.loading import load
from zh_albert.inference.tagging import Tagger
from zh_albert.tokenization.tokenizer import Tokenizer, default_tokenizer
from zh_albert.tokenization.words import segmenter

if TYPE_CHECKING:
    import gradio as gr

HOST = "127.0.0.1"
_STYLE = Path(__file__).with_name("page.css")
_CHINESE_FONTS = (
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
)
_HEAD = '<script>document.documentElement.lang = "zh-CN";</script>'


def build_demo(
    models: Mapping[str, Classifier],
    *,
    tagger: Tagger | None = None,
    encoder: FillMask | None = None,
    tokenizer: Tokenizer | None = None,
) -> gr.Blocks:
    """Build the page. A tab whose model is missing says how to get one.

    Args:
        models: Classifiers by name; those that ``apps.texts`` knows get a Chinese name.
        tagger: What finds entities.
        encoder: What fills masks, and whose training is shown.
        tokenizer: Whose tokens are shown; default: the one of this project's own vocabulary.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
    """
    gr = _gradio()
    from apps.tabs.classification import classification_tab
    from apps.tabs.entities import entities_tab
    from apps.tabs.fill_mask import fill_mask_tab
    from apps.tabs.tokens import tokens_tab
    from apps.tabs.training import training_tab

    cut = segmenter().cut
    with gr.Blocks(title=texts.TITLE.zh, analytics_enabled=False) as demo:
        gr.HTML(_header(), elem_classes="za-head")
        with gr.Tabs(overflow_behavior="wrap"):  # on a phone no tab hides in a menu
            with gr.Tab(texts.CLASSIFY_TAB.label()):
                classification_tab(models)
            with gr.Tab(texts.ENTITIES_TAB.label()):
                entities_tab(tagger)
            with gr.Tab(texts.FILL_TAB.label()):
                fill_mask_tab(encoder, cut)
            with gr.Tab(texts.TOKENS_TAB.label()):
                tokens_tab(tokenizer or default_tokenizer(), cut)
            with gr.Tab(texts.TRAINING_TAB.label()):
                training_tab(encoder)
    return demo


def serve(*, port: int, models: Sequence[str] | None = None) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C; its address is printed on standard error.

    Args:
        port: 0 takes a free one.
        models: Names, folders or hub ids of classifiers, a tagger and an encoder; default: the
            bundled ones.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
        CheckpointError: If a model cannot be opened.
        ZhAlbertError: If the port cannot be used.
    """
    port = _usable_port(port)  # the first thing to go wrong, and the cheapest to find out
    _keep_to_this_computer()
    gr = _gradio()
    classifiers: dict[str, Classifier] = {}
    encoder, tagger = None, None
    for name in _bundled_models() if models is None else models:
        opened, short = load(name), Path(name).name
        if isinstance(opened, FillMask):
            encoder = opened
        elif isinstance(opened, Tagger):
            tagger = opened
        elif isinstance(opened, Classifier) and not opened.pairs:  # the page shows no others yet
            classifiers[name if short in classifiers else short] = opened
    demo = build_demo(classifiers, tagger=tagger, encoder=encoder)
    try:
        _, url, _ = demo.launch(
            server_name=HOST,
            server_port=port,
            share=False,
            quiet=True,
            prevent_thread_lock=True,
            theme=_theme(gr),
            css=_STYLE.read_text(encoding="utf-8"),
            head=_HEAD,
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            ssr_mode=False,
            mcp_server=False,
        )
    except OSError as error:  # taken by somebody in the meantime
        raise _port_error(port, error) from None
    sys.stderr.write(f"演示已打开 The demo is at {url}  (Ctrl-C 结束 ends it)\n")
    sys.stderr.flush()
    try:
        threading.Event().wait()
    finally:
        demo.close(verbose=False)


def _header() -> str:
    return page(
        f'<h1><span class="za-zh">{escape(texts.TITLE.zh)}</span>'
        f'<span class="za-en" lang="en">{escape(texts.TITLE.en)}</span></h1>'
        f"{bilingual(texts.PROMISE, 'p')}"
    )


def _theme(gr: Any) -> Any:
    """Return calm colours and the system's own fonts: a named Google font would be fetched."""
    fonts = [*_CHINESE_FONTS, "system-ui", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
    return gr.themes.Base(primary_hue="teal", neutral_hue="stone", font=fonts, font_mono=mono)


def _gradio() -> Any:
    _keep_to_this_computer()
    try:
        import gradio
    except ImportError:
        raise MissingExtraError.of("gradio", "demo") from None
    return gradio


def _keep_to_this_computer() -> None:
    """Switch off whatever would call another one: telemetry, hubs, a proxy for our own address."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    for name in ("NO_PROXY", "no_proxy"):
        known = os.environ.get(name, "")
        if HOST not in known.split(","):
            os.environ[name] = f"{known},{HOST}".lstrip(",")


def _bundled_models() -> list[str]:
    """Return the bundled models the page has a tab for, in the order of ``apps.texts``."""
    tasks = {name: load_config(locate(name))[1].get("name") for name in bundled_names()}
    found = [name for name, task in tasks.items() if task in ("classification", "ner", "encoder")]
    known = list(texts.MODELS)
    return sorted(found, key=lambda name: (known.index(name) if name in known else 99, name))


def _usable_port(port: int) -> int:
    """Return the port, or a free one for 0.

    Raises:
        ZhAlbertError: If it cannot be used.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise _port_error(port, error) from None
        return int(probe.getsockname()[1])


def _port_error(port: int, error: OSError) -> ZhAlbertError:
    taken = error.errno in (errno.EADDRINUSE, None)
    problem = "is in use" if taken else f"cannot be opened ({error.strerror})"
    return ZhAlbertError(
        f"{HOST}: port {port} {problem}; choose another one, or a free one: zh-albert demo --port 0"
    )
