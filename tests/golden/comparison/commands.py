"""The answers of models, asked on the command line and over HTTP."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.golden.comparison.checkout import (
    COMMAND_LINE,
    Checkout,
    Comparison,
    ComparisonError,
    Result,
)
from tests.golden.comparison.texts import Inputs, as_row

_STARTS_S = 300  # that a server may take to open all models
_TOGETHER = 32  # texts of a request
_THREADS = {"masks": 1}  # of ``predict``; elsewhere two, so that batches run side by side
_ALL_FORMS = ("sentiment", "ner", "reader", "similarity")


def predictions(
    checkout: Checkout, models: Mapping[str, str], inputs: Inputs, *, quick: bool
) -> Iterator[Comparison]:
    """Run ``zh-albert predict`` for each model on JSON Lines, for some also on other forms.

    Args:
        checkout: Whose command.
        models: By name, each with the kind of what it is asked.
        inputs: See there.
        quick: Some of the models, JSON Lines only.
    """
    for name, kind in models.items():
        if quick and name not in _ALL_FORMS:
            continue
        threads = _THREADS.get(kind, 2)
        asked = getattr(inputs, kind)
        rows = [as_row(kind, one) for one in asked]
        forms: list[tuple[str, list[str], tuple[str, ...]]] = [
            ("jsonl", [json.dumps(row) for row in rows], ())
        ]
        if name in _ALL_FORMS and not quick:
            plain = [row for row in rows if all(_is_plain(text) for text in row.values())]
            forms.append(("txt", ["\t".join(row.values()) for row in plain], ()))
            forms.append(("csv", _csv_rows(rows[:200]), ()))
        if kind == "questions" and not quick:
            lines = [json.dumps(row) for row in rows[:60]]
            forms.append(("jsonl", lines, ("--top-k", "4")))
        for form, lines, options in forms:
            yield _predicted(checkout, name, form, lines, options, threads=threads)


def _is_plain(text: str) -> bool:
    """Say whether a line of a text file can hold it."""
    return not re.search("[\ud800-\udfff\n\r\t]", text)


def _csv_rows(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a table's rows, quoted: cells may hold the ends of lines."""
    rows = [row for row in rows if not re.search("[\ud800-\udfff\x00]", "".join(row.values()))]
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), quoting=csv.QUOTE_ALL, lineterminator="")
    parts = []
    for write in (writer.writeheader, *(lambda row=row: writer.writerow(row) for row in rows)):
        write()
        parts.append(table.getvalue())
        table.seek(0)
        table.truncate()
    return parts


def _predicted(
    checkout: Checkout,
    model: str,
    form: str,
    lines: Sequence[str],
    options: Sequence[str],
    *,
    threads: int,
) -> Comparison:
    file = checkout.folder / f"asked.{form}"
    file.write_bytes("".join(f"{line}\n" for line in lines).encode())
    command = (*COMMAND_LINE, "predict", model, file.name, *options)
    printed = checkout.run(command, threads=threads).decode().removesuffix("\n").split("\n")
    shown = lines[1:] if form == "csv" else lines
    if len(printed) != len(shown):
        raise ComparisonError(f"{model}, {form}: {len(shown)} asked, {len(printed)} lines printed")
    results = [Result(line[:160], row) for line, row in zip(shown, printed, strict=True)]
    return Comparison(f"{model}, predict {' '.join((form, *options))}", results)


class Server:
    """``zh-albert serve`` on a free port; a context."""

    def __init__(self, checkout: Checkout, models: Sequence[str]) -> None:
        self._checkout, self._models = checkout, models

    def __enter__(self) -> Server:
        command = (*COMMAND_LINE, "serve", *self._models, "--port", "0")
        self._process = self._checkout.start(command)
        assert self._process.stderr is not None
        stop = threading.Timer(_STARTS_S, self._process.kill)
        stop.start()
        told = b""
        while not (address := re.search(rb"http://([\d.]+):(\d+)", told)):
            line = self._process.stderr.readline()
            if not line:
                self._process.kill()
                raise ComparisonError(f"{self._checkout.root}: serve: {told.decode()[-2000:]}")
            told += line
        stop.cancel()
        threading.Thread(target=self._process.stderr.read, daemon=True).start()
        self._connection = HTTPConnection(address[1].decode(), int(address[2]), timeout=300)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        finally:
            self._process.kill()

    def answer(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        content = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json"} if content else {}
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def predict(self, model: str, texts: Sequence[Any]) -> Result:
        """Ask a model; the result is the status and the body, byte for byte."""
        path = f"/v1/models/{model}/predict"
        status, body = self.answer("POST", path, {"texts": texts})
        return Result(json.dumps(texts)[:160], f"{status} {body.decode()}")


def served(
    checkout: Checkout, models: Mapping[str, str], inputs: Inputs, *, texts: int
) -> Iterator[Comparison]:
    """Ask a server that has all models for some of the texts, many at a time and one by one.

    Args:
        checkout: Whose server.
        models: By name, each with the kind of what it is asked.
        inputs: See there.
        texts: How many each model is asked.
    """
    with Server(checkout, list(models)) as server:
        status, body = server.answer("GET", "/v1/models")
        yield Comparison("served models", [Result("GET /v1/models", f"{status} {body.decode()}")])
        for name, kind in models.items():
            asked = getattr(inputs, kind)
            rows = [as_row(kind, one) for one in asked[:: max(1, len(asked) // texts)]]
            texts_sent = [row["text"] if row.keys() == {"text"} else row for row in rows]
            results, good = [], []
            for text in texts_sent:
                results.append(server.predict(name, [text]))
                if results[-1].found.startswith("200 "):
                    good.append(text)
            # Of a request with a text that has no answer all is refused.
            starts = range(0, len(good), _TOGETHER)
            together = [good[start : start + _TOGETHER] for start in starts]
            results += [server.predict(name, sent) for sent in (*together, texts_sent)]
            yield Comparison(f"{name}, served", results)


def library_plan(folder: Path, models: Sequence[Mapping[str, Any]], inputs: Inputs) -> Path:
    """Write what ``answers.py`` is to ask."""
    path = folder / "plan.json"
    path.write_text(json.dumps({"models": models, "inputs": inputs._asdict()}), encoding="utf-8")
    return path


def library_answers(checkout: Checkout, plan: Path) -> Iterator[Comparison]:
    """Run ``answers.py`` and yield its comparisons as they come.

    Raises:
        ComparisonError: If it fails.
    """
    process = checkout.start([Path(__file__).with_name("answers.py"), plan])
    assert process.stdout is not None
    assert process.stderr is not None
    told: list[bytes] = []
    reader = threading.Thread(target=lambda: told.append(process.stderr.read()))  # type: ignore[union-attr]
    reader.start()
    for line in process.stdout:
        name, answers = json.loads(line)
        yield Comparison(name, [Result(*answer) for answer in answers])
    reader.join()
    if process.wait():
        raise ComparisonError(f"{checkout.root}: answers: {b''.join(told).decode()[-2000:]}")
