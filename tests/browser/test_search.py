"""The tab of semantic search in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE, ENGLISH
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
FAQ = [example.texts for example in read_examples("search")["faq"]]


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), CHINESE.search.tab)


def test_an_example_fills_both_boxes_and_is_answered(page: Page) -> None:
    page.get_by_role("button", name=FAQ[1][0]).click()
    expect(page.locator("#search-question textarea")).to_have_value(FAQ[1][0])
    expect(page.locator("#search-lines textarea")).to_have_value(FAQ[1][1])
    rows = page.locator("#search-result tbody tr")
    expect(rows).to_have_count(10)
    expect(page.locator("#search-result q")).to_have_text(FAQ[1][0])
    lines = FAQ[1][1].splitlines()
    cosines = [float(cell) for cell in rows.locator(".za-percent").all_text_contents()]
    assert cosines == sorted(cosines, reverse=True)
    for row in rows.all():
        text, place = row.locator("td").all_text_contents()[:2]
        assert lines[int(place) - 1] == text


def test_answers_follow_the_typing_and_clear_begins_anew(page: Page) -> None:
    question, result = page.locator("#search-question textarea"), page.locator("#search-result")
    page.locator("#search-lines textarea").fill("几点开门\n怎么退货")
    expect(result).to_contain_text("结果会显示在这里")
    question.press_sequentially("退货")
    expect(result.locator("tbody tr")).to_have_count(2)
    expect(result.locator("q")).to_have_text("退货")
    page.locator("#search-clear").click()
    expect(question).to_have_value("")
    expect(result).to_contain_text("结果会显示在这里")
    question.fill("退货")
    question.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("还没有要搜索的文本")


def test_text_is_never_markup(page: Page) -> None:
    page.locator("#search-lines textarea").fill(HOSTILE)
    page.locator("#search-question textarea").fill(HOSTILE)
    expect(page.locator("#search-result td").first).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_fits_the_screen(open_demo: OpenDemo, demo_url: str, width: int, scheme: str) -> None:
    strings = CHINESE if scheme == "dark" else ENGLISH
    url = demo_url if scheme == "dark" else f"{demo_url}?lang=en"
    page = open_tab(open_demo(width, scheme, url=url), strings.search.tab)
    page.get_by_role("button", name=FAQ[0][0]).click()
    page.locator("#search-result tbody tr").first.wait_for()
    photograph(page, f"demo-search-{width}-{scheme}", width)


def test_without_a_model_there_is_no_tab(open_demo: OpenDemo, bare_demo_url: str) -> None:
    page = open_demo(url=bare_demo_url)
    expect(page.get_by_role("tab", name=CHINESE.search.tab)).to_have_count(0)
