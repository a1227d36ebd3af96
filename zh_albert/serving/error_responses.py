"""Error responses: ``{"error": "…"}``, with ``index`` if one of the texts is the cause."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from zh_albert.files.textio import encode_json


class Problem(BaseModel):
    """Body of an error response."""

    error: str
    index: int | None = None
    """Index of the text that caused the error, from 0; absent if none did."""


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response; lone surrogates are written as escapes."""
    return Response(encode_json(value), status, dict(headers or {}), "application/json")


def problem(
    status: int,
    message: str,
    *,
    index: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error response."""
    body = {"error": message} if index is None else {"error": message, "index": index}
    return json_response(body, status, headers)


def malformed(errors: Sequence[Mapping[str, Any]], example: Any) -> Response:
    """Return the response to a malformed body, with the first error that pydantic found.

    Args:
        errors: From ``RequestValidationError.errors()``.
        example: A valid body.
    """
    error = errors[0]
    place = error["loc"][1:]  # the first is always "body"
    hint = f"expected a body like {json.dumps(example, ensure_ascii=False)}"
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "")
        return problem(400, f"not JSON: {reason} at character {place[0]}; {hint}")
    unknown = error["type"] == "extra_forbidden"
    *place, name = place if unknown else (*place, "")
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    told = error["msg"][:1].lower() + error["msg"][1:]
    found = f"unknown field {name!r:.80}" if unknown else told
    index = next((part for part in place if isinstance(part, int)), None)
    return problem(422, f"{where.lstrip('.') or 'body'}: {found}; {hint}", index=index)
