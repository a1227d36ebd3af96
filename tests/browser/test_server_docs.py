"""The server's page at /docs in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.helpers.micro import save_micro_models
from tests.helpers.served import serving

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_requests_can_be_tried_and_nothing_comes_from_elsewhere(
    window: Browser, tmp_path: Path
) -> None:
    models = save_micro_models(tmp_path)
    with serving(models["classifier"], models["pair"]) as server:
        page = window.new_page()
        urls: list[str] = []
        wrong: list[str] = []
        page.on("request", lambda request: urls.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.goto(f"{server.url}/docs")
        model = page.locator("section", has_text="pair/predict")
        model.get_by_role("button").click()
        expect(model.locator("pre").last).to_contain_text('200\n{\n  "answers": [')
        assert not wrong
        model.get_by_role("textbox").fill('{"texts": ["<img src=x onerror=alert(1)>"]}')
        expect(model.locator("pre").first).to_contain_text("<img src=x")
        model.get_by_role("button").click()
        expect(model.locator("pre").last).to_contain_text("422")
        expect(page.locator("#endpoints")).to_contain_text("/v1/models/classifier/predict")
        expect(page.locator("#errors")).to_contain_text("The queue is full")
        assert page.locator("img, script[src], link[href^=http]").count() == 0
        assert all(url.startswith((server.url, "data:")) for url in urls), urls
        page.close()
