"""The page by keyboard alone, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.strings import CHINESE
from tests.browser.conftest import open_tab

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]


def test_arrow_keys_choose_a_model_and_the_focus_is_seen(open_demo: OpenDemo) -> None:
    page = open_demo()
    box = page.locator("#classify-text textarea")
    box.fill("房间很干净")
    choice = page.get_by_role("radiogroup", name=CHINESE.page.model)
    expect(choice).to_have_count(1)
    assert box.evaluate("box => getComputedStyle(box).outlineStyle") == "solid"
    box.press("Tab")
    both = choice.get_by_label(CHINESE.page.both_models)
    expect(both).to_be_focused()
    outline = "radio => getComputedStyle(radio.closest('label')).outlineStyle"
    assert both.evaluate(outline) == "solid"

    page.keyboard.press("ArrowRight")
    first = choice.get_by_role("radio").nth(1)
    expect(first).to_be_focused()
    expect(first).to_be_checked()
    expect(both).not_to_be_checked()
    expect(page.locator("#classify-result .za-card")).to_have_count(1)
    page.keyboard.press("Tab")  # the choice is one stop
    expect(page.locator("#classify")).to_be_focused()

    open_tab(page, CHINESE.batch.tab)
    radios = page.locator("#batch-model input")
    radios.first.focus()
    page.keyboard.press("ArrowDown")
    expect(radios.nth(1)).to_be_checked()
    expect(page.locator("#model input").nth(1)).to_be_checked()


def test_arrow_keys_choose_a_tab_and_its_panel_has_its_name(open_demo: OpenDemo) -> None:
    page = open_demo()
    first = page.get_by_role("tab", name=CHINESE.classification.tab)
    first.focus()
    page.keyboard.press("ArrowRight")
    entities = page.get_by_role("tab", name=CHINESE.entities.tab)
    expect(entities).to_be_focused()
    expect(page.get_by_role("tab", selected=True)).to_have_text(CHINESE.entities.tab)
    expect(page.get_by_role("tabpanel", name=CHINESE.entities.tab)).to_be_visible()
    page.keyboard.press("Tab")  # the row of tabs is one stop
    expect(page.locator("#entities-text textarea")).to_be_focused()

    entities.focus()
    for key, name in {
        "End": CHINESE.finetuning.tab,
        "ArrowRight": CHINESE.classification.tab,
        "ArrowLeft": CHINESE.finetuning.tab,
        "Home": CHINESE.classification.tab,
    }.items():
        page.keyboard.press(key)
        expect(page.get_by_role("tab", selected=True)).to_have_text(name)
