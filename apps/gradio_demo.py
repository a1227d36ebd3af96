"""The demo page: two tabs, served on this computer only, with no request to any other."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apps import texts
from apps.answers import announce, classify, classify_typed, cut_and_mask
from apps.markup import bilingual, escape, notice, page
from apps.panels import choices
from zh_albert.checkpoints.locate import bundled_names, locate
from zh_albert.checkpoints.store import load_config
from zh_albert.errors import MissingExtraError, ZhAlbertError
from zh_albert.inference.classification import Classifier
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
_QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
# On a phone the examples stand below the result.
_SHOW_EXAMPLE = """() => {
  document.getElementById("classify-result").scrollIntoView({block: "nearest", behavior: "smooth"});
  return %s;
}"""
_HEAD = '<script>document.documentElement.lang = "zh-CN";</script>'


def build_demo(
    models: Mapping[str, Classifier], *, tokenizer: Tokenizer | None = None
) -> gr.Blocks:
    """Build the page.

    Args:
        models: Classifiers by name; those that ``apps.texts`` knows get a Chinese name. Without
            any, the first tab says how to get one.
        tokenizer: For the second tab; default: the one of this project's own vocabulary.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
    """
    gr = _gradio()
    cut = segmenter().cut
    draw = partial(cut_and_mask, tokenizer or default_tokenizer(), cut)
    with gr.Blocks(title=texts.TITLE.zh, analytics_enabled=False) as demo:
        gr.HTML(_header(), elem_classes="za-head")
        with gr.Tabs():
            with gr.Tab(texts.CLASSIFY_TAB.label()):
                _classification_tab(gr, models)
            with gr.Tab(texts.TOKENS_TAB.label()):
                _tokens_tab(gr, draw)
    return demo


def serve(*, port: int, models: Sequence[str] | None = None) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C; its address is printed on standard error.

    Args:
        port: 0 takes a free one.
        models: Names, folders or hub ids; default: the bundled classifiers.

    Raises:
        MissingExtraError: If gradio or a word segmenter is not installed.
        CheckpointError: If a model cannot be opened.
        ZhAlbertError: If the port cannot be used.
    """
    port = _usable_port(port)  # the first thing to go wrong, and the cheapest to find out
    _keep_to_this_computer()
    gr = _gradio()
    names = _bundled_classifiers() if models is None else models
    opened: dict[str, Classifier] = {}
    for name in names:
        short = Path(name).name
        opened[name if short in opened else short] = Classifier.load(locate(name))
    demo = build_demo(opened)
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


def _classification_tab(gr: Any, models: Mapping[str, Classifier]) -> None:
    with gr.Row(equal_height=False, elem_classes="za-areas"):  # the style sheet places the three
        with gr.Column(elem_classes="za-input"):
            text = gr.Textbox(
                label=texts.TEXT.label(),
                placeholder=texts.TEXT_PLACEHOLDER,
                lines=1,  # so that Enter classifies; Shift+Enter begins a line
                max_lines=10,
                autofocus=True,
                elem_id="classify-text",
                elem_classes="za-text",
            )
            offered = choices(models)
            chosen = gr.Radio(
                choices=offered,
                value=offered[0][1] if offered else None,
                label=texts.MODEL.label(),
                visible=len(offered) > 1,
                elem_id="model",
                elem_classes="za-model",
            )
            with gr.Row(elem_classes="za-actions"):
                go = gr.Button(texts.CLASSIFY.label(), variant="primary", elem_id="classify")
                clear = gr.Button(texts.CLEAR.label(), elem_id="clear")
        with gr.Column(elem_classes="za-answer"):
            start = texts.WAITING if models else texts.NO_MODELS
            result = gr.HTML(
                notice(start, alarm=False), elem_id="classify-result", elem_classes="za-result"
            )
        with gr.Column(elem_classes="za-examples"):
            gr.HTML(page(bilingual(texts.EXAMPLES, "h3")))
            examples = [
                *_examples(gr, texts.REVIEWS, texts.REVIEW_EXAMPLES),
                *_examples(gr, texts.HEADLINES, texts.HEADLINE_EXAMPLES),
            ]

    # Two steps and no generator: cancelling one makes Gradio print a traceback now and then.
    announced = gr.on(
        [go.click, text.submit],
        lambda text: announce(models, text) or gr.skip(),
        text,
        result,
        trigger_mode="always_last",
        **_QUIETLY,
    )
    asked = announced.then(
        partial(classify, models),
        [text, chosen],
        result,
        show_progress="hidden",
        concurrency_limit=4,  # a long text given up by the user goes on for a while
        api_name="classify",
    )
    # `change`, as `input` comes with keys only: not with an input method, not when pasting.
    # Typing cancels what was asked: an answer to an earlier text must not come late.
    gr.on(
        [text.change, chosen.input],
        partial(classify_typed, models),
        [text, chosen],
        result,
        trigger_mode="always_last",
        cancels=[announced, asked],
        **_QUIETLY,
    )
    for button, example in examples:
        button.click(None, None, text, js=_SHOW_EXAMPLE % json.dumps(example), **_QUIETLY)
    clear.click(
        lambda: ("", classify_typed(models, "", "")),
        None,
        [text, result],
        cancels=[announced, asked],
        **_QUIETLY,
    )


def _examples(gr: Any, title: texts.Wording, examples: Sequence[str]) -> list[tuple[Any, str]]:
    gr.HTML(page(bilingual(title, "h4")))
    return [(gr.Button(one, size="sm", elem_classes="za-example"), one) for one in examples]


def _tokens_tab(gr: Any, draw: Callable[[str, float], str]) -> None:
    with gr.Row(equal_height=False, elem_classes="za-columns"):
        with gr.Column(scale=5, min_width=320):
            text = gr.Textbox(
                texts.TOKENS_EXAMPLE,
                label=texts.TOKENS_TEXT.label(),
                lines=1,
                max_lines=8,
                elem_id="tokens-text",
                elem_classes="za-text",
            )
        with gr.Column(scale=4, min_width=280):
            seed = gr.Slider(0, 99, 0, step=1, label=texts.SEED.label(), elem_id="seed")
            again = gr.Button(texts.AGAIN.label(), elem_id="again")
    panel = gr.HTML(draw(texts.TOKENS_EXAMPLE, 0), elem_id="tokens-result")
    gr.on(
        [text.change, seed.change],
        draw,
        [text, seed],
        panel,
        trigger_mode="always_last",
        show_progress="hidden",
        api_name="tokens",
    )
    again.click(None, seed, seed, js="seed => ((seed || 0) + 1) % 100", **_QUIETLY)


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


def _bundled_classifiers() -> list[str]:
    """Return the bundled models that classify, in the order of ``apps.texts``, then by name."""
    found = [
        name
        for name in bundled_names()
        if load_config(locate(name))[1].get("name") == "classification"
    ]
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
