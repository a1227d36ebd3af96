"""``zh-albert serve`` as clients see it: a real process, real requests."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.helpers.commands import Ran
from tests.helpers.micro import save_micro_models
from tests.helpers.same_answers import same
from tests.helpers.served import SCORES, Server, run_load, serving, slow_clients
from zh_albert import load
from zh_albert.serving.schemas import response_type

TEXTS: list[Any] = ["房间很干净,服务也好。", "太差了" * 30, "a\x00b 服务", "\ud83d坏", "<b>好</b> "]
GROUP = {"choices": ["房间", "服务"], "group": "一"}
ITEMS: dict[str, list[Any]] = {
    "classifier": TEXTS,
    "labeller": TEXTS,
    "regressor": TEXTS,
    "tagger": [*TEXTS, ""],
    "embedder": TEXTS,
    "encoder": ["去[MASK][MASK]散步", "[MASK]很好,[MASK]也好"],
    "pair": [{"text_a": text, "text_b": "服务好"} for text in TEXTS],
    "reader": [{"question": "哪里?", "context": text} for text in [*TEXTS, ""]],
    "chooser": [
        {"context": "今天下雨。", "question": "天气?", "choices": ["晴", "雨", "雪"]},
        {"context": "今天房间。", "question": "", **GROUP},
        {"context": "今天服务。", "question": "", **GROUP},
    ],
}
READY = {"live": True, "ready": True, "models": dict.fromkeys(ITEMS, True)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_micro_models(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(folders: dict[str, Path]) -> Iterator[Server]:
    with serving(*folders.values()) as running:
        yield running


@pytest.mark.parametrize("name", ITEMS)
def test_answers_are_those_of_predict(
    name: str,
    server: Server,
    folders: dict[str, Path],
    cli: Callable[..., Ran],
    tmp_path: Path,
) -> None:
    rows = [item if isinstance(item, dict) else {"text": item} for item in ITEMS[name]]
    predicted = cli("predict", folders[name], write_escaped(tmp_path / "rows.jsonl", rows)).out
    answered = server.post(name, {"texts": ITEMS[name]})
    assert answered.status_code == 200, answered.text
    assert answered.json() == {"answers": [json.loads(line) for line in predicted.splitlines()]}
    if "\ud83d" not in str(answered.json()):  # which pydantic would refuse
        response_type(load(str(folders[name])).row_type).model_validate(answered.json())


def test_a_reader_ranks_several_answers(
    server: Server, folders: dict[str, Path], cli: Callable[..., Ran], tmp_path: Path
) -> None:
    rows, wanted = write_escaped(tmp_path / "rows.jsonl", ITEMS["reader"]), (1, 3)

    def ask(top_k: int) -> Any:
        return server.post("reader", {"texts": ITEMS["reader"], "top_k": top_k}).json()["answers"]

    with ThreadPoolExecutor(8) as pool:  # at the same time, so that requests share batches
        answered = list(pool.map(ask, wanted * 4))
    for top_k, answers in zip(wanted * 4, answered, strict=True):
        predicted = cli("predict", folders["reader"], rows, "--top-k", top_k).out
        assert same([json.loads(line) for line in predicted.splitlines()], answers, SCORES)
    for wrong in (0, 101, 1.0, "3"):
        refused = server.post("reader", {"texts": ITEMS["reader"], "top_k": wrong})
        assert (refused.status_code, "top_k: input" in refused.text) == (422, True)


def write_escaped(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("sent", [0.5, 1.0])  # in the middle of the request; of the answer
def test_clients_that_go_away_change_nothing_for_others(server: Server, sent: float) -> None:
    expected = server.post("classifier", {"texts": TEXTS[:2]}).json()
    body = json.dumps({"texts": ["房间很好，服务太差" * 9] * 20}).encode()
    head = (
        "POST /v1/models/classifier/predict HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    request = head.encode() + body
    address = httpx.URL(server.url)
    for _ in range(10):
        with socket.create_connection((address.host, address.port)) as client:
            client.sendall(request[: int(sent * len(request))])
    assert server.post("classifier", {"texts": TEXTS[:2]}).json() == expected
    assert server.get("/health").json() == READY


def test_openapi_shows_each_model_with_an_example_that_works(server: Server) -> None:
    schema = server.get("/openapi.json").json()
    for model in server.get("/v1/models").json():
        body = schema["paths"][model["predict"]]["post"]["requestBody"]
        (example,) = body["content"]["application/json"]["schema"]["examples"]
        answered = httpx.post(server.url + model["predict"], json=example, trust_env=False)
        assert answered.status_code == 200, answered.text
        assert example == model["example"]
    assert len(schema["paths"]) == len(ITEMS) + 3


def test_the_docs_page_loads_nothing_from_elsewhere(server: Server) -> None:
    page = server.get("/docs")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert not re.search(r"(src|href|url|import)\W{1,4}(https?:)?//", page.text)
    linked = re.findall(r'(?:href|src)="(?!data:)([^"]+)"', page.text)
    for path in [*linked, *re.findall(r'"(v1/[^"]+)"', page.text)]:
        assert server.get(f"/{path}").status_code == 200


def test_another_host_is_refused(server: Server) -> None:
    for path in ("/v1/models", "/docs", "/health"):
        there = httpx.get(server.url + path, headers={"Host": "evil.example"}, trust_env=False)
        assert (there.status_code, list(there.json())) == (421, ["error"])
        assert "'evil.example'" in there.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "index", "says"),
    [
        (b"", 422, None, "expected a body like"),
        (b'{"texts": ["', 400, None, "not JSON"),
        (b'{"texts": ["\xb0\xa1"]}', 400, None, "UTF-8"),
        (b"[" * 100_000, 400, None, "nested"),
        (b'{"texts": [' + b"9" * 5000 + b"]}", 400, None, "JSON"),
        (b"null", 422, None, "expected a body like"),
        (b'["x"]', 422, None, "body"),
        (b'{"text": "x"}', 422, None, "texts: field required"),
        (b'{"texts": ["x"], "top_k": 2}', 422, None, "body: unknown field 'top_k'"),
        (b'{"texts": ["x"], "\\ud83d\\n": 2}', 422, None, "expected a body like"),
        (b'{"texts": []}', 422, None, "at least 1"),
        (b'{"texts": ["x", 7]}', 422, 1, "texts[1]: expected a string, found int"),
        (b'{"texts": ["x", null, 7]}', 422, 1, "found NoneType"),
        (b'{"texts": ["x", NaN]}', 422, 1, "found float"),
        (b'{"texts": ["x", " \\u0000"]}', 422, 1, "empty"),
        (json.dumps({"texts": ["x"] * 257}).encode(), 413, None, "256"),
        (json.dumps({"texts": ["x", "好" * 60_000]}).encode(), 413, 1, "60000"),
        (json.dumps({"texts": ["好" * 10_000_000]}).encode(), 413, None, "larger than"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_bad_bodies_get_a_clean_answer(
    body: bytes, status: int, index: int | None, says: str, server: Server
) -> None:
    path = f"{server.url}/v1/models/classifier/predict"
    headers = {"Content-Type": "application/json"}
    for content in (body, iter([body])):  # once with a length, once in chunks
        answered = httpx.post(path, content=content, headers=headers, timeout=60, trust_env=False)
        assert answered.status_code == status, answered.text
        assert says in answered.json()["error"]
        assert answered.json().get("index") == index
        assert "\n" not in answered.json()["error"]


@pytest.mark.parametrize(
    ("name", "item", "says"),
    [
        ("encoder", "没有", "[MASK]"),
        ("encoder", ("[MASK]" * 20 + "好") * 40, "the model would read"),
        ("pair", {"text_a": "好"}, "texts[0].text_b: field required"),
        ("pair", ["好", "坏"], "texts[0]"),
        ("reader", {"question": "", "context": "好"}, "texts[0]: the question"),
        ("chooser", {"context": "好", "question": "", "choices": ["好"]}, "at least 2"),
        ("chooser", {"context": "好" * 900, "question": "", "choices": ["好"] * 60}, "would read"),
    ],
)
def test_bad_items_name_their_index(name: str, item: Any, says: str, server: Server) -> None:
    answered = server.post(name, {"texts": [item]})
    assert answered.status_code in (413, 422)
    assert says in answered.json()["error"]
    assert answered.json()["index"] == 0


def test_wrong_addresses_methods_and_types(server: Server) -> None:
    nowhere = server.post("没有", {"texts": ["好"]})
    assert nowhere.status_code == 404
    assert "classifier, " in nowhere.json()["error"]
    assert server.get("/v1/models/classifier/predict").status_code == 405
    assert server.get("/../etc/passwd").status_code == 404
    form = httpx.post(
        f"{server.url}/v1/models/classifier/predict", data={"texts": "好"}, trust_env=False
    )
    assert form.status_code == 415
    packed = httpx.post(
        f"{server.url}/v1/models/classifier/predict",
        content=gzip.compress(b'{"texts": []}'),
        headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
        trust_env=False,
    )
    assert packed.status_code == 415
    assert packed.json()["error"] == "expected no Content-Encoding, found gzip"
    assert httpx.head(f"{server.url}/health", trust_env=False).status_code == 200
    assert server.get("/health").json() == READY


def test_twenty_clients_get_what_one_would(server: Server, folders: dict[str, Path]) -> None:
    names = ("classifier", "tagger", "reader", "pair", "chooser")
    before = server.metric("zh_albert_batch_texts_count", model="classifier")
    asked = run_load(
        server,
        {name: folders[name] for name in names},
        {name: ITEMS[name][:1] if name == "chooser" else ITEMS[name] for name in names},
        clients=20,
        seconds=4,
    )
    assert asked.wrong == []
    assert set(asked.statuses) == {200, 400, 422}
    assert asked.statuses[200] >= 20
    assert server.metric("zh_albert_batch_texts_count", model="classifier") > before
    counted = server.metric("zh_albert_requests_total", model="reader", status="200")
    assert 0 < counted <= asked.statuses[200] + 10
    for name in names:
        assert server.metric("zh_albert_waiting_characters", model=name) == 0
        assert server.metric("zh_albert_requests_total", model=name, status="500") == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fifty_clients_for_a_minute_leave_memory_flat(
    server: Server, folders: dict[str, Path]
) -> None:
    names = ("classifier", "tagger", "embedder")
    asked = run_load(
        server,
        {name: folders[name] for name in names},
        {name: ITEMS[name] for name in names},
        clients=50,
        seconds=60,
    )
    report = asked.report()
    assert asked.wrong == []
    assert report["lost"] == 0
    assert report["rss_last_mb"] < 1.1 * report["rss_first_mb"], report


@pytest.mark.slow
@pytest.mark.parametrize("open_files", [0, 256])
def test_three_hundred_slow_clients_hold_up_no_one(
    folders: dict[str, Path], open_files: int
) -> None:
    with (
        serving(folders["classifier"], "--timeout", 12, open_files=open_files) as server,
        slow_clients(server, "classifier", 300, wait_s=30) as slow,
    ):
        models = {"classifier": folders["classifier"]}
        asked = run_load(server, models, {"classifier": TEXTS}, clients=10, seconds=20)
    assert asked.wrong == []
    assert asked.report()["lost"] == 0
    assert asked.report()["p99_ms"] < 2000, asked.report()
    assert slow.open == 0, slow.report()
    assert set(slow.statuses) == {"408", "closed"}
    closed = slow.closed_s
    assert max(closed["silent"] + closed["half of the headers"]) < 10 + 5
    assert max(closed["a body"]) < 12 + 5


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_curl_example_of_the_docs_works(server: Server) -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.en.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```sh\n(curl .*?)```", page, flags=re.DOTALL)
    here = command.replace("http://127.0.0.1:8000", server.url).replace("sentiment", "classifier")
    answered = subprocess.run(["sh", "-c", here], capture_output=True, check=True).stdout
    (answer,) = json.loads(answered)["answers"]
    assert answer["label"] in ("positive", "negative", "neither")


LONG = {"texts": ["房间很干净,服务也好" * 240] * 128}  # seconds of work


def test_a_client_that_goes_away_leaves_the_queue(server: Server) -> None:
    def gone() -> float:
        return server.metric("zh_albert_requests_total", model="classifier", status="499")

    before = gone()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.url}/v1/models/classifier/predict",
            json=LONG,
            timeout=httpx.Timeout(60, read=0.3),
            trust_env=False,
        )
    for _ in range(600):
        if gone() > before:
            break
        time.sleep(0.1)
    assert gone() == before + 1
    assert server.metric("zh_albert_waiting_characters", model="classifier") == 0


def test_sigterm_ends_it_after_what_it_accepted(folders: dict[str, Path]) -> None:
    limits = ("--max-waiting", 350_000, "--timeout", 100)
    with serving(folders["classifier"], *limits) as server:
        got: list[httpx.Response] = []
        asking = threading.Thread(target=lambda: got.append(server.post("classifier", LONG)))
        asking.start()
        while not server.metric("zh_albert_waiting_characters", model="classifier"):
            time.sleep(0.02)
        full = server.post("classifier", {"texts": LONG["texts"][:20]})
        assert full.status_code == 503
        assert 1 <= int(full.headers["Retry-After"]) <= 60
        small = server.post("classifier", {"texts": ["好"]})
        assert small.status_code == 200
        assert not got  # a short request does not wait for all of a long one
        code, rest = server.ended(signal.SIGTERM)
        asking.join()
    assert (code, rest) == (0, "")
    assert got[0].status_code == 200
    assert len(got[0].json()["answers"]) == 128
    with pytest.raises(httpx.ConnectError):
        server.get("/health")


def test_all_clients_are_answered_before_the_end(folders: dict[str, Path]) -> None:
    body = {"texts": LONG["texts"][:12]}
    characters = sum(map(len, body["texts"]))
    with serving(folders["classifier"], "--timeout", 100) as server, ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(server.post, "classifier", body) for _ in range(8)]
        while server.metric("zh_albert_waiting_characters", model="classifier") < 7 * characters:
            time.sleep(0.02)
        assert server.ended(signal.SIGTERM) == (0, "")
        assert [len(one.result().json()["answers"]) for one in asking] == [12] * 8


def test_a_second_ctrl_c_ends_it_at_once(folders: dict[str, Path]) -> None:
    with serving(folders["classifier"]) as server, ThreadPoolExecutor(1) as pool:
        asking = pool.submit(server.post, "classifier", LONG)
        while not server.metric("zh_albert_waiting_characters", model="classifier"):
            time.sleep(0.02)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        code, said = server.ended(signal.SIGINT)
        assert code == 130, said
        assert isinstance(asking.exception(), httpx.HTTPError)


def test_what_takes_too_long_is_given_up(folders: dict[str, Path]) -> None:
    with serving(folders["classifier"], "--timeout", 0.5) as server:
        late = server.post("classifier", LONG)
        assert late.status_code == 504, late.text
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /v1/models/classifier/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
            )
            slow.settimeout(30)
            assert b" 408 " in slow.recv(4096)
        assert server.ended(signal.SIGINT) == (0, "")


def test_what_cannot_be_served_is_one_line(
    cli: Callable[..., Ran],
    folders: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = cli("serve", folders["pair"], "--port", port)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"port {port} cannot be used" in ran.err
    twice = cli("serve", folders["pair"], folders["pair"])
    assert twice.code == 2
    assert "another model is called 'pair'" in twice.err
    (tmp_path / "a b").mkdir()
    assert "rename the folder" in cli("serve", tmp_path / "a b").err
    assert "no such model" in cli("serve", "sentimant", "--port", 0).err
    monkeypatch.setitem(sys.modules, "fastapi", None)
    missing = cli("serve", folders["pair"])
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "pip install 'zh-albert[serve]'" in missing.err
