"""No answer is lost, or shown late, in a browser that has much to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.strings import CHINESE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]

_CLOSED_LATE = """
  const plain = window.fetch.bind(window);
  window.fetch = async (what, how) => {
    const response = await plain(what, how);
    if (!String(what.url ?? what).includes("queue/data")) return response;
    const reader = new TransformStream({
      async transform(bytes, on) {
        if (window.late && new TextDecoder().decode(bytes).includes('"close_stream"'))
          await new Promise((go) => setTimeout(go, 700));
        on.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(reader), response);
  };
"""

_TYPING_NUMBERED_LATE = """
  const plain = window.fetch.bind(window);
  window.fetch = async (what, how) => {
    const response = await plain(what, how);
    if (String(how?.body).includes('"data":["三","')) {
      window.joins = (window.joins || 0) + 1;
      if (window.joins === 1) await new Promise((go) => setTimeout(go, 700));
    }
    return response;
  };
"""


def test_what_is_asked_while_the_stream_of_answers_closes_is_answered(open_demo: OpenDemo) -> None:
    page = open_demo(script=_CLOSED_LATE)
    page.get_by_role("tab", name=CHINESE.pairs.tab).click()
    first, result = page.locator("#pairs-first textarea"), page.locator("#pairs-result")
    page.wait_for_timeout(1000)  # a page that opens asks for much; that shall not be late
    page.evaluate("window.late = true")
    for text in ("一", "二"):
        first.fill(text)
        page.wait_for_timeout(350)  # answered, but the page does not know that all was said
        first.press("Enter")
        expect(result.get_by_role("alert")).to_contain_text("要有两句话才能比较")
        first.fill("")
        expect(result.get_by_role("alert")).to_have_count(0)


def test_an_answer_whose_number_comes_late_is_not_shown_after_later_ones(
    open_demo: OpenDemo,
) -> None:
    page = open_demo(script=_TYPING_NUMBERED_LATE)
    page.get_by_role("tab", name=CHINESE.pairs.tab).click()
    first, result = page.locator("#pairs-first textarea"), page.locator("#pairs-result")
    first.fill("三")
    page.wait_for_timeout(350)  # answered, but the number of that event is still on its way
    first.press("Enter")
    expect(result.get_by_role("alert")).to_contain_text("要有两句话才能比较")
    page.wait_for_timeout(1000)
    expect(result.get_by_role("alert")).to_be_visible(timeout=1)
