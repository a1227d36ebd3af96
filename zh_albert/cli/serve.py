"""Command ``serve``."""

from __future__ import annotations

import importlib.util
from typing import Annotated

import typer


def serve(
    models: Annotated[list[str], typer.Argument(help="Bundled names, folders or hub ids.")],
    host: Annotated[str, typer.Option(help="0.0.0.0: also for other computers.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name it is asked by, such as that of a container; '*': any."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts of one request.")] = 256,
    max_characters: Annotated[int, typer.Option(min=1, help="Characters of one text.")] = 50_000,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Characters that may wait for each model.")
    ] = 1_000_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=86_400, help="Seconds for an answer.")
    ] = 60.0,
) -> None:
    """Serve models over HTTP.

    Concurrent requests are answered in batches. POST /v1/models/NAME/predict with {"texts": [...]}
    gives {"answers": [...]}, each as `zh-albert predict` prints it. GET /v1/models, /health,
    /metrics (Prometheus), /docs, /openapi.json. On SIGTERM or Ctrl-C, accepted requests are
    answered first, and the exit code is 0; a second Ctrl-C ends it at once, with 130.

    Example: zh-albert serve sentiment runs/ner --port 8000
    """
    from zh_albert.errors import MissingExtraError

    for library in ("fastapi", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(library) is None:
            raise MissingExtraError.of(library, "serve")
    from zh_albert.serving.limits import Limits
    from zh_albert.serving.server import serve as serve_models

    limits = Limits(
        texts=max_texts, characters=max_characters, waiting=max_waiting, timeout_s=timeout
    )
    serve_models(models, host=host, port=port, limits=limits, allow_hosts=allow_host or ())
