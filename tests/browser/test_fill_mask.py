"""The fill-mask tab and the training curves in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
HIDDEN, MASKS = read_examples("fill_mask").values()
SENTENCE = "周末我们去公园散步。"


def word(page: Page, name: str) -> Locator:
    return page.locator("#fill-words").get_by_role("button", name=name, exact=True)


def cards(page: Page) -> Locator:
    return page.locator("#fill-result .za-card")


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), CHINESE.fill_mask.tab)


def test_clicking_a_word_hides_it_and_shows_candidates(page: Page) -> None:
    expect(page.locator("#fill-result")).to_contain_text("候选词会显示在这里")
    page.locator("#fill-text textarea").press_sequentially(SENTENCE)
    expect(page.locator("#fill-words button")).to_have_text(["周末", "我们", "去", "公园", "散步"])
    expect(page.locator("#fill-result")).to_contain_text("点一个词把它遮住")

    word(page, "公园").click()
    expect(word(page, "公园")).to_have_attribute("aria-pressed", "true")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("公园")
    expect(cards(page).locator("li")).to_have_count(5)
    percents = [text.strip("<%") for text in cards(page).locator(".za-percent").all_text_contents()]
    assert [float(one) for one in percents] == sorted(map(float, percents), reverse=True)
    put = page.locator("#fill-result mark").text_content()
    expect(page.locator(".za-sentence")).to_have_text(f"周末我们去{put}散步。")

    word(page, "周末").click()
    expect(cards(page)).to_have_count(2)
    word(page, "公园").click()
    expect(word(page, "公园")).to_have_attribute("aria-pressed", "false")
    word(page, "周末").click()
    expect(page.locator("#fill-result")).to_contain_text("还没有遮住的地方")


def test_words_are_hidden_by_keyboard_and_keep_the_focus(page: Page) -> None:
    box = page.locator("#fill-text textarea")
    box.fill(SENTENCE)
    expect(word(page, "去")).to_be_visible()
    box.focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(word(page, "去")).to_be_focused()
    page.keyboard.press("Space")
    expect(word(page, "去")).to_have_attribute("aria-pressed", "true")
    expect(cards(page)).to_have_count(1)
    expect(word(page, "去")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(word(page, "公园")).to_have_attribute("aria-pressed", "true")
    expect(cards(page)).to_have_count(1)  # side by side: one blank
    expect(cards(page)).to_contain_text("去公园")


def test_typed_masks_are_filled_while_typing(page: Page) -> None:
    box = page.locator("#fill-text textarea")
    box.press_sequentially("中国的首都是[MASK][MASK]，")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("2 个 [MASK]")
    expect(page.locator("#fill-words .za-hidden")).to_have_count(2)
    box.press_sequentially("[MASK]城")
    expect(cards(page)).to_have_count(2)
    page.locator("#fill-clear").click()
    expect(box).to_have_value("")
    expect(page.locator("#fill-words button")).to_have_count(0)
    expect(page.locator("#fill-result")).to_contain_text("候选词会显示在这里")


def test_examples_fill_the_box_and_are_answered(page: Page) -> None:
    examples = page.locator("[role=tabpanel]:visible button.za-example")
    expect(examples).to_have_count(len(HIDDEN + MASKS))
    examples.nth(1).click()
    hidden = re.findall("【(.*?)】", HIDDEN[1].texts[0])
    text = re.sub("[【】]", "", HIDDEN[1].texts[0])
    expect(page.locator("#fill-text textarea")).to_have_value(text)
    expect(page.locator("#fill-words [aria-pressed=true]")).to_have_text(hidden)
    expect(cards(page)).to_have_count(len(hidden))
    examples.last.click()
    expect(page.locator("#fill-words [aria-pressed=true]")).to_have_count(0)
    expect(cards(page)).to_have_count(1)


def test_what_is_missing_is_said_in_chinese(page: Page) -> None:
    box, result = page.locator("#fill-text textarea"), page.locator("#fill-result")
    page.locator("#fill").click()
    expect(result.get_by_role("alert")).to_contain_text("请先输入一句话")
    box.fill("今天天气很好")
    expect(result.get_by_role("status")).to_contain_text("还没有遮住的地方")
    box.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("点一个词把它遮住")
    box.fill("好" * 501)
    expect(result.get_by_role("alert")).to_contain_text("这一页最多 500 个")
    expect(page.locator("#fill-words button")).to_have_count(0)
    box.fill("好[MASK]" * 13)
    expect(result.get_by_role("alert")).to_contain_text("一次最多猜 12 处")


def test_hostile_text_is_shown_and_never_run(page: Page) -> None:
    page.locator("#fill-text textarea").fill(f"{HOSTILE}[MASK]")
    expect(cards(page)).to_have_count(1)
    expect(page.locator(".za-sentence")).to_contain_text("<script>window.hacked=1</script>")
    word(page, "hacked").first.click()
    expect(cards(page)).to_have_count(2)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


def test_the_training_tab_draws_curves_and_opens_its_table(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.training_curves.tab)
    result = page.locator("#training-result")
    expect(result.locator("svg")).to_have_count(3)
    for title in (
        CHINESE.training_curves.masked_accuracy,
        CHINESE.training_curves.masked_loss,
        CHINESE.training_curves.order_accuracy,
    ):
        expect(result.get_by_role("heading", name=title)).to_be_visible()
    expect(result.locator("table")).not_to_be_visible()
    result.locator("summary").click()
    expect(result.locator("tbody tr").last).to_be_visible()
    points = result.locator("polyline").first.get_attribute("points") or ""
    assert len(points.split()) == result.locator("tbody tr").count() > 2


def test_without_models_every_tab_says_what_to_do(open_demo: OpenDemo, bare_demo_url: str) -> None:
    page = open_demo(url=bare_demo_url)
    expect(page.locator("#classify-result")).to_contain_text("还没有附带的分类模型")
    open_tab(page, CHINESE.fill_mask.tab)
    expect(page.locator("#fill-result")).to_contain_text("还没有附带的预训练编码器")
    expect(page.locator("#fill-result")).to_contain_text("zh-albert pretrain")
    open_tab(page, CHINESE.training_curves.tab)
    expect(page.locator("#training-result")).to_contain_text("还没有附带的预训练编码器")
    open_tab(page, CHINESE.tokens.tab)
    expect(page.locator("#tokens-result .za-hidden").first).to_be_visible()
    for left_out in (CHINESE.reading.tab, CHINESE.pairs.tab, CHINESE.inside.tab):
        expect(page.get_by_role("tab", name=left_out)).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), CHINESE.fill_mask.tab)
    page.locator("[role=tabpanel]:visible button.za-example").nth(1).click()
    expect(cards(page)).to_have_count(2)
    photograph(page, f"demo-fill-{width}-{scheme}", width)
    open_tab(page, CHINESE.training_curves.tab)
    page.locator("#training-result summary").click()
    photograph(page, f"demo-training-{width}-{scheme}", width)


def test_quick_clicks_all_count(page: Page) -> None:
    page.locator("#fill-text textarea").press_sequentially(SENTENCE)
    expect(page.locator("#fill-words button")).to_have_count(5)
    page.evaluate(
        """() => {
          const click = name => [...document.querySelectorAll("#fill-words button")]
            .find(one => one.textContent === name).click();
          ["周末", "公园", "散步"].forEach((name, n) => setTimeout(() => click(name), 60 * n));
        }"""
    )
    for name in ("周末", "公园", "散步"):
        expect(word(page, name)).to_have_attribute("aria-pressed", "true")
    expect(word(page, "我们")).to_have_attribute("aria-pressed", "false")
    expect(cards(page)).to_have_count(2)
