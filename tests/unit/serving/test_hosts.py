"""Names a server answers to."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from zh_albert.serving.hosts import AllowedHosts

APP = PlainTextResponse("here")


@pytest.mark.parametrize(
    ("listening", "more", "host", "allowed"),
    [
        ("127.0.0.1", [], "127.0.0.1:8000", True),
        ("127.0.0.1", [], "LOCALHOST.:8000", True),
        ("127.0.0.1", [], "[::1]:8000", True),
        ("127.0.0.1", [], "evil.example:8000", False),
        ("127.0.0.1", [], "localhost.evil.example", False),
        ("127.0.0.1", [], "127.0.0.1.evil.example", False),
        ("127.0.0.1", [], "evil.example@127.0.0.1", False),
        ("127.0.0.1", [], "192.168.1.5", False),
        ("127.0.0.1", [], "", False),
        ("192.168.1.5", [], "192.168.1.5:80", True),
        ("albert.lan", [], "albert.lan", True),
        ("0.0.0.0", [], "10.2.3.4:8000", True),  # an address cannot be led elsewhere
        ("::", [], "[fe80::1]:8000", True),
        ("0.0.0.0", [], "evil.example", False),
        ("0.0.0.0", ["albert"], "albert:8000", True),
        ("127.0.0.1", ["*"], "anything.example", True),
    ],
)
def test_only_known_hosts_are_answered(
    listening: str, more: list[str], host: str, allowed: bool
) -> None:
    client = TestClient(AllowedHosts(APP, listening, more))
    answered = client.get("/", headers={"Host": host})
    assert answered.status_code == (200 if allowed else 421)
    if not allowed:
        assert "--allow-host" in answered.json()["error"]
        assert "\n" not in answered.json()["error"]
