"""Who may send something to the page, and how much.

Gradio takes a POST from any web page that a browser on this computer shows, files of any kind, and
any number of them.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.responses import PlainTextResponse

from apps.gradio_page.environment import HOST
from apps.i18n.notice import Notice
from apps.i18n.page import PageStrings
from apps.tables import KINDS
from zh_albert.serving.hosts import AllowedHosts

MIB = 1 << 20
SWEPT_S, KEPT_S = 600, 7200  # Gradio removes files this often, and those that are this old
_FILE_BYTES = 256 * MIB  # more than the tabs take, so that they refuse a file and say why
_EVENT_BYTES = 8 * MIB  # of what is no file: the texts of an event
_COOKIE = "za-session"


class UploadQuota:
    """Count uploaded bytes until their files are removed.

    Args:
        session: Limit on the bytes of a session.
        total: Limit on the bytes of all together.
        now: The time in seconds.
    """

    def __init__(
        self,
        session: int = 512 * MIB,
        total: int = 2048 * MIB,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session, self.total, self._now = session, total, now
        self._taken: deque[tuple[float, str, int]] = deque()

    def refusal(self, strings: PageStrings, session: str, size: int) -> Notice | None:
        """Take a number of bytes, or return why they are too many."""
        while self._taken and self._taken[0][0] < self._now() - KEPT_S - SWEPT_S:
            self._taken.popleft()
        mine = sum(count for _, owner, count in self._taken if owner == session)
        everything = sum(count for _, _, count in self._taken)
        if mine + size > self.session:
            return strings.tables.quota.filled(limit=self.session // MIB)
        if everything + size > self.total:
            return strings.tables.page_full
        self._taken.append((self._now(), session, size))
        return None

    def give_back(self, session: str, size: int) -> None:
        """Count an upload no longer, whose files were removed at once."""
        for taken in reversed(self._taken):
            if taken[1:] == (session, size):
                self._taken.remove(taken)
                return


class OwnPageOnly:
    """Refuse requests of other pages, and uploads of other kinds or beyond the quota.

    A refusal is one line in the language of the page that asked.

    Args:
        app: The application.
        paths: The path of each language.
        quota: Of uploads.
    """

    def __init__(self, app: Any, paths: Mapping[PageStrings, str], quota: UploadQuota) -> None:
        self._app, self._paths, self._quota = app, paths, quota
        self._hosts = AllowedHosts(app, HOST)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as ASGI asks for."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        strings = self._language(scope["path"])
        session = _session_of(headers)
        refused = self._refusal(scope["method"], headers, strings, session)
        if refused:
            await _told(strings, *refused)(scope, receive, send)
        elif scope["method"] != "POST":
            await self._app(scope, receive, send if session else _welcoming(send))
        elif boundary := _boundary(headers):
            if await self._uploaded(scope, receive, send, strings, boundary):
                self._quota.give_back(session, int(headers["content-length"]))
        else:
            await self._app(scope, receive, send)

    def _language(self, path: str) -> PageStrings:
        first, *others = self._paths
        return next((one for one in others if path.startswith(self._paths[one])), first)

    def _refusal(
        self, method: str, headers: Headers, strings: PageStrings, session: str
    ) -> tuple[int, Notice] | None:
        """Return the status and the reason why a request is refused before its body is read."""
        host = headers.get("host", "")
        if not self._hosts.allows(host):
            return 421, strings.other_host.filled(host=f"{host:.80}")
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        # A browser names the page that asks; programs name none.
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, strings.other_page.filled(origin=f"{origin:.80}")
        if "content-length" not in headers:  # browsers always send it
            return 411, strings.no_length
        size = int(headers["content-length"])  # uvicorn has checked it
        limit = _FILE_BYTES if _boundary(headers) else _EVENT_BYTES
        if size > limit:
            limits = {"size": f"{size / MIB:,.0f}", "limit": f"{limit / MIB:,.0f}"}
            return 413, strings.tables.too_large.filled(**limits)
        if _boundary(headers):
            notice = self._quota.refusal(strings, session, size)
            return (413, notice) if notice else None
        return None

    async def _uploaded(
        self, scope: Any, receive: Any, send: Any, strings: PageStrings, boundary: bytes
    ) -> bool:
        """Hand an upload on; return whether a file is of a kind that is not read, which ends it."""
        names = _FileNames(boundary)

        async def watched() -> Any:
            message = await receive()
            names.read(message.get("body", b""))
            if names.wrong is not None:
                raise MultiPartException("another kind of file")  # Gradio removes what it has
            return message

        async def told(message: Any) -> None:
            if names.wrong is None:
                await send(message)

        await self._app(scope, watched, told)
        if names.wrong is not None:
            notice = strings.tables.other_kind.filled(name=names.wrong[-80:])
            await _told(strings, 415, notice)(scope, receive, send)
        return names.wrong is not None


class _FileNames:
    """Find the names of files in an upload that passes by.

    Attributes:
        wrong: The first one of a kind that no tab reads.
    """

    def __init__(self, boundary: bytes) -> None:
        self.wrong: str | None = None
        self._name = self._value = b""
        self._parser: Any = MultipartParser(
            boundary,
            {
                "on_header_field": self._on_name,
                "on_header_value": self._on_value,
                "on_header_end": self._on_end,
            },
        )

    def read(self, data: bytes) -> None:
        """Read the next bytes; of what is no upload Gradio says so."""
        try:
            self._parser.write(data)
        except ValueError as error:
            raise MultiPartException(str(error)) from None

    def _on_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            if b"filename" in options:
                name = options[b"filename"].decode("utf-8", "replace")
                if self.wrong is None and Path(name).suffix.lower() not in KINDS:
                    self.wrong = name
        self._name = self._value = b""


def _boundary(headers: Headers) -> bytes:
    """Return what separates the files of an upload; empty for another request."""
    kind, options = parse_options_header(headers.get("content-type", ""))
    return options.get(b"boundary", b"-") if kind == b"multipart/form-data" else b""


def _session_of(headers: Headers) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _welcoming(send: Any) -> Any:
    """Give a browser the name of its session with the first answer."""
    cookie = f"{_COOKIE}={secrets.token_urlsafe(16)}; Path=/; HttpOnly; SameSite=Strict"

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            named = (b"set-cookie", cookie.encode())
            message = {**message, "headers": [*message.get("headers", []), named]}
        await send(message)

    return sending


def _told(strings: PageStrings, status: int, notice: Notice) -> PlainTextResponse:
    return PlainTextResponse(strings.line(notice), status)
