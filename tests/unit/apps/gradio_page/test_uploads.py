"""What may be sent to the page: from where, of which kind, and how much."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.formparsers import MultiPartException
from starlette.responses import JSONResponse, Response

from apps.gradio_page.uploads import MIB, OwnPageOnly, UploadQuota
from apps.i18n.page import CHINESE, ENGLISH

HERE = "http://127.0.0.1:7860"
PATHS = {CHINESE: "/", ENGLISH: "/en/"}


def page(quota: UploadQuota | None = None) -> TestClient:
    """Return a client of an application that answers with the names of uploaded files."""
    app = FastAPI()

    @app.post("/gradio_api/upload")
    @app.post("/en/gradio_api/upload")
    async def upload(request: Request) -> Any:
        try:
            async with request.form() as form:
                files = [one for one in form.getlist("files") if not isinstance(one, str)]
                return JSONResponse({one.filename: (await one.read()).decode() for one in files})
        except MultiPartException:
            return Response(status_code=400)

    @app.api_route("/", methods=["GET", "POST"])
    async def other() -> str:
        return "here"

    return TestClient(OwnPageOnly(app, PATHS, quota or UploadQuota()), base_url=HERE)


def upload(client: TestClient, *names: str, path: str = "/gradio_api/upload", **how: Any) -> Any:
    files = [("files", (name, f"text\n{name}\n".encode())) for name in names]
    return client.post(path, files=files, **how)


def test_the_page_itself_and_programs_may_send() -> None:
    client = page()
    names = ("评论.csv", "b.JSONL", "c.xlsx", "d.tsv", "e.json")
    expected = {name: f"text\n{name}\n" for name in names}
    for headers in ({}, {"Origin": HERE}):
        assert upload(client, *expected, headers=headers).json() == expected
        assert client.post("/", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://127.0.0.1:8888", "http://localhost:7860", "null", "http://["],
)
def test_other_pages_may_not(origin: str) -> None:
    client = page()
    for answer in (
        upload(client, "t.csv", headers={"Origin": origin}),
        client.post("/", json={}, headers={"Origin": origin}),
    ):
        assert answer.status_code == 403
        assert answer.text.startswith(f"请求来自别的网页（{origin}）。")
    english = upload(client, "t.csv", path="/en/gradio_api/upload", headers={"Origin": origin})
    assert (
        english.text == f"The request comes from another page ({origin}). Use the demo's own page."
    )


def test_other_hosts_are_refused() -> None:
    answer = page().get("/", headers={"Host": "evil.example:7860"})
    assert answer.status_code == 421
    assert answer.text == "这个演示的地址不是“evil.example:7860”。请用启动时显示的地址打开。"


@pytest.mark.parametrize(
    "names", [["a.exe"], ["a.csv", "b.html"], ["a.csv.gz"], ["csv"], ["a.csv/../b"]]
)
def test_only_files_that_a_tab_reads_are_taken(names: list[str]) -> None:
    answer = upload(page(), *names)
    assert answer.status_code == 415
    assert answer.text.startswith("只能读 .xlsx、.csv、")
    assert names[-1] in answer.text
    assert "\n" not in answer.text


def test_what_is_too_large_is_not_read() -> None:
    client = page()

    def told(size: int, kind: str) -> Any:
        headers = {"Content-Length": str(size), "Content-Type": kind}
        return client.post("/gradio_api/upload", content=b"", headers=headers)

    large = told(300 * MIB, "multipart/form-data; boundary=b")
    assert large.status_code == 413
    assert large.text.startswith("文件有 300 MB，这一页最多收 256 MB。")
    assert told(9 * MIB, "application/json").status_code == 413
    endless = client.post("/gradio_api/upload", content=iter([b"x"]))
    assert endless.status_code == 411


def test_a_session_has_a_quota_that_comes_back() -> None:
    time = [0.0]
    quota = UploadQuota(session=10 * MIB, total=15 * MIB, now=lambda: time[0])
    assert quota.refusal(CHINESE, "a", 6 * MIB) is None
    refused = quota.refusal(CHINESE, "a", 6 * MIB)
    assert refused
    assert "最多上传 10 MB" in refused.problem
    assert quota.refusal(CHINESE, "b", 6 * MIB) is None
    assert quota.refusal(ENGLISH, "c", 6 * MIB) == ENGLISH.tables.page_full
    time[0] = 7801.0
    assert quota.refusal(CHINESE, "a", 6 * MIB) is None


def test_a_refused_kind_does_not_count() -> None:
    client = page(UploadQuota(session=1000))
    assert [upload(client, "a.exe").status_code for _ in range(9)] == [415] * 9
    assert upload(client, "t.csv").status_code == 200


def test_each_browser_is_a_session() -> None:
    quota = UploadQuota(session=1000, total=10_000)
    first, second = page(quota), page(quota)
    for client in (first, second):
        welcome = client.get("/").headers["set-cookie"]
        assert "HttpOnly" in welcome
        assert "SameSite=strict" in welcome.replace("Strict", "strict")
        assert "set-cookie" not in client.get("/").headers
        assert upload(client, "t.csv", path="/gradio_api/upload").status_code == 200
    spent = [upload(first, "a" * 200 + ".csv").status_code for _ in range(5)]
    assert spent[-1] == 413
    assert upload(second, "t.csv").status_code == 200
