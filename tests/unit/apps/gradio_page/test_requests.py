"""What a page listens to ends without an error of the server once its session is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from apps.gradio_page.requests import UntilClosed


def client(status: int) -> TestClient:
    """Return one of a server that fails when it has said something already."""
    app = FastAPI()

    async def stream() -> AsyncIterator[str]:
        yield "data: 1\n\n"
        raise HTTPException(status)

    @app.get("/listen")
    async def listen() -> StreamingResponse:
        return StreamingResponse(stream())

    return TestClient(UntilClosed(app))


def test_a_session_that_is_gone_ends_the_answer() -> None:
    assert client(404).get("/listen").text == "data: 1\n\n"


def test_other_errors_are_still_told() -> None:
    with pytest.raises(RuntimeError, match="already started"):
        client(500).get("/listen")


def test_what_was_never_there_is_not_found() -> None:
    assert client(404).get("/nothing").status_code == 404
