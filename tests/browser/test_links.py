"""The state of the page in its address, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from apps.strings import CHINESE, ENGLISH
from tests.browser.conftest import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]


def link(url: str, lang: str = "", **state: str) -> str:
    return f"{url}{lang}#{urlencode(state)}"


def state_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).fragment)


def test_a_link_opens_the_same_tab_text_and_model(open_demo: OpenDemo, demo_url: str) -> None:
    asked = {"tab": "classification", "text": "房间很干净", "model": "news"}
    page = open_demo(url=link(demo_url, **asked))
    expect(page.locator("#classify-text textarea")).to_have_value("房间很干净")
    expect(page.locator("#classify-result .za-card")).to_have_count(1)
    expect(page.locator("#classify-result .za-card")).to_contain_text("新闻")

    page.locator("#classify-text textarea").fill("球队夺冠")
    expect(page).to_have_url(re.compile(re.escape(urlencode({"text": "球队夺冠"}))))
    page.get_by_role("tab", name=CHINESE.tokens.tab).click()
    expect(page).to_have_url(re.compile("#tab=tokens$"))


def test_hidden_words_and_language_travel_too(open_demo: OpenDemo, demo_url: str) -> None:
    page = open_demo(url=link(demo_url, tab="fill", text="周末我们去公园散步。"))
    expect(page.get_by_role("tab", selected=True)).to_have_text(CHINESE.fill_mask.tab)
    page.locator("#fill-words").get_by_role("button", name="公园").click()
    expect(page.locator("#fill-result .za-card")).to_have_count(1)
    expect(page).to_have_url(re.compile("hidden="))

    page.locator("#language").click()
    expect(page.locator("h1")).to_have_text(ENGLISH.page.title)
    expect(page.get_by_role("tab", selected=True)).to_have_text(ENGLISH.fill_mask.tab)
    expect(page.locator("#fill-words [aria-pressed=true]")).to_have_text("公园")
    expect(page.locator("#fill-result .za-card")).to_contain_text("公园")


TYPES_EARLY = """
let link;
Object.defineProperty(window, "zaLink", {
  get: () => link,
  set(made) {
    link = made;
    const { texts } = made;
    made.texts = (...given) => {
      const box = document.querySelector("#classify-text textarea");
      box.value = "我先来";
      box.dispatchEvent(new Event("input", { bubbles: true }));
      return texts(...given);
    };
  },
});
"""
"""Somebody is so fast that the first word stands there before the page has filled itself."""


def test_what_is_typed_while_the_page_fills_itself_stays(open_demo: OpenDemo) -> None:
    page = open_demo(script=TYPES_EARLY)
    expect(page.locator("#classify-result .za-card").first).to_be_visible()
    expect(page.locator("#classify-text textarea")).to_have_value("我先来")


def test_the_button_copies_the_address_and_says_when_a_text_is_too_long(
    open_demo: OpenDemo,
) -> None:
    page = open_demo()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    box = page.locator("#classify-text textarea")
    box.fill("早餐很好")
    expect(page.locator("#classify-result .za-card")).to_have_count(2)
    page.locator("#copy-link").click()
    expect(page.locator("#link-said")).to_have_text(CHINESE.page.copied)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert parse_qs(urlsplit(copied).fragment) == {"tab": ["classification"], "text": ["早餐很好"]}

    box.fill("好" * 2001)
    expect(page.locator("#classify-result")).to_contain_text("2,001 个字符")
    page.locator("#copy-link").click()
    expect(page.locator("#link-said")).to_contain_text("2,001 个字符，链接最多带 2,000 个")
    expect(page).to_have_url(re.compile("#tab=classification$"))


def test_a_text_that_is_too_long_for_a_link_stays_when_the_page_is_loaded_again(
    open_demo: OpenDemo, demo_url: str
) -> None:
    page = open_demo(url=link(demo_url, tab="entities"))
    box, long = page.locator("#entities-text textarea"), "他在杭州。" * 500
    box.fill(long)
    expect(page.locator("#entities-result")).to_contain_text("2,500 个字符")
    page.wait_for_function("sessionStorage.zaTexts")
    page.reload()
    expect(box).to_have_value(long)

    box.fill("他在北京。")
    page.wait_for_function("!sessionStorage.zaTexts")
    page.reload()
    expect(box).to_have_value("他在北京。")

    box.fill(long)
    page.wait_for_function("sessionStorage.zaTexts")
    page.evaluate(f"location.hash = '{urlencode({'tab': 'entities', 'text': '别的'})}'")
    expect(box).to_have_value("别的")


def test_nonsense_in_a_link_is_passed_over(open_demo: OpenDemo, demo_url: str) -> None:
    asked = {"tab": "nowhere", "text": HOSTILE, "model": "<b>", "seed": "1e99", "x": "y"}
    page = open_demo(url=link(demo_url, **asked))
    expect(page.locator("#classify-text textarea")).to_have_value(HOSTILE)
    expect(page.locator("#classify-result .za-card")).to_have_count(2)
    assert page.evaluate("window.hacked") is None

    page = open_demo(url=link(demo_url, tab="tokens", text="好", seed="1000"))
    expect(page.locator("#seed input[type=number]")).to_have_value("0")
    expect(page.locator("#tokens-result .za-slice")).to_have_text(["好"])
    assert state_of(page)["tab"] == ["tokens"]
