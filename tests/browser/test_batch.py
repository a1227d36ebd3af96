"""The tab for whole files in a real Chromium."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from apps.strings import CHINESE, ENGLISH
from tests.browser.conftest import HOSTILE, open_tab, photograph
from tests.browser.random_models import NEWS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]


def workbook(rows: list[list[Any]]) -> bytes:
    book, target = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "评论"
    for row in rows:
        book.active.append(row)
    book.create_sheet("说明").append(["三月导出"])
    book.save(target)
    return target.getvalue()


def upload(page: Page, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.locator("#batch-file input[type=file]").set_input_files(file)  # type: ignore[arg-type]


def drop(page: Page, file: Path, x: float, y: float) -> None:
    browser = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": x, "y": y, "data": data}
        browser.send("Input.dispatchDragEvent", event)


def test_a_file_that_is_dropped_beside_its_box_does_not_replace_the_page(
    open_demo: OpenDemo, tmp_path: Path
) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    file = tmp_path / "texts.csv"
    file.write_text("评论\n房间很干净\n", encoding="utf-8")
    page.evaluate(  # what is not prevented opens the file, though not in a browser without a screen
        """() => {
          window.prevented = [];
          addEventListener("dragover", (event) => prevented.push(event.defaultPrevented));
        }"""
    )
    box = page.locator("#batch-file").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drop(page, file, *middle)
    expect(page.locator("#batch-result")).to_contain_text("共 1 行")
    for place in ((5, 5), middle):  # it holds a file already
        drop(page, file, *place)
    assert set(page.evaluate("prevented")) == {True}


def test_a_file_is_answered_and_downloaded(open_demo: OpenDemo, tmp_path: Path) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    content = f'id,评论\n1,房间很干净\n2,\n3,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\n'
    upload(page, "<b>评论.csv", content.encode())
    result = page.locator("#batch-result")
    expect(result).to_contain_text("共 3 行，2 列")
    expect(result).to_contain_text("“评论”一列有 1 行没有文字")
    expect(page.locator("#batch-column-1 input")).to_have_value("评论")
    page.locator("#batch-model").get_by_label("新闻", exact=True).check()
    page.locator("#batch").click()

    expect(result).to_contain_text("完成：3 行")
    expect(result.locator(".za-bars li")).not_to_have_count(0)
    # The names of news are Chinese, in the panel and in the file.
    news = {CHINESE.page.names.of_class(label) for label in NEWS}
    assert result.locator(".za-numbers tr td:first-child").first.inner_text() in news
    with page.expect_download() as download:
        page.locator("#batch-download-2").click()
    assert download.value.suggested_filename.endswith("-news.csv")
    path = tmp_path / "result.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert rows[2]["评论"] == HOSTILE
    assert [bool(row["label"]) for row in rows] == [True, False, True]
    assert [bool(row["error"]) for row in rows] == [False, True, False]
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


def test_a_workbook_is_read_its_column_asked_for_and_a_workbook_given_back(
    open_demo: OpenDemo, tmp_path: Path
) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    result, picker = page.locator("#batch-result"), page.locator("#batch-column-1 input")
    rows = [
        ["订单号", "甲", "乙"],
        [20260311, "房间很干净", "店家：谢谢"],
        [20260312, "太差了，不来了", "店家：抱歉"],
    ]
    upload(page, "评论.xlsx", workbook(rows))
    expect(result).to_contain_text("哪一列是要读的文本？")
    expect(result).to_contain_text("读的是工作表“评论”；没有读：说明")
    expect(picker).to_have_value("")
    page.locator("#batch").click()
    expect(result.get_by_role("alert")).to_contain_text("哪一列是要读的文本？")
    expect(result.locator("table")).to_contain_text("店家：谢谢")

    picker.click()
    page.get_by_role("option", name="甲").click()
    expect(result).not_to_contain_text("哪一列")
    page.locator("#batch-model").get_by_label("新闻", exact=True).check()
    expect(picker).to_have_value("甲")
    page.locator("#batch").click()
    expect(result).to_contain_text("完成：2 行")
    with page.expect_download() as download:
        page.locator("#batch-download-1").click()
    assert download.value.suggested_filename.endswith("-news.xlsx")
    download.value.save_as(tmp_path / "result.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "result.xlsx").active
    header, *found = sheet.iter_rows(values_only=True)
    assert header[:4] == ("订单号", "甲", "乙", "label")
    assert [list(row[:3]) for row in found] == rows[1:]  # numbers stay numbers
    assert {row[3] for row in found} <= {*NEWS}


def test_a_result_of_another_model_looks_old(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    result, old = page.locator("#batch-result"), CHINESE.page.old_answer
    upload(page, "t.csv", "text\n很好\n".encode())
    expect(result).to_contain_text("共 1 行")
    page.locator("#batch").click()
    expect(result).to_contain_text("完成：1 行")
    expect(result).not_to_have_attribute("data-old", old)
    page.locator("#batch-model").get_by_label("新闻", exact=True).check()
    expect(result).to_have_attribute("data-old", old)
    page.locator("#batch").click()
    expect(result).not_to_have_attribute("data-old", old)
    expect(result).to_contain_text("完成：1 行")
    expect(result).not_to_have_attribute("data-old", old)


def test_a_column_of_known_name_or_clear_content_is_chosen(
    open_demo: OpenDemo, demo_url: str
) -> None:
    page = open_tab(open_demo(url=f"{demo_url}?lang=en"), ENGLISH.batch.tab)
    content = "订单号,姓名,说的话\n20260311001,张三,房间很干净，下次还来\n"
    upload(page, "t.csv", content.encode("gb18030"))
    result, picker = page.locator("#batch-result"), page.locator("#batch-column-1 input")
    expect(result).to_contain_text("it was read as GB18030 (GBK)")
    expect(picker).to_have_value("说的话")
    page.locator("#batch-file button[aria-label=Clear]").click()
    upload(page, "t.tsv", "订单号\t评论内容\n20260311001\t很好\n".encode("utf-16"))
    expect(result).to_contain_text("it was read as UTF-16")
    expect(picker).to_have_value("评论内容")


def test_pairs_and_questions_ask_for_two_columns(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    result = page.locator("#batch-result")
    first, second = (page.locator(f"#batch-column-{n} input") for n in (1, 2))
    page.get_by_role("button", name=CHINESE.batch.samples["pairs"]).click()
    expect(first).to_have_value("第一句")
    expect(second).to_have_value("第二句")
    page.locator("#batch").click()
    expect(result).to_contain_text("完成：12 行", timeout=60_000)

    page.get_by_role("button", name=CHINESE.batch.samples["questions"]).click()
    expect(first).to_have_value("问题")
    expect(second).to_have_value("短文")
    page.locator("#batch").click()
    expect(result).to_contain_text("完成：8 行", timeout=60_000)
    expect(result).to_contain_text("找到答案的行数")

    page.locator("#batch-model").get_by_label("情感", exact=True).check()
    expect(second).to_be_hidden()

    page = open_tab(open_demo(), CHINESE.batch.tab)
    upload(page, "t.csv", "text\n很好\n".encode())
    expect(page.locator("#batch-result")).to_contain_text("共 1 行")
    page.locator("#batch-model").get_by_label("推理", exact=True).check()
    expect(page.locator("#batch-column-2 input")).to_be_visible()
    page.locator("#batch").click()
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("哪一列")
    for number in (1, 2):
        page.locator(f"#batch-column-{number} input").click()
        expect(page.get_by_role("option")).to_have_count(1)  # the other list has gone
        page.get_by_role("option", name="text").click()
    page.locator("#batch").click()
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("选中的是同一列")


def test_a_job_is_found_again_by_its_page_and_by_no_other(
    open_demo: OpenDemo, demo_url: str
) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    upload(page, "t.csv", ("text\n" + "今天天气很好，我们去公园散步。\n" * 20_000).encode())
    expect(page.locator("#batch-result")).to_contain_text("共 20,000 行")
    page.locator("#batch").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.reload()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.locator("#batch-file").get_by_role("cell", name="t.csv")).to_be_visible()
    other = open_tab(open_demo(), CHINESE.batch.tab)
    expect(other.locator("#batch-result")).to_contain_text("进度和结果会显示在这里")

    page.goto(f"{demo_url}?lang=en#tab=batch")  # the same tab of the browser
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.locator("#batch-stop").click()
    expect(page.locator("#batch-result")).to_contain_text("Stopped", timeout=60_000)

    page.get_by_role("button", name=ENGLISH.batch.samples["reviews"]).click()
    expect(page.locator("#batch-result")).to_contain_text("30 rows")
    page.locator("#batch").click()
    expect(page.locator("#batch-download-1")).to_be_visible(timeout=60_000)
    page.reload()
    expect(page.locator("#batch-result")).to_contain_text("Done: 30 rows")
    for number, kind in enumerate(("xlsx", "csv"), start=1):
        with page.expect_download() as download:
            page.locator(f"#batch-download-{number}").click()
        assert download.value.suggested_filename == f"reviews-sentiment.{kind}"


def test_a_tab_that_is_duplicated_leaves_the_job_of_the_first_alone(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    upload(page, "t.csv", ("text\n" + "今天天气很好，我们去公园散步。\n" * 20_000).encode())
    expect(page.locator("#batch-result")).to_contain_text("共 20,000 行")
    page.locator("#batch").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    with page.expect_popup() as opened:  # it has a copy of sessionStorage, as a duplicate has
        page.evaluate("window.open(`/#tab=batch`)")
    other = opened.value
    other.locator("html[data-filled]").wait_for(state="attached")
    upload(other, "other.csv", "text\n很好\n".encode())
    expect(other.locator("#batch-result")).to_contain_text("共 1 行")

    done = page.get_by_role("progressbar").get_attribute("aria-valuenow")
    expect(page.get_by_role("progressbar")).not_to_have_attribute("aria-valuenow", done or "")
    page.locator("#batch-stop").click()
    expect(page.locator("#batch-result")).to_contain_text("已停止", timeout=60_000)
    other.reload()  # and its own work goes on
    other.locator("html[data-filled]").wait_for(state="attached")
    secrets = [one.evaluate("sessionStorage.zaOwner") for one in (page, other)]
    assert secrets[0] != secrets[1]


def test_what_cannot_be_read_is_told_in_the_pages_language(
    open_demo: OpenDemo, demo_url: str
) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    page.locator("#batch").click()
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("还没有文件")
    upload(page, "t.csv", "text\n好\n".encode() + "很好\n".encode("gb18030"))
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("不是 UTF-8")

    page = open_tab(open_demo(url=f"{demo_url}?lang=en"), ENGLISH.batch.tab)
    upload(page, "t.csv", b"PK\x03\x04" + bytes(100))
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("Excel workbook")
    page.locator("#batch-file button[aria-label=Clear]").click()
    upload(page, "t.xls", b"\xd0\xcf\x11\xe0" + bytes(100))
    expect(page.locator("#batch-result").get_by_role("alert")).to_contain_text("with a password")


def test_a_long_file_can_be_stopped(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.batch.tab)
    upload(page, "t.csv", ("text\n" + "今天天气很好，我们去公园散步。\n" * 20_000).encode())
    expect(page.locator("#batch-result")).to_contain_text("共 20,000 行")
    page.locator("#batch").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.locator("#batch-stop").click()
    expect(page.locator("#batch-result")).to_contain_text("已停止", timeout=60_000)
    expect(page.locator("#batch-download-1")).not_to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_tab(open_demo(width, scheme), CHINESE.batch.tab)
    page.get_by_role("button", name=CHINESE.batch.samples["reviews"]).click()
    expect(page.locator("#batch-result table")).to_be_visible()
    page.locator("#batch").click()
    expect(page.locator("#batch-download-2")).to_be_visible(timeout=60_000)
    photograph(page, f"demo-batch-{width}-{scheme}", width)
