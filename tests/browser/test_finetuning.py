"""The fine-tuning tab in a real Chromium."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from apps.strings import CHINESE
from tests.browser.conftest import open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.slow]

OpenDemo = Callable[..., Page]
_LONG = 100_000  # ms


def begin(page: Page, epochs: int) -> Page:
    open_tab(page, CHINESE.finetuning.tab)
    page.get_by_role("button", name=CHINESE.finetuning.sample).click()
    expect(page.locator("#finetuning-result")).to_contain_text("72 条用来学习，18 条用来评测")
    page.locator("#finetuning-epochs input[type=number]").fill(str(epochs))
    page.keyboard.press("Tab")
    page.locator("#finetuning").click()
    return page


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_model_is_taught_tried_and_taken_away(
    open_demo: OpenDemo, tmp_path: Path, width: int, scheme: str
) -> None:
    page = begin(open_demo(width, scheme), epochs=2)
    result = page.locator("#finetuning-result")
    expect(result.get_by_role("progressbar")).to_be_visible()
    expect(result).to_contain_text("学完了", timeout=_LONG)
    expect(result.locator("svg")).to_have_count(2)
    page.locator("#finetuning-try textarea").fill("快递怎么还没到")
    answer = page.locator("#finetuning-answer .za-card")
    expect(answer).to_contain_text("我的模型")
    expect(answer.locator("li")).to_have_count(3)
    photograph(page, f"demo-finetuning-{width}-{scheme}", width)
    with page.expect_download() as download:
        page.locator("#finetuning-download-1").click()
    download.value.save_as(tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        assert "messages-model/config.json" in archive.namelist()


@pytest.mark.timeout(240)
def test_the_page_stays_alive_while_it_learns_and_learning_can_be_stopped(
    open_demo: OpenDemo,
) -> None:
    page = begin(open_demo(), epochs=30)
    expect(page.locator("#finetuning-result svg").first).to_be_visible(timeout=_LONG)
    page.reload()
    expect(page.locator("#finetuning-result svg").first).to_be_visible()
    expect(page.locator("#finetuning-epochs input[type=number]")).to_have_value("30")
    open_tab(page, CHINESE.classification.tab)
    page.locator("#classify-text textarea").fill("早餐很好")
    expect(page.locator("#classify-result .za-card")).to_have_count(2)
    open_tab(page, CHINESE.finetuning.tab)
    page.locator("#finetuning-stop").click()
    expect(page.locator("#finetuning-stop")).to_be_disabled(timeout=_LONG)
    expect(page.locator("#finetuning-result")).to_contain_text("停")


def test_without_labels_it_asks_for_them(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.finetuning.tab)
    content = "text,n\n" + "".join(f"第{n}句,{n % 2}\n" for n in range(20))
    file = {"name": "t.csv", "mimeType": "text/csv", "buffer": content.encode()}
    page.locator("#finetuning-file input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    result = page.locator("#finetuning-result")
    expect(result).to_contain_text("文本和标签各在哪一列？")
    expect(page.locator("#finetuning-texts input")).to_have_value("text")
    page.locator("#finetuning").click()
    expect(result.get_by_role("alert")).to_contain_text("文本和标签各在哪一列？")
    page.locator("#finetuning-labels input").click()
    page.get_by_role("option", name="n", exact=True).click()
    expect(result).to_contain_text("16 条用来学习，4 条用来评测")
