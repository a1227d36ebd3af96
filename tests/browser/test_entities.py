"""The tab of named entities in a real Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph
from zh_albert import load
from zh_albert.tasks.ner.predictor import Entity

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
EXAMPLES = [example.texts[0] for example in read_examples("entities")["sentences"]]


@pytest.fixture
def page(open_demo: OpenDemo) -> Page:
    return open_tab(open_demo(), CHINESE.entities.tab)


def test_typing_marks_what_the_library_finds(page: Page) -> None:
    text = EXAMPLES[0]
    expect(page.locator("#entities-result")).to_contain_text("实体会标在这里")
    page.locator("#entities-text textarea").press_sequentially(text)

    (found,) = load("ner")(text)
    assert found
    result = page.locator("#entities-result")
    expect(result.locator(".za-marked")).to_have_text(text)
    expect(result.locator("h3").first).to_contain_text(f"{len(found)} 个实体")
    expect(result.locator("mark")).to_have_count(len(found))
    assert result.locator(".za-marked").text_content() == text
    assert result.locator("mark").all_text_contents() == [entity.text for entity in found]
    expect(result.locator("tbody tr")).to_have_count(len(found))
    result.locator("summary", has_text="JSON").click()
    shown = json.loads(result.locator(".za-json").text_content() or "")
    assert [one["start"] for one in shown] == [entity.start for entity in found]


def test_examples_answer_and_clear_begins_anew(page: Page) -> None:
    for example in EXAMPLES:
        page.get_by_role("button", name=example).click()
        expect(page.locator("#entities-result .za-marked")).to_have_text(example)
    page.locator("#entities-clear").click()
    expect(page.locator("#entities-result")).to_contain_text("实体会标在这里")
    page.locator("#entities").click()
    expect(page.locator("#entities-result").get_by_role("alert")).to_contain_text("请先输入")


def test_what_is_copied_is_the_own_text(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "王 小明在 New York 工作。\n张伟在北京大学\t学习😀，␣不是空格。"
    page.locator("#entities-text textarea").fill(text)
    marked = page.locator("#entities-result .za-marked")
    expect(marked).to_contain_text("不是空格")
    expect(marked.locator(".za-gap").first).to_have_text("␣")
    marked.evaluate("marked => getSelection().selectAllChildren(marked)")
    page.keyboard.press("ControlOrMeta+c")
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_the_other_model_marks_the_same_text_at_once(page: Page) -> None:
    text = EXAMPLES[0]
    page.get_by_role("button", name=text).click()
    expect(page.locator("#entities-result .za-marked")).to_have_text(text)
    page.get_by_label(CHINESE.page.names.models["ner-msra"]).check()

    (found,) = load("ner-msra")(text)
    result = page.locator("#entities-result")
    expect(result.locator(".za-legend")).to_contain_text(CHINESE.page.names.entities["ORG"])
    assert isinstance(found[0], Entity)
    assert result.locator("mark").all_text_contents() == [one.text for one in found]
    expect(page).to_have_url(re.compile("model=ner-msra"))


def test_text_is_never_markup(page: Page) -> None:
    page.locator("#entities-text textarea").fill(HOSTILE)
    expect(page.locator("#entities-result .za-marked")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None


def test_on_a_phone_every_column_of_the_list_is_in_sight(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(390), CHINESE.entities.tab)
    text = "李华在中国科学院计算技术研究所智能信息处理重点实验室工作，住在杭州西湖边的龙井村。"
    page.locator("#entities-text textarea").fill(text)
    cells = page.locator("#entities-result .za-listed tbody td")
    expect(cells.nth(3)).to_be_visible()
    edges = cells.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert max(edges) <= 390 - 20


def test_signs_that_the_model_does_not_know_are_named(page: Page) -> None:
    page.locator("#entities-text textarea").fill("李华😀去了北京")
    note = page.locator("#entities-result .za-unknown")
    expect(note).to_have_text("模型不认识：😀")
    expect(note.locator("span")).to_have_attribute("title", "U+1F600 GRINNING FACE")
    page.locator("#entities-text textarea").fill("李华去了北京")
    expect(note).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), CHINESE.entities.tab)
    page.get_by_role("button", name=EXAMPLES[0]).click()
    page.locator("#entities-result mark").first.wait_for()
    photograph(page, f"demo-entities-{width}-{scheme}", width)
