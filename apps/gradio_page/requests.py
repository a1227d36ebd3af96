"""ASGI applications around Gradio: they change requests, and the answers to them.

Gradio's own words, such as those of its upload box, follow the browser's language, which Gradio
reads as soon as its scripts run. Here they follow the page's language: a script before all others
overwrites what the browser reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from apps.i18n.page import PageStrings

_FIRST_SCRIPT = """<script>
  document.documentElement.lang = "{code}";
  Object.defineProperty(navigator, "language", {{get: () => "{code}"}});
  Object.defineProperty(navigator, "languages", {{get: () => ["{code}"]}});
</script>"""


class ByLanguage:
    """Show the page of the language that ``/?lang=…`` names, with Gradio's own words in it."""

    def __init__(self, app: Any, paths: Mapping[PageStrings, str]) -> None:
        """Take the path of each language; the plain address shows the first one."""
        self._app, self._paths = app, paths

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as ASGI asks for."""
        language = self._asked(scope) if scope["type"] == "http" else None
        if language:
            path = self._paths[language]
            # A compressed answer cannot be added to.
            headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
            scope = {**scope, "path": path, "raw_path": path.encode(), "headers": headers}
            send = _Adding(
                send, _FIRST_SCRIPT.format(code=language.code).encode(), behind=b"<head>"
            )
        await self._app(scope, receive, send)

    def _asked(self, scope: Any) -> PageStrings | None:
        if scope["path"] == "/":
            asked = parse_qs(scope["query_string"].decode("latin-1")).get("lang", [])
            codes = {one.lower().split("-")[0] for one in asked}  # "en-US" is "en"
            named = (one for one in self._paths if one.query in codes)
            return next(named, next(iter(self._paths)))
        return next((one for one, path in self._paths.items() if path == scope["path"]), None)


class _Adding:
    """Send an answer with an addition in the first part of its text."""

    def __init__(self, send: Any, more: bytes, *, behind: bytes) -> None:
        self._send, self._more, self._behind = send, more, behind
        self._start: Any = None  # kept back: its length depends on what follows

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start:
            body = message.get("body", b"")
            longer = body.replace(self._behind, self._behind + self._more, 1)
            headers = _longer_by(len(longer) - len(body), self._start["headers"])
            await self._send({**self._start, "headers": headers})
            self._start, message = None, {**message, "body": longer}
        await self._send(message)


def _longer_by(number: int, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [
        (name, str(int(value) + number).encode() if name == b"content-length" else value)
        for name, value in headers
    ]


class UntilClosed:
    """End the stream of a page whose session is gone, where Gradio raises an error."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as ASGI asks for."""
        try:
            await self._app(scope, receive, send)
        except RuntimeError as error:  # "not found", after the answer had begun
            if getattr(error.__cause__, "status_code", None) != 404:
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})
