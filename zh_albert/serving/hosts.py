"""Host names under which a server answers.

A web page can have its own name lead to 127.0.0.1 (DNS rebinding). The browser then takes a server
on this computer for a part of that page, but still sends the page's name as ``Host``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zh_albert.serving.error_responses import problem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANY = "*"
_HOST = re.compile(r"(?:\[(?P<address>[^\]]*)\]|(?P<name>[^:]*))(?::\d*)?")


class AllowedHosts:
    """Middleware that refuses requests to other hosts.

    Allowed are the names of this computer to itself, the address it listens at, and more names. A
    server that listens at every address (0.0.0.0, ::) can be asked by any address, but not by any
    name: an address cannot be led elsewhere.

    Args:
        app: The application.
        host: What the server listens at.
        more: Other names; "*" allows all.
    """

    def __init__(self, app: ASGIApp, host: str, more: Iterable[str] = ()) -> None:
        self._app = app
        self._names = {*LOOPBACK, *map(_plain, (host, *more))}
        self._any_address = host in ("", "0.0.0.0", "::")  # noqa: S104  (compared, not bound)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; see ``starlette.types.ASGIApp``."""
        if scope["type"] == "http":
            asked = Headers(scope=scope).get("host", "")
            if not self.allows(asked):
                shown = f"{asked:.80}"
                message = (
                    f"this server is not {shown!r}; ask it as 'localhost', or start it with "
                    "--allow-host NAME to give it another name"
                )
                await problem(421, message)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def allows(self, host: str) -> bool:
        """Return whether a ``Host`` header names this server; any port will do."""
        if ANY in self._names:
            return True
        parts = _HOST.fullmatch(host)
        if not parts:
            return False
        name = _plain(parts["address"] or parts["name"] or "")
        return name in self._names or (self._any_address and _is_address(name))


def _plain(name: str) -> str:
    """Return a name as it is compared: names have no case, and may end in a dot.

    >>> _plain("LocalHost."), _plain("[::1]")
    ('localhost', '::1')
    """
    return name.strip("[]").lower().removesuffix(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
