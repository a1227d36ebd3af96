"""What is typed with an input method, and answers to what stood in the boxes before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, Route, expect

from apps.strings import CHINESE, ENGLISH
from tests.browser.conftest import open_tab

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]


def compose(keyboard: CDPSession, text: str) -> None:
    """Show some letters of a word that is not chosen yet."""
    place = {"selectionStart": len(text), "selectionEnd": len(text)}
    keyboard.send("Input.imeSetComposition", {"text": text, **place})


# The Enter that takes a word from an input method's list, as browsers tell of it.
ENTER = """box => ["keydown", "keypress", "keyup"].forEach(kind => box.dispatchEvent(
  new KeyboardEvent(kind, {key: "Enter", isComposing: true, bubbles: true, cancelable: true})))"""


def asked(page: Page) -> list[str]:
    """Return a list to which the page's questions are added."""
    questions: list[str] = []

    def note(request: Any) -> None:
        if "/queue/join" in request.url:
            questions.append(request.post_data_json["data"][0])

    page.on("request", note)
    return questions


def test_nothing_is_answered_while_a_word_is_composed(open_demo: OpenDemo) -> None:
    page = open_demo()
    keyboard = page.context.new_cdp_session(page)
    box, result = page.locator("#classify-text textarea"), page.locator("#classify-result")
    page.wait_for_timeout(1000)  # a page that opens asks for much
    questions = asked(page)
    box.focus()
    for letters in ("f", "fa", "fang'j", "fang'jian"):
        compose(keyboard, letters)
    box.evaluate(ENTER)
    page.wait_for_timeout(500)
    assert questions == []
    expect(result).to_contain_text("结果会显示在这里")
    keyboard.send("Input.insertText", {"text": "房间"})
    expect(result.locator("q")).to_have_text("房间")
    compose(keyboard, "hao")
    page.wait_for_timeout(300)
    expect(result.locator("q")).to_have_text("房间")
    keyboard.send("Input.insertText", {"text": "很好"})
    expect(result.locator("q")).to_have_text("房间很好")
    assert questions == ["房间", "房间很好"]
    expect(box).to_have_value("房间很好")

    box.press("Enter")
    expect(result.locator(".za-card").first).to_be_visible()
    page.wait_for_timeout(300)
    assert {*questions[2:]} == {"房间很好"}


def test_a_composition_given_up_changes_nothing(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.entities.tab)
    keyboard = page.context.new_cdp_session(page)
    box, result = page.locator("#entities-text textarea"), page.locator("#entities-result")
    box.fill("李华")
    expect(result.locator(".za-marked")).to_contain_text("李华")
    box.press("End")
    compose(keyboard, "zai")
    compose(keyboard, "")
    expect(box).to_have_value("李华")
    page.wait_for_timeout(300)
    expect(result).not_to_have_attribute("data-old", CHINESE.page.old_answer)
    keyboard.send("Input.insertText", {"text": "来了"})
    expect(result.locator(".za-marked")).to_contain_text("李华来了")


class HeldBack:
    """Keeps questions of a page back while ``holds``."""

    def __init__(self, page: Page) -> None:
        self.holds = False
        self._held: list[Route] = []
        page.route("**/queue/join*", self._pass)

    def _pass(self, route: Route) -> None:
        if self.holds:
            self._held.append(route)
        else:
            route.continue_()

    def release(self) -> None:
        self.holds = False
        for route in self._held:
            route.continue_()
        self._held.clear()


@pytest.mark.parametrize(
    ("tab", "box", "panel"),
    [
        ("classification", "#classify-text", "#classify-result"),
        ("entities", "#entities-text", "#entities-result"),
        ("fill_mask", "#fill-text", "#fill-result"),
        ("tokens", "#tokens-text", "#tokens-result"),
        ("inside", "#inside-text", "#inside-heads"),
    ],
)
def test_an_answer_looks_old_until_the_new_one_comes(
    open_demo: OpenDemo, tab: str, box: str, panel: str
) -> None:
    page = open_tab(open_demo(), getattr(CHINESE, tab).tab)
    text, result = page.locator(f"{box} textarea"), page.locator(panel)
    old = CHINESE.page.old_answer
    text.fill("北京的[MASK]很好")
    expect(result.locator("[data-moment]")).to_be_attached()
    expect(result).not_to_have_attribute("data-old", old)
    held = HeldBack(page)
    held.holds = True
    text.fill("上海的[MASK]很好")
    expect(result).to_have_attribute("data-old", old)
    expect(result).to_have_attribute("aria-busy", "true")
    text.fill("北京的[MASK]很好")  # changed back
    expect(result).not_to_have_attribute("data-old", old)
    text.fill("广州的[MASK]很好")
    expect(result).to_have_attribute("data-old", old)
    held.release()
    expect(result).not_to_have_attribute("data-old", old)
    expect(result).to_have_attribute("aria-busy", "false")


def test_an_answer_of_another_model_or_a_long_text_looks_old(
    open_demo: OpenDemo, demo_url: str
) -> None:
    page = open_demo(url=f"{demo_url}?lang=en")
    text, result = page.locator("#classify-text textarea"), page.locator("#classify-result")
    old = ENGLISH.page.old_answer
    text.fill("很好")
    expect(result.locator(".za-card")).to_have_count(2)
    held = HeldBack(page)
    held.holds = True
    page.locator("#model label", has_text="News").click()
    expect(result).to_have_attribute("data-old", old)
    held.release()
    expect(result.locator(".za-card")).to_have_count(1)
    expect(result).not_to_have_attribute("data-old", old)

    text.fill("很好" * 600)
    expect(result).to_contain_text("1,200 characters")
    page.locator("#classify").click()
    expect(result.locator(".za-card")).to_have_count(1)
    held.holds = True
    text.fill("不好" * 600)
    expect(result).to_have_attribute("data-old", old)
    held.release()
    expect(result).to_contain_text("1,200 characters")
    expect(result).not_to_have_attribute("data-old", old)
