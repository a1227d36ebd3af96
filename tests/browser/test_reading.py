"""The tab of the reader in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
STRINGS = CHINESE.reading
LIBRARY, TEA = read_examples("reading").values()


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), STRINGS.tab)


def test_an_example_is_answered_by_a_mark_in_its_passage(page: Page) -> None:
    result = page.locator("#reading-result")
    expect(result).to_contain_text("答案会显示在这里")
    question, passage = TEA[1].texts
    page.get_by_role("button", name=question).click()

    expect(page.locator("#reading-passage textarea")).to_have_value(passage)
    expect(result.locator(".za-asked")).to_contain_text(question)
    expect(result.locator(".za-passage")).to_have_text(passage)
    rows = result.locator("tbody tr")
    expect(rows.first).to_have_class("za-winner")
    best = rows.first.locator("td")
    if best.nth(1).inner_text() == "—":  # this model predicts_no_answer
        expect(result).to_contain_text(STRINGS.no_answer)
        expect(result.locator("mark")).to_have_count(0)
    else:
        start, end = (int(number) for number in best.nth(1).inner_text().split("–"))
        expect(result.locator("mark")).to_have_text(passage[start:end])
        assert best.first.inner_text() == passage[start:end]
    assert 2 <= rows.count() <= 5


def test_typing_answers_and_what_is_missing_is_said(page: Page) -> None:
    question, result = page.locator("#reading-question textarea"), page.locator("#reading-result")
    page.locator("#reading").click()
    expect(result.get_by_role("alert")).to_contain_text("请先提一个问题")
    question.fill("谁在北京？")
    expect(result).to_contain_text("答案会显示在这里")
    question.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("请先输入短文")
    expect(question).to_have_value("谁在北京？")  # Enter adds no line

    page.locator("#reading-passage textarea").fill("王芳在北京，李明在上海。")
    expect(result.locator(".za-passage")).to_have_text("王芳在北京，李明在上海。")
    page.locator("#reading-clear").click()
    expect(question).to_have_value("")
    expect(result).to_contain_text("答案会显示在这里")


def test_a_long_passage_waits_for_the_button(page: Page) -> None:
    result = page.locator("#reading-result")
    page.locator("#reading-question textarea").fill("谁？")
    page.locator("#reading-passage textarea").fill("王芳在北京。" * 300)
    expect(result).to_contain_text("请按“找答案”按钮")
    page.locator("#reading").click()
    expect(result.locator(".za-passage")).to_be_visible(timeout=60_000)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_passage_is_scrolled_to_the_answer(open_demo: OpenDemo, width: int) -> None:
    page = open_tab(open_demo(width), STRINGS.tab)
    around = "这座图书馆在城市的东边，周围有许多老房子和安静的小路。" * 20
    page.locator("#reading-question textarea").fill("图书馆几点开门？")
    passage = page.locator("#reading-passage textarea")
    passage.fill(f"{around}图书馆每天早上九点开门。{around}")
    page.locator("#reading").click()
    mark = page.locator("#reading-result .za-found")
    expect(mark).to_be_visible(timeout=60_000)
    places = "box => { const {top, bottom} = box.getBoundingClientRect(); return [top, bottom]; }"
    box = page.locator("#reading-result .za-passage")
    expect(box).not_to_have_js_property("scrollTop", 0)
    (top, bottom), (above, below) = box.evaluate(places), mark.evaluate(places)
    assert top <= above < below <= bottom


def test_text_is_never_markup(page: Page) -> None:
    page.locator("#reading-question textarea").fill(HOSTILE)
    page.locator("#reading-passage textarea").fill(HOSTILE)
    expect(page.locator("#reading-result .za-passage")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), STRINGS.tab)
    page.get_by_role("button", name=LIBRARY[0].texts[0]).click()
    page.locator("#reading-result tbody").wait_for()
    photograph(page, f"demo-reading-{width}-{scheme}", width)
