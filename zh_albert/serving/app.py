"""The HTTP interface: a typed endpoint for each model, health, metrics, OpenAPI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from fastapi import Body, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import PlainTextResponse

from zh_albert.serving.batching import (
    BadTextError,
    BatchingQueue,
    Job,
    QueueFullError,
    WorkerError,
)
from zh_albert.serving.docs_page import docs_page
from zh_albert.serving.error_responses import Problem, json_response, malformed, problem
from zh_albert.serving.limits import Gate, Limits
from zh_albert.serving.metrics import Measured, Metrics
from zh_albert.serving.schemas import request_type, response_type
from zh_albert.tasks.predictor import AnyPredictor

_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in {
        400: "The body is not JSON.",
        408: "The body did not arrive in time.",
        413: "Too many texts, one too long, or the body too large.",
        415: "The content type is not JSON.",
        421: "The request is to another host.",
        422: "The body has another form, or a text cannot be answered.",
        503: "The queue is full, or the model failed; Retry-After gives the time to try again.",
        504: "Not answered in time.",
    }.items()
}


class Model(BaseModel):
    """A served model."""

    name: str
    kind: str
    predict: str
    """Path of its prediction endpoint."""
    example: Any
    """An example of a request body."""
    facts: dict[str, Any]
    """The contents of its model card: data, scores."""


class Health(BaseModel):
    """Liveness and readiness of the server."""

    live: bool
    ready: bool
    """Whether all models are."""
    models: dict[str, bool]
    """Name of each model → whether it answers requests now."""


def create_app(models: Mapping[str, AnyPredictor], limits: Limits) -> FastAPI:
    """Create the application; its threads start with it and end at shutdown.

    Args:
        models: The models by the name in their address.
        limits: Limits on every request.
    """
    metrics = Metrics()
    queues: dict[str, BatchingQueue] = {}

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        for name, predictor in models.items():
            queue = BatchingQueue(
                predictor,
                max_waiting=limits.waiting,
                stuck_after_s=limits.timeout_s,
                on_batch=metrics.batches.labels(name).observe,
            )
            metrics.waiting.labels(name).set_function(partial(_waiting, queue))
            queues[name] = queue
        yield
        for queue in queues.values():
            await asyncio.to_thread(queue.close)

    app = FastAPI(
        title="zh-albert",
        version=version("zh-albert"),
        summary="Chinese ALBERT models",
        lifespan=running,
        docs_url=None,  # FastAPI's pages load scripts from another host; ours is in docs_page
        redoc_url=None,
    )
    paths = {_path(name): name for name in models}
    examples = {_path(name): {"texts": [one.form.example]} for name, one in models.items()}
    app.add_middleware(Gate, limits=limits)
    app.add_middleware(Measured, metrics=metrics, models=paths)
    _add_errors(app, examples)
    for name, predictor in models.items():
        _add_model(app, name, predictor, queues, limits)

    @app.post("/v1/models/{name}/predict", include_in_schema=False)
    async def unknown(name: str) -> Response:
        known = ", ".join(models)
        return problem(404, f"no model {name!r:.80} is served here; there are: {known}")

    @app.get("/v1/models", summary="The models that are served")
    async def listed() -> list[Model]:
        return [
            Model(
                name=name,
                kind=predictor.kind,
                predict=_path(name),
                example=examples[_path(name)],
                facts=predictor.metadata,
            )
            for name, predictor in models.items()
        ]

    @app.head("/health", include_in_schema=False)  # what some probes ask for
    @app.get(
        "/health",
        summary="Whether it lives, and is ready for requests",
        response_model=Health,
        responses={503: {"model": Health}},
    )
    async def health() -> Response:
        ready = {name: name in queues and queues[name].alive for name in models}
        state = Health(live=True, ready=all(ready.values()), models=ready)
        return json_response(state.model_dump(), 200 if state.ready else 503)

    @app.get("/docs", include_in_schema=False)
    async def page() -> Response:
        return docs_page()

    @app.get("/metrics", summary="What Prometheus reads", response_class=PlainTextResponse)
    async def told() -> Response:
        text = generate_latest(metrics.registry)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return app


def _path(name: str) -> str:
    return f"/v1/models/{name}/predict"


def _waiting(queue: BatchingQueue) -> float:
    return queue.waiting


def _add_errors(app: FastAPI, examples: Mapping[str, Any]) -> None:
    """Register handlers that give every error the same form."""

    @app.exception_handler(RequestValidationError)
    async def wrong_form(request: Request, error: RequestValidationError) -> Response:
        return malformed(error.errors(), examples[request.scope["path"]])

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> Response:
        message = error.detail
        if error.status_code == 400:  # raised by FastAPI where json.loads fails with another error
            message = "the body is not JSON in UTF-8, or nested too deeply"
        elif error.status_code == 404:
            path = request.scope["path"]
            message = f"nothing is at {path!r:.80}; /docs and /openapi.json list the paths"
        elif error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "")
            message = f"expected the method {allowed}, found {request.method}"
        return problem(error.status_code, message, headers=error.headers)

    @app.exception_handler(QueueFullError)
    async def full(_: Request, error: QueueFullError) -> Response:
        return problem(503, str(error), headers={"Retry-After": str(error.retry_after_s)})

    @app.exception_handler(WorkerError)
    async def died(_: Request, error: WorkerError) -> Response:
        return problem(503, str(error), headers={"Retry-After": "1"})

    @app.exception_handler(BadTextError)
    async def bad_text(_: Request, error: BadTextError) -> Response:
        return problem(422, str(error), index=error.index)

    @app.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> Response:
        return problem(500, "the server failed; see its log")


def _add_model(
    app: FastAPI,
    name: str,
    predictor: AnyPredictor,
    queues: Mapping[str, BatchingQueue],
    limits: Limits,
) -> None:
    form = predictor.form
    asked = Body(examples=[{"texts": [form.example]}])

    async def predict(request: Request, body: Any = asked) -> Response:
        if len(body.texts) > limits.texts:
            found = f"found {len(body.texts)}; send them in several requests"
            return problem(413, f"texts: expected {limits.texts} at most, {found}")
        contents = [form.content(item) for item in body.texts]
        characters = [predictor.characters(content) for content in contents]
        for index, count in enumerate(characters):
            if count > limits.characters:
                what = f"the model would read {count} characters, {limits.characters} are allowed"
                return problem(413, f"texts[{index}]: {what}; cut the text", index=index)
        if sum(characters) > limits.waiting:
            what = f"the model would read {sum(characters)} characters"
            return problem(413, f"texts: {what}, {limits.waiting} are allowed; send fewer texts")
        options = {"top_k": body.top_k} if predictor.ranks and body.top_k else {}
        job = queues[name].put(contents, characters, options)
        rows = await _answered(job, request, limits.timeout_s)
        body_bytes = b'{"answers": [' + b", ".join(rows) + b"]}"
        return Response(body_bytes, media_type="application/json")

    predict.__annotations__["body"] = request_type(
        form.name, form.item, ranks=predictor.ranks
    )  # depends on the model, so it cannot be type-checked
    app.post(
        _path(name),
        name=f"predict_{name}",
        operation_id=f"predict_{name}",
        summary=f"Ask {name} ({predictor.kind})",
        response_model=response_type(predictor.row_type),
        responses=_REFUSALS,
    )(predict)


async def _answered(job: Job, request: Request, timeout_s: float) -> list[bytes]:
    """Wait for a job's answers; leave the queue if the client disconnects."""
    answers: asyncio.Future[Any] = asyncio.wrap_future(job.answers)
    gone: asyncio.Future[Any] = asyncio.ensure_future(
        request.receive()
    )  # the body is read: only a disconnect can follow
    try:
        either = {answers, gone}
        done, _ = await asyncio.wait(either, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if answers in done:
            rows: list[bytes] = answers.result()
            return rows
        if gone in done:
            raise HTTPException(499, "the client went away")
        raise HTTPException(504, f"not answered in {timeout_s:g} s; send less at a time, or later")
    finally:
        gone.cancel()
        answers.cancel()
