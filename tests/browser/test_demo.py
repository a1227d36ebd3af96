"""The demo in a real Chromium: what a person does with classification and tokens."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from apps.examples import read_examples
from apps.strings import CHINESE
from tests.browser.conftest import HOSTILE, open_tab, photograph

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]
REVIEWS, HEADLINES = read_examples("classification").values()


def percents(page: Page, model: str) -> list[float]:
    card = page.locator(f"#classify-result [data-model={model}]")
    card.wait_for()
    return [float(p.rstrip("%")) for p in card.locator("ol .za-percent").all_text_contents()]


def test_typing_a_text_gives_bars_that_sum_to_a_hundred(open_demo: OpenDemo) -> None:
    page = open_demo()
    expect(page).to_have_title(CHINESE.page.title)
    expect(page.locator("#classify-result")).to_contain_text("结果会显示在这里")

    page.locator("#classify-text textarea").press_sequentially("早餐很丰富，房间也干净")

    # The answers follow the typing; the last one is of the whole text.
    expect(page.locator("#classify-result q")).to_have_text("早餐很丰富，房间也干净")
    assert len(percents(page, "sentiment")) == 3
    assert len(percents(page, "news")) == 15
    for model in ("sentiment", "news"):
        assert sum(percents(page, model)) == pytest.approx(100, abs=1e-6)
        expect(page.locator(f"[data-model={model}] .za-winner")).to_have_count(1)


def test_clicking_an_example_fills_the_box_and_answers(open_demo: OpenDemo) -> None:
    page = open_demo()
    for example in (REVIEWS[1].texts[0], HEADLINES[0].texts[0]):
        page.get_by_role("button", name=example).click()

        expect(page.locator("#classify-text textarea")).to_have_value(example)
        expect(page.locator("#classify-result q")).to_contain_text(example[:20])
        expect(page.locator("#classify-result .za-card")).to_have_count(2)


def test_a_classifier_is_taken_apart_where_it_has_ngrams(open_demo: OpenDemo) -> None:
    page = open_demo()
    page.locator("#classify-text textarea").fill("早餐很丰富，房间也干净")
    card = page.locator("#classify-result [data-model=sentiment]")
    expect(card).to_be_visible()
    if card.locator(".za-apart").count() == 0:
        pytest.skip("needs a bundled classifier with n-grams")
    expect(card.locator(".za-apart thead th")).to_have_text(
        ["类别", "神经网络", "n-gram 模型", "合起来"]
    )
    rows = [row.locator("td").all_inner_texts() for row in card.locator(".za-apart tbody tr").all()]
    for column in zip(*rows, strict=True):
        assert sum(float(part.rstrip("%")) for part in column) == pytest.approx(100, abs=0.11)


def test_one_model_or_both_can_be_chosen_and_enter_answers(open_demo: OpenDemo) -> None:
    page = open_demo()
    box, cards = page.locator("#classify-text textarea"), page.locator("#classify-result .za-card")
    page.locator("#model label", has_text="新闻").click()
    box.fill("球队主场取胜")
    box.press("Enter")

    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("新闻")
    expect(box).to_have_value("球队主场取胜")  # Enter adds no line
    page.locator("#model label", has_text="两个").click()
    expect(cards).to_have_count(2)


def test_empty_text_is_answered_in_chinese_and_clear_begins_anew(open_demo: OpenDemo) -> None:
    page = open_demo()
    box, result = page.locator("#classify-text textarea"), page.locator("#classify-result")
    page.locator("#classify").click()
    expect(result.get_by_role("alert")).to_contain_text("请先输入要分类的文本")

    box.fill("　 \n")
    page.locator("#classify").click()
    expect(result.get_by_role("alert")).to_contain_text("没有模型能读的字符")

    box.fill("很好")
    expect(result.locator(".za-card")).to_have_count(2)
    page.locator("#clear").click()
    expect(box).to_have_value("")
    expect(result).to_contain_text("结果会显示在这里")


def test_the_second_tab_shows_tokens_and_masks(open_demo: OpenDemo) -> None:
    page = open_demo()
    page.get_by_role("tab", name=CHINESE.tokens.tab).click()
    result, box = page.locator("#tokens-result"), page.locator("#tokens-text textarea")
    expect(result.locator(".za-hidden").first).to_have_text("[MASK]")
    assert result.locator(".za-slice").first.text_content() == "今"

    masked = result.locator(".za-mask")
    for seed in range(1, 4):
        before = masked.inner_html()
        page.locator("#again").click()
        expect(page.locator("#seed input[type=number]")).to_have_value(str(seed))
        expect(masked).not_to_have_js_property("innerHTML", before)

    box.fill("我们在北京大学学习 PyTorch 框架😀")
    expect(result.locator(".za-count").first).to_have_text("21")
    slices = result.locator(".za-slice").all_text_contents()
    assert "".join(slices) == "我们在北京大学学习PyTorch框架😀"
    expect(result.locator(".za-tokens .za-gap")).to_have_count(2)
    assert "字符 0–1" in str(result.locator(".za-tok").first.get_attribute("title"))


def test_hostile_text_is_shown_and_never_run(open_demo: OpenDemo) -> None:
    page = open_demo()
    page.locator("#classify-text textarea").fill(HOSTILE)
    expect(page.locator("#classify-result q")).to_contain_text("<script>window.hacked=1</script>")
    page.get_by_role("tab", name=CHINESE.tokens.tab).click()
    page.locator("#tokens-text textarea").fill(HOSTILE)
    expect(page.locator("#tokens-result .za-count").first).to_have_text(str(len(HOSTILE)))

    slices = page.locator("#tokens-result .za-slice").all_text_contents()
    assert "".join(slices) == HOSTILE.replace(" ", "")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".za script, .za img, .za b").count() == 0


def test_broken_characters_and_very_long_texts_are_answered(open_demo: OpenDemo) -> None:
    page = open_demo()
    box, result = page.locator("#classify-text textarea"), page.locator("#classify-result")
    put = "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }"
    box.evaluate(f"box => ({put})(box, '服务\\ud800很\\u0000好')")
    expect(result.locator("q")).to_contain_text("服务")
    expect(result.locator(".za-card")).to_have_count(2)

    box.evaluate(f"box => ({put})(box, '好'.repeat(6000))")
    expect(result).to_contain_text("6,000 个字符")
    page.locator("#classify").click()
    expect(result).to_contain_text("正在读 6,000 个字符")
    box.evaluate(f"box => ({put})(box, '算了')")  # given up: its answer must not come any more
    expect(result.locator("q")).to_have_text("算了")

    box.evaluate(f"box => ({put})(box, '好'.repeat(100000))")
    expect(result).to_contain_text("100,000 个字符")
    expect(result).to_contain_text("请按“分类”按钮")
    box.evaluate(f"box => ({put})(box, '好'.repeat(100001))")
    expect(result.get_by_role("alert")).to_contain_text("超过了网页的上限 100,000 个")
    page.locator("#classify").click()
    expect(result.get_by_role("alert")).to_contain_text("超过了网页的上限 100,000 个")

    page.get_by_role("tab", name=CHINESE.tokens.tab).click()
    tokens = page.locator("#tokens-text textarea")
    tokens.evaluate(f"box => ({put})(box, '天气很好'.repeat(25000))")
    expect(page.locator("#tokens-result .za-count").first).to_have_text("100,000")
    expect(page.locator("#tokens-result .za-slice")).to_have_count(2000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen(open_demo: OpenDemo, width: int, scheme: str) -> None:
    page = open_demo(width, scheme)
    page.get_by_role("button", name=REVIEWS[0].texts[0]).click()
    page.locator("#classify-result .za-card").first.wait_for()
    photograph(page, f"demo-classification-{width}-{scheme}", width)
    page.get_by_role("tab", name=CHINESE.tokens.tab).click()
    page.locator("#tokens-text textarea").wait_for()
    photograph(page, f"demo-tokens-{width}-{scheme}", width)

    dark = "getComputedStyle(document.body).backgroundColor"
    shades = page.evaluate(dark).removeprefix("rgb(").rstrip(")").split(",")
    assert (sum(map(int, shades)) < 150) == (scheme == "dark")


_PALE = """panel => {
  const dot = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parts = colour => {
    dot.clearRect(0, 0, 1, 1);
    dot.fillStyle = colour;
    dot.fillRect(0, 0, 1, 1);
    return [...dot.getImageData(0, 0, 1, 1).data];
  };
  const light = colour => parts(colour).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = one => {
    while (parts(getComputedStyle(one).backgroundColor)[3] < 255) one = one.parentElement;
    return getComputedStyle(one).backgroundColor;
  };
  const pale = (one, part) => {
    const both = [getComputedStyle(one, part).color, behind(one)].map(light);
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05) < 4.5;
  };
  const own = one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const all = [...panel.querySelectorAll(".za *")].filter(one => one.offsetParent && own(one));
  const marks = [...panel.querySelectorAll("mark.za-entity")];
  const boxes = [...panel.querySelectorAll("textarea")].filter(one => one.offsetParent);
  return [
    ...all.filter(one => !one.matches(".za-tok *, .za-tok") && pale(one)),
    ...marks.filter(one => pale(one, "::after")),
    ...boxes.filter(one => pale(one, "::placeholder")),
  ].map(one => one.className + " " + one.textContent);
}"""  # what has a contrast below 4.5, as WCAG counts it


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_letters_are_no_paler_than_can_be_read(open_demo: OpenDemo, scheme: str) -> None:
    page = open_demo(scheme=scheme)
    examples = {
        CHINESE.classification.tab: ["央行宣布"],
        CHINESE.entities.tab: ["浙江大学", "中国足协", "导演林海生", "市财政局"],
        CHINESE.reading.tab: ["每人最多"],
        CHINESE.fill_mask.tab: ["味道很"],
    }
    for tab, texts in examples.items():
        panel = open_tab(page, tab).locator("[role=tabpanel]:visible")
        for text in texts:
            panel.locator("button.za-example", has_text=text).click()
            shown = panel.locator(".za-quote, .za-marked, .za-asked, .za-sentence").first
            expect(shown).to_contain_text(text)
            page.wait_for_timeout(600)  # colours fade
            assert panel.evaluate(_PALE) == []


def test_what_colour_alone_says_is_seen_in_forced_colours(open_demo: OpenDemo) -> None:
    page = open_demo(390)
    page.emulate_media(forced_colors="active")
    page.locator("#classify-text textarea").fill("早餐很好")
    fill = page.locator("#classify-result .za-winner .za-fill").first
    expect(fill).to_be_visible()
    colour = "one => getComputedStyle(one).backgroundColor"
    assert fill.evaluate(colour) != fill.locator("xpath=..").evaluate(colour)
    frame = "one => getComputedStyle(one).outlineStyle"
    for chosen, other in (
        ("[role=tab].selected", "[role=tab]:not(.selected)"),
        ("#model label.selected", "#model label:not(.selected)"),
    ):
        assert page.locator(chosen).first.evaluate(frame) == "solid"
        assert page.locator(other).first.evaluate(frame) == "none"


def test_a_screen_reader_hears_an_answer_when_the_typing_pauses(open_demo: OpenDemo) -> None:
    page = open_demo()
    said = page.get_by_role("status").and_(page.locator("#answer-said"))
    expect(said).to_have_text("")
    page.evaluate(
        """() => {
          window.heard = [];
          const note = ([{ target }]) => target.textContent && heard.push(target.textContent);
          const how = { childList: true };
          new MutationObserver(note).observe(document.getElementById("answer-said"), how);
        }"""
    )
    box = page.locator("#classify-text textarea")
    box.press_sequentially("早餐很丰富，房间也干净", delay=60)
    best = page.locator("#classify-result .za-best strong").first
    expect(said).to_contain_text("情感")
    expect(said).to_contain_text(best.inner_text())
    before = page.evaluate("heard.length")
    assert before < 4  # once, and not for each of eleven letters; a busy machine pauses, too
    box.press("Enter")  # the same answer again is heard again
    page.wait_for_function("before => heard.length > before", arg=before)
    page.locator("#clear").click()
    expect(said).to_have_text("")

    for tab, example, heard in (
        (CHINESE.entities.tab, "浙江大学", "个实体"),
        (CHINESE.reading.tab, "每人最多", CHINESE.reading.answer),
        (CHINESE.search.tab, "我搬家了", CHINESE.search.nearest),
    ):
        open_tab(page, tab)
        page.locator("[role=tabpanel]:visible .za-example", has_text=example).click()
        expect(said).to_contain_text(heard)


def test_the_header_may_come_after_the_tabs(open_demo: OpenDemo) -> None:
    page, late = open_demo(), []

    def when_a_tab_is_drawn(route: Route) -> None:
        page.locator("[role=tabpanel]").first.wait_for(state="attached")
        late.append(page.locator("h1").count())
        page.wait_for_timeout(300)
        route.continue_()

    page.route("**/HTML-*.js", when_a_tab_is_drawn)  # Gradio's code that draws the header
    page.reload()
    expect(page.locator("h1")).to_be_visible()
    assert late == [0]  # and no script failed, which the fixture checks


def test_other_machines_cannot_open_it(demo_url: str) -> None:
    assert demo_url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(demo_url) as answer:
        body = answer.read().decode()
    assert "fonts.googleapis.com" not in body


def test_a_seed_that_is_being_typed_is_no_error(open_demo: OpenDemo) -> None:
    page = open_tab(open_demo(), CHINESE.tokens.tab)
    seed = page.locator("#seed input[type=number]")
    for typed in ("", "150", "7"):
        seed.fill(typed)
        page.wait_for_timeout(500)
        expect(page.locator(".toast-body")).to_have_count(0)
    expect(page.locator("#tokens-result")).not_to_contain_text("错误")
    expect(seed).to_have_value("7")
