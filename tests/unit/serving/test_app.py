"""What a server says of its models when one of them fails."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.helpers.micro import save_micro_models
from zh_albert import load
from zh_albert.serving.app import create_app
from zh_albert.serving.batching import BatchingQueue
from zh_albert.serving.limits import Limits

BODY = {"texts": ["房间很干净"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_micro_models(tmp_path_factory.mktemp("models"))["classifier"])


def test_health_says_which_model_is_ready(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    good, hangs = load(folder), load(folder)
    go = threading.Event()
    stream = hangs.stream

    def waiting(contents: Iterable[Any]) -> Iterator[Any]:
        assert go.wait(30)
        yield from stream(contents)

    monkeypatch.setattr(hangs, "stream", waiting)
    app = create_app({"good": good, "hangs": hangs}, Limits(timeout_s=1.0))
    with TestClient(app) as client:
        assert client.get("/health").json()["models"] == {"good": True, "hangs": True}
        assert client.post("/v1/models/hangs/predict", json=BODY).status_code == 504
        health = client.get("/health")
        while health.status_code == 200:
            health = client.get("/health")
        assert health.status_code == 503
        assert health.json() == {
            "live": True,
            "ready": False,
            "models": {"good": True, "hangs": False},
        }
        assert client.post("/v1/models/good/predict", json=BODY).status_code == 200
        go.set()
        while health.status_code == 503:
            health = client.get("/health")
        assert health.json()["models"] == {"good": True, "hangs": True}


def test_a_dead_thread_is_an_answer_and_then_another_thread(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, died = BatchingQueue._answer, []

    def die_once(queue: BatchingQueue, pieces: Sequence[Any]) -> None:
        if not died:
            died.append(threading.get_ident())
            raise SystemExit
        answer(queue, pieces)

    monkeypatch.setattr(BatchingQueue, "_answer", die_once)
    with TestClient(create_app({"m": load(folder)}, Limits())) as client:
        failed = client.post("/v1/models/m/predict", json=BODY)
        assert (failed.status_code, failed.headers["Retry-After"]) == (503, "1")
        assert "try again" in failed.json()["error"]
        assert client.post("/v1/models/m/predict", json=BODY).status_code == 200
        assert client.get("/health").status_code == 200
