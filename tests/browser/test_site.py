"""The docs site: built as ``make docs`` builds it, and read in a real Chromium."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import zh_albert
from tests.browser.conftest import ROOT, photograph

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("site")]
OpenSite = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; any warning fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        command, check=False, cwd=ROOT, env=quiet, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder


class Resources(HTMLParser):
    """The addresses that a browser fetches to show a page; links to click are not among them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") in ("alternate", "next", "prev", "canonical"):
            return
        names = {"link": ["href"], "a": [], "form": ["action"]}.get(tag, ["src", "srcset", "data"])
        self.found += [given[name] or "" for name in names if name in given]


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        resources = Resources()
        resources.feed(page.read_text(encoding="utf-8"))
        assert [one for one in resources.found if re.match(r"(\w+:)?//", one)] == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(\w+:)?//", sheet.read_text("utf-8")), sheet


def test_notes_and_tools_are_not_published(site: Path) -> None:
    for name in ("worklog", "field_comments", "search_by_language"):
        assert not list(site.rglob(f"*{name}*"))


def test_the_api_pages_hold_all_public_names(site: Path) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in site.glob("api/*.html"))
    anchors = {name.rpartition(".")[2] for name in re.findall(r'id="(zh_albert[\w.]*)"', pages)}
    assert set(zh_albert.__all__) <= anchors
    assert not [name for name in anchors if name.startswith("_") and name != "__call__"]


@pytest.fixture
def open_site(site: Path, window: Browser) -> Iterator[OpenSite]:
    """Open a page at a width and in a colour scheme; in the end nothing was asked elsewhere."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    contexts, wrong = [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/"

        def note(status: int, url: str) -> None:
            # The theme looks for a site map beside each translation and does without.
            if status >= 400 and not url.endswith("/sitemap.xml"):
                wrong.append(f"{status} {url}")

        def open_page(path: str, width: int = 1280, scheme: str = "light") -> Page:
            context = window.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            contexts.append(context)
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.on("request", lambda r: None if r.url.startswith(home) else wrong.append(r.url))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("response", lambda response: note(response.status, response.url))
            page.goto(home + path)
            return page

        yield open_page
        for context in contexts:
            context.close()
        server.shutdown()
    assert not wrong


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_pages_fit_the_screen(open_site: OpenSite, width: int, scheme: str) -> None:
    for path in ("index", "tutorials/code", "api/errors"):
        page = open_site(f"{path}.html", width, scheme)
        expect(page.locator("article h1")).to_be_visible()
        photograph(page, f"site-{path.replace('/', '-')}-{width}-{scheme}", width)
    for path in ("api/settings", "numbers"):  # too long for a picture
        page = open_site(f"{path}.html", width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize(
    ("start", "words", "hit"),
    [
        ("index", "命名实体", "tasks/ner"),
        ("index", "随机种子", "tutorials/research"),
        ("index", "peak_lr", "api/settings"),
        ("en/index", "entities", "en/tasks/ner"),
    ],
)
def test_search_finds_chinese_and_english_words(
    open_site: OpenSite, start: str, words: str, hit: str
) -> None:
    page = open_site(f"{start}.html")
    page.locator("input.md-search__input").click()
    expect(page.locator(".md-search-result__meta")).to_have_text(
        re.compile("键入以开始搜索|Type to start searching"), timeout=60_000
    )
    page.locator("input.md-search__input").press_sequentially(words)
    page.keyboard.press("End")  # a key goes up, as when an input method is done
    results = page.locator("a.md-search-result__link")
    expect(results.first).to_be_visible(timeout=60_000)
    photograph(page, f"site-search-{words}", 1280)
    shown = [link.get_attribute("href") or "" for link in results.all()]
    assert any(f"/{hit}.html" in address for address in shown), shown
    assert all(("/en/" in address) == start.startswith("en/") for address in shown), shown


@pytest.mark.browser
def test_the_language_switch_stays_on_the_page(open_site: OpenSite) -> None:
    page = open_site("tutorials/code.html")
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    page.locator(".md-select button").hover()
    page.locator('.md-select__link[hreflang="en"]').click()
    expect(page).to_have_url(re.compile(r"/en/tutorials/code\.html"))
    expect(page.locator("html")).to_have_attribute("lang", "en")
