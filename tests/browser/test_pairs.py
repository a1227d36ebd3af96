"""The tab of two sentences in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
INFERENCE, SIMILARITY = (
    [example.texts for example in examples] for examples in read_examples("pairs").values()
)


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), CHINESE.pairs.tab)


def test_examples_fill_both_boxes_and_both_models_answer(page: Page) -> None:
    first, second = page.locator("#pairs-first textarea"), page.locator("#pairs-second textarea")
    cards = page.locator("#pairs-result .za-card")
    for pair in (INFERENCE[1], SIMILARITY[0]):
        page.get_by_role("button", name=pair[0]).click()
        expect(first).to_have_value(pair[0])
        expect(second).to_have_value(pair[1])
        expect(page.locator("#pairs-result q")).to_have_text([*pair])
        expect(cards).to_have_count(2)
    parts = cards.first.locator("ol .za-percent").all_text_contents()
    assert sum(float(part.rstrip("%")) for part in parts) == pytest.approx(100, abs=1e-6)
    expect(cards.first.locator(".za-meaning")).to_be_visible()
    expect(cards.last.get_by_role("meter")).to_have_attribute("aria-valuemax", "5")
    expect(cards.last).to_contain_text("从 0 到 5")

    page.locator("#pairs-model label", has_text="推理").click()
    expect(cards).to_have_count(1)
    page.locator("#pairs-swap").click()
    expect(first).to_have_value(SIMILARITY[0][1])
    expect(page.locator("#pairs-result q").first).to_have_text(SIMILARITY[0][1])


def test_one_sentence_is_not_enough_and_clear_begins_anew(page: Page) -> None:
    first, result = page.locator("#pairs-first textarea"), page.locator("#pairs-result")
    first.fill("她骑车上班")
    first.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("要有两句话才能比较")
    page.locator("#pairs-second textarea").fill("她不开车")
    expect(result.locator(".za-card")).to_have_count(2)
    page.locator("#pairs-clear").click()
    expect(first).to_have_value("")
    expect(result).to_contain_text("结果会显示在这里")


def test_what_was_done_last_is_answered_last(page: Page) -> None:
    """The answer to typing may come behind that to Enter: then it is not shown."""
    first, result = page.locator("#pairs-first textarea"), page.locator("#pairs-result")
    for number in range(3):
        first.fill("")
        expect(result.get_by_role("alert")).to_have_count(0)
        first.press_sequentially(f"第{number}次")
        first.press("Enter")
        expect(result.get_by_role("alert")).to_contain_text("要有两句话才能比较")
        page.wait_for_timeout(300)
        expect(result.get_by_role("alert")).to_be_visible(timeout=1)


def test_text_is_never_markup(page: Page) -> None:
    page.locator("#pairs-first textarea").fill(HOSTILE)
    page.locator("#pairs-second textarea").fill(HOSTILE)
    expect(page.locator("#pairs-result q").last).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), CHINESE.pairs.tab)
    page.get_by_role("button", name=INFERENCE[0][0]).click()
    page.locator("#pairs-result .za-card").first.wait_for()
    photograph(page, f"demo-pairs-{width}-{scheme}", width)
