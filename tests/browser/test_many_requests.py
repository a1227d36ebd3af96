"""Many people at once, some of whom go away: the page's own addresses, asked without a browser."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

REQUESTS = 200
GO_AWAY = 5  # every fifth


def ask(page: str, text: str, *, stay: bool = True) -> str:
    """Ask what the button asks; return the panel, or "" if nobody waits for it.

    Each with a client of its own, as people have: in one that threads share, a connection can be
    closed by one thread while another reads from it.
    """
    with httpx.Client(base_url=f"{page}gradio_api/call/", timeout=120, verify=False) as client:
        asked = client.post("classify", json={"data": [text, "sentiment", None]}).raise_for_status()
        with client.stream("GET", f"classify/{asked.json()['event_id']}") as answer:
            if not stay:
                return ""
            lines = list(answer.iter_lines())
    assert "event: complete" in lines, lines
    (panel,) = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    return str(panel)


def without_times(panel: str) -> str:
    """Leave out how long the model took."""
    return re.sub(r"[\d.,]+ m?s\b", "", panel)


def test_two_hundred_at_once_get_their_own_answers(demo_url: str) -> None:
    """Each as if it had been asked alone, and those who go away keep nobody waiting."""
    texts = [f"第{n}次住这里，早餐很好，{'房间小' * (n % 7)}" for n in range(REQUESTS)]
    stay = [bool(n % GO_AWAY) for n in range(REQUESTS)]
    with ThreadPoolExecutor(REQUESTS) as people:
        asking = [
            people.submit(ask, demo_url, text, stay=stays)
            for text, stays in zip(texts, stay, strict=True)
        ]
        answers = [one.result() for one in asking]
    assert [text in answer for text, answer in zip(texts, answers, strict=True)] == stay
    for number in range(1, REQUESTS, 20):
        alone = ask(demo_url, texts[number])
        assert without_times(answers[number]) == without_times(alone)
