"""Limits of requests, and the middleware that stops reading a body at its limit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zh_albert.serving.error_responses import problem


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one request, and of all waiting requests together.

    Characters are those the model reads; see ``Predictor.characters``.
    """

    texts: int = 256  # per request
    characters: int = 50_000  # per text
    body_bytes: int = 2 << 20
    waiting: int = 1_000_000  # characters per model, accepted and not yet answered
    timeout_s: float = 60.0  # for the body to arrive, and again for the answers
    headers_s: float = 10.0  # for the headers to arrive
    connections: int = 512  # of all clients; a body of each fits into a gigabyte


class Gate:
    """Reject bodies that are not JSON, too large or too slow, before they are read completely."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; see ``starlette.types.ASGIApp``."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        coding = headers.get("content-encoding", "identity").strip().lower()
        length = headers.get("content-length", "0")
        if kind != "application/json":
            found = kind or "none"
            answer = problem(415, f"expected Content-Type: application/json, found {found:.80}")
            await answer(scope, receive, send)
        elif coding != "identity":
            answer = problem(415, f"expected no Content-Encoding, found {coding:.80}")
            await answer(scope, receive, send)
        elif not length.isdecimal() or int(length[:20]) > self._limits.body_bytes:
            await problem(413, self._too_large())(scope, receive, send)
        else:
            await self._app(scope, self._counted(receive), send)

    def _too_large(self) -> str:
        return (
            f"the body is larger than {self._limits.body_bytes} bytes; send fewer texts at a time"
        )

    def _counted(self, receive: Receive) -> Receive:
        count, complete = 0, False
        deadline = time.monotonic() + self._limits.timeout_s

        async def counted() -> Message:
            nonlocal count, complete
            if complete:  # the next message is the client's disconnect
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), deadline - time.monotonic())
            except TimeoutError:
                seconds = self._limits.timeout_s
                raise HTTPException(408, f"the body did not arrive in {seconds:g} s") from None
            count += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if count > self._limits.body_bytes:
                raise HTTPException(413, self._too_large())
            return message

        return counted
