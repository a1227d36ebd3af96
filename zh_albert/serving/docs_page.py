"""The page at ``/docs``: the models, the endpoints, and boxes to try requests in."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, Response

# Nothing is loaded from another host: the browser refuses to, whatever the page says.
_POLICY = (
    "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_page() -> Response:
    """Return the page, which reads ``/v1/models`` and ``/openapi.json`` in the browser."""
    return HTMLResponse(_page(), headers={"Content-Security-Policy": _POLICY})


@cache
def _page() -> str:
    return Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
