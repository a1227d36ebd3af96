"""The language switch in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE, ENGLISH
from tests.browser.conftest import photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
REVIEWS = read_examples("classification")["reviews"]
PASSAGES = [examples[0].texts[1] for examples in read_examples("reading").values()]
CHINESE_CHARACTER = re.compile("[\u4e00-\u9fff]")


def test_the_switch_changes_the_whole_page_and_back(open_demo: OpenDemo) -> None:
    page = open_demo()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.locator("#language").click()

    expect(page).to_have_url(re.compile("lang=en"))
    expect(page).to_have_title(ENGLISH.page.title)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("h1")).to_have_text(ENGLISH.page.title)
    expect(page.get_by_role("tab", name=ENGLISH.entities.tab)).to_be_visible()
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_the_english_page_answers_in_english(open_demo: OpenDemo, demo_url: str) -> None:
    page = open_demo(url=f"{demo_url}?lang=en")
    page.locator("#classify").click()
    expect(page.get_by_role("alert")).to_contain_text(ENGLISH.classification.empty.problem)
    page.get_by_role("button", name=REVIEWS[0].meaning).click()
    expect(page.locator("#classify-text textarea")).to_have_value(REVIEWS[0].texts[0])
    expect(page.locator("#classify-result .za-best").first).to_contain_text("Positive")

    # Texts aside, no Chinese is left on any tab.
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.locator("[role=tabpanel]:visible").first.wait_for()
        shown = page.locator("[role=tabpanel]:visible").first.inner_text()
        foreign = [line for line in shown.splitlines() if CHINESE_CHARACTER.search(line)]
        buttons = page.locator("[role=tabpanel]:visible button").all_text_contents()
        known = [REVIEWS[0].texts[0], *buttons, *PASSAGES]
        left = [line for line in foreign if not any(line.strip("“…” ") in one for one in known)]
        if tab.text_content() != ENGLISH.tokens.tab:  # it draws its example
            assert left == []


@pytest.mark.parametrize(
    ("address", "tab", "said", "browser"),
    [
        ("", CHINESE.batch.tab, "点击上传", "en-US"),
        ("?lang=en", ENGLISH.batch.tab, "Click to Upload", "zh-CN"),
        ("?lang=en-US", ENGLISH.batch.tab, "Click to Upload", "zh-CN"),
    ],
)
def test_gradios_own_words_follow_the_page_not_the_browser(
    window: Browser, demo_url: str, address: str, tab: str, said: str, browser: str
) -> None:
    with window.new_context(locale=browser) as context:
        page = context.new_page()
        page.goto(demo_url + address)
        page.get_by_role("tab", name=tab).click()
        expect(page.locator("#batch-file")).to_contain_text(said)


@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits_the_screen(open_demo: OpenDemo, demo_url: str, width: int) -> None:
    page = open_demo(width, url=f"{demo_url}?lang=en")
    page.get_by_role("button", name=REVIEWS[0].meaning).click()
    page.locator("#classify-result .za-card").first.wait_for()
    photograph(page, f"demo-english-{width}-light", width)
