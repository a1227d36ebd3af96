"""Errors as a client sees them: ``{"error": "…"}``, with ``index`` if a text is to blame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from zh_albert.textio import encode_json


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str
    index: int | None = None
    """Which of the texts is to blame, from 0; missing if none is."""


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return JSON in which half a surrogate pair stays an escape."""
    return Response(encode_json(value), status, dict(headers or {}), "application/json")


def problem(
    status: int,
    message: str,
    *,
    index: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error."""
    body = {"error": message} if index is None else {"error": message, "index": index}
    return json_response(body, status, headers)


def malformed(errors: Sequence[Mapping[str, Any]], example: Any) -> Response:
    """Return what is wrong with a body, by the first error that pydantic found.

    Args:
        errors: As ``RequestValidationError.errors()`` gives them.
        example: A body that would do.
    """
    error = errors[0]
    place = error["loc"][1:]  # the first is always "body"
    hint = f"expected a body like {json.dumps(example, ensure_ascii=False)}"
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "")
        return problem(400, f"not JSON: {reason} at character {place[0]}; {hint}")
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    found = error["msg"][:1].lower() + error["msg"][1:]
    index = next((part for part in place if isinstance(part, int)), None)
    return problem(422, f"{where.lstrip('.') or 'body'}: {found}; {hint}", index=index)
