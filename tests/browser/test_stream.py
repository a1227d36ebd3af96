"""No answer is lost in a browser that has much to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.texts.languages import CHINESE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OpenDemo = Callable[..., Page]

_BUSY = """
  const plain = window.fetch.bind(window);
  window.fetch = async (what, how) => {
    const response = await plain(what, how);
    if (!String(what.url ?? what).includes("queue/data")) return response;
    const reader = new TransformStream({
      async transform(bytes, on) {
        if (new TextDecoder().decode(bytes).includes('"close_stream"'))
          await new Promise((go) => setTimeout(go, 700));
        on.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(reader), response);
  };
"""


def test_what_is_asked_while_the_stream_of_answers_closes_is_answered(open_demo: OpenDemo) -> None:
    page = open_demo(script=_BUSY)
    page.get_by_role("tab", name=CHINESE.pairs.tab).click()
    first, result = page.locator("#pairs-first textarea"), page.locator("#pairs-result")
    for text in ("一", "二"):
        first.fill(text)
        page.wait_for_timeout(350)  # answered, but the page does not know that all was said
        first.press("Enter")
        expect(result.get_by_role("alert")).to_contain_text("要有两句话才能比较", timeout=5000)
        first.fill("")
        expect(result.get_by_role("alert")).to_have_count(0)
