"""What happens to a request before Gradio gets it, and to its answer: ASGI applications around it.

Gradio's own words, those of its upload box say, follow the browser's language, which it asks for
as soon as its scripts run. Here they follow the page's, so the page has to lie about the browser
before any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from apps.texts.languages import Language

_FIRST_SCRIPT = """<script>
  document.documentElement.lang = "{code}";
  Object.defineProperty(navigator, "language", {{get: () => "{code}"}});
  Object.defineProperty(navigator, "languages", {{get: () => ["{code}"]}});
</script>"""


class ByLanguage:
    """Hands ``/?lang=…`` on to the page of that language, and makes all of it speak that."""

    def __init__(self, app: Any, paths: Mapping[Language, str]) -> None:
        """Take the languages' paths; the first one is what the plain address shows."""
        self._app, self._paths = app, paths

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as ASGI asks for."""
        say = self._asked(scope) if scope["type"] == "http" else None
        if say:
            path = self._paths[say]
            # What is compressed cannot be added to.
            headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
            scope = {**scope, "path": path, "raw_path": path.encode(), "headers": headers}
            send = _Adding(send, _FIRST_SCRIPT.format(code=say.code).encode(), behind=b"<head>")
        await self._app(scope, receive, send)

    def _asked(self, scope: Any) -> Language | None:
        if scope["path"] == "/":
            asked = parse_qs(scope["query_string"].decode("latin-1")).get("lang", [])
            named = (one for one in self._paths if one.query in asked)
            return next(named, next(iter(self._paths)))
        return next((one for one, path in self._paths.items() if path == scope["path"]), None)


class _Adding:
    """Sends an answer with something more in the first part of its text."""

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
    """Ends what a page listens to once its session is gone, of which Gradio makes an error."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as ASGI asks for."""
        try:
            await self._app(scope, receive, send)
        except RuntimeError as error:  # "not found", said when the answer had begun
            if getattr(error.__cause__, "status_code", None) != 404:
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})
