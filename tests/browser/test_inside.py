"""The tab that looks into the encoders in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
EXAMPLES = [example.texts[0] for example in read_examples("inside")["sentences"]]
SLOWLY = 60_000  # every encoder is opened when one is first looked into


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), CHINESE.inside.tab)


def test_a_head_is_picked_by_mouse_or_keyboard_and_shown_large(page: Page) -> None:
    text = EXAMPLES[0]
    page.get_by_role("button", name=text).click()
    large = page.locator("#inside-map")
    expect(large).to_contain_text("第 1 层 · 各头平均", timeout=SLOWLY)
    expect(large.locator("tbody th")).to_have_text(["[CLS]", *text, "[SEP]"])
    expect(large.locator("thead th")).to_have_text(["[CLS]", *text, "[SEP]"])

    page.get_by_role("button", name="第 2 层 · 第 1 头").click()
    expect(large).to_contain_text("第 2 层 · 第 1 头")
    page.keyboard.press("ArrowRight")
    expect(large).to_contain_text("第 2 层 · 第 2 头")
    focused = page.locator("#inside-heads button:focus")
    expect(focused).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowUp")
    expect(large).to_contain_text("第 1 层 · 第 2 头")
    expect(page.locator("#inside-heads [aria-pressed=true]")).to_have_count(1)

    # What was picked stays for the next text.
    page.locator("#inside-text textarea").fill("山高水长")
    expect(large.locator("tbody th")).to_have_count(6)
    expect(large).to_contain_text("第 1 层 · 第 2 头")


def test_every_model_has_its_lines(page: Page) -> None:
    page.get_by_role("button", name=EXAMPLES[1]).click()
    movement = page.locator("#inside-movement")
    expect(movement.locator("svg")).to_have_count(2, timeout=SLOWLY)
    models = (
        "情感",
        "新闻",
        "实体（十类）",
        "实体（人名、地名、机构）",
        "阅读理解",
        "推理",
        "相似",
        "句向量",
        "编码器",
    )
    for name in models:
        expect(movement.locator(".za-key", has_text=name).first).to_be_visible()
    # None of these is untied, and so there is a reference that is said to be random.
    expect(movement.locator(".za-key").last).to_contain_text("随机权重")
    expect(movement.locator("svg").first.locator("polyline")).to_have_count(len(models) + 1)
    expect(movement.locator("table")).not_to_be_visible()
    movement.locator("summary").click()
    expect(movement.locator("tbody tr").last).to_be_visible()

    page.locator("#inside-model input").click()
    page.get_by_role("option", name="新闻").click()
    expect(movement.locator(".za-key.za-chosen")).to_contain_text("新闻")


def test_what_cannot_be_drawn_is_said(page: Page) -> None:
    box, heads = page.locator("#inside-text textarea"), page.locator("#inside-heads")
    box.press("Enter")
    expect(heads.get_by_role("alert")).to_contain_text("输入一句话")
    box.fill("山" * 63)
    expect(heads.get_by_role("alert")).to_contain_text("这段文本有 65 个词元", timeout=SLOWLY)
    expect(page.locator("#inside-movement svg")).to_have_count(0)


def test_text_is_never_markup(page: Page) -> None:
    page.locator("#inside-text textarea").fill(HOSTILE[:40])
    expect(page.locator("#inside-map tbody th").nth(1)).to_have_text("<", timeout=SLOWLY)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), CHINESE.inside.tab)
    page.get_by_role("button", name=EXAMPLES[0]).click()
    page.locator("#inside-movement svg").first.wait_for(timeout=SLOWLY)
    page.get_by_role("button", name="第 2 层 · 第 1 头").click()
    expect(page.locator("#inside-map")).to_contain_text("第 2 层 · 第 1 头")
    photograph(page, f"demo-inside-{width}-{scheme}", width)
