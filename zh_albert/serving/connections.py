"""Connections: limits on slow, idle and many clients, which uvicorn itself does not have.

uvicorn waits for the headers of a request without end, reads a body to its end after it was
answered, and takes any number of connections. Clients that send nothing, or a byte a second, would
hold them all; here they lose them, and requests that arrived as a whole never do.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from zh_albert.files.textio import encode_json
from zh_albert.serving.limits import Limits

_LINGER_S = 1.0  # to read an answer that came before the request's end
_LATE_S = 0.05  # before idle connections close at shutdown: what was sent already is still read
_CLOSING_S = 5.0  # at most, for the rest of a body at shutdown
_OTHER_FILES = 100  # open files beside the connections: models, libraries


class LimitedProtocol(H11Protocol):
    """A connection whose client may not be slow.

    - Headers have to arrive in ``Limits.headers_s``, else the answer is 408; a connection on which
      nothing was sent is closed. (``limits.Gate`` measures the time of bodies.)
    - One connection more than ``Limits.connections`` takes the place of the one that has waited the
      longest without a whole request. Where all wait for answers, the new one is answered 503.
    - An answer that comes before the request's end ends the reading.
    - At shutdown, incomplete requests have a few seconds left.
    """

    def __init__(self, *args: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._deadline: asyncio.TimerHandle | None = None
        self._since = self.loop.time()  # when its client last got an answer, or came
        self._gone = False  # its place is taken, though the system has not closed it yet

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or a slower client's place."""
        lingering: Any = _Lingering(transport, self)
        super().connection_made(lingering)
        self._watch()
        if len(self.connections) > self._limits.connections:
            self._make_room()

    def _make_room(self) -> None:
        others = [
            one
            for one in self.connections
            if isinstance(one, LimitedProtocol) and one is not self and not one._gone
        ]
        if len(others) < self._limits.connections:
            return
        slow = [one for one in others if not one.is_asked]
        if slow:
            min(slow, key=lambda one: one._since)._abort()
        else:
            message = f"{self._limits.connections} requests wait for their answers; try again later"
            self._refuse(503, message, (b"retry-after", b"1"))

    @property
    def is_asked(self) -> bool:
        """Whether a whole request waits for its answer."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def data_received(self, data: bytes) -> None:
        """Read what the client sent."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Note that the client has its answer."""
        self._since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._unwatch()

    def shutdown(self) -> None:
        """End the connection, after its answer if it is asked."""
        self.loop.call_later(_LATE_S, self._end)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (uvicorn's words)
        """Answer what is not HTTP."""
        self._refuse(400, "expected an HTTP request, with headers of 16 KiB at most")

    def _end(self) -> None:
        if self.transport.is_closing():
            return
        super().shutdown()
        if not self.is_asked:
            rest_s = min(_CLOSING_S, self._limits.timeout_s)
            self.loop.call_later(rest_s, self._abort_unless_asked)

    def _abort(self) -> None:
        self._gone = True
        self.transport.abort()

    def _abort_unless_asked(self) -> None:
        if not self.is_asked and not self.transport.is_closing():
            self._abort()

    def _watch(self) -> None:
        """Measure the time while headers are awaited."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._limits.headers_s, self._too_slow)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        if self.conn.trailing_data[0]:
            message = f"the headers did not arrive in {self._limits.headers_s:g} s"
            self._refuse(408, message)
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        """Answer a request that the application never sees, and close the connection."""
        if self.transport.is_closing():
            return
        body = encode_json({"error": message})
        about = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            CLOSE_HEADER,
        ]
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun already
            events = (
                h11.Response(status_code=status, headers=[*about, *headers]),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Lingering:
    """A transport that lets a client read an answer that came before its request's end.

    Closing at once would reset the connection, and what the client has not read yet may be lost.
    So the rest of the request stays unread, and the connection open for a moment.
    """

    def __init__(self, transport: asyncio.Transport, protocol: LimitedProtocol) -> None:
        self._transport, self._protocol = transport, protocol
        self._closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return whether it ends."""
        return self._closing or self._transport.is_closing()

    def close(self) -> None:
        """End the connection when its client has what was written."""
        if self.is_closing():
            return
        self._closing = True
        later = self._protocol.loop.call_later
        if self._protocol.conn.their_state is h11.SEND_BODY:
            self._transport.pause_reading()
            later(_LINGER_S, self._transport.close)
            with contextlib.suppress(OSError):  # the client has gone
                self._transport.write_eof()
        else:
            self._transport.close()
        if self._transport.get_write_buffer_size():  # a client that does not read
            later(self._protocol._limits.timeout_s, self._transport.abort)


class CloseUnread:
    """Middleware that closes a connection whose request was answered before its end.

    The header tells the client, and has uvicorn close instead of reading on.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; see ``starlette.types.ASGIApp``."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        names = {name for name, _ in scope["headers"]}
        unread = bool(names & {b"content-length", b"transfer-encoding"})

        async def reading() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            return message

        async def closing(message: Message) -> None:
            if unread and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], CLOSE_HEADER]}
            await send(message)

        await self._app(scope, reading, closing)


def connections_that_fit(wanted: int) -> int:
    """Return how many connections the limit on open files allows; it is raised where it may be."""
    if sys.platform == "win32":
        return wanted
    import resource  # noqa: PLC0415  (Windows has none)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    if hard == resource.RLIM_INFINITY or hard > soft:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):  # the system may have a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return max(1, min(wanted, soft - _OTHER_FILES))
