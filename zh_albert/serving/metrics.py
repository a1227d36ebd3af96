"""Metrics for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.process_collector import ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counters of one server; ``registry`` also has the memory and CPU time of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "zh_albert_requests",
            "Requests by model and HTTP status; 499: the client disconnected.",
            ["model", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "zh_albert_request_seconds",
            "From a request's headers to its answer.",
            ["model"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.batches = Histogram(
            "zh_albert_batch_texts",
            "Texts answered together.",
            ["model"],
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
            registry=self.registry,
        )
        self.waiting = Gauge(
            "zh_albert_waiting_characters",
            "Accepted and not yet answered.",
            ["model"],
            registry=self.registry,
        )


class Measured:
    """Middleware that counts requests to the models, including rejected ones.

    Args:
        app: The application.
        metrics: Counters to update.
        models: Path of a request → name of its model.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, models: Mapping[str, str]) -> None:
        self._app, self._metrics, self._models = app, metrics, models

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; see ``starlette.types.ASGIApp``."""
        model = self._models.get(scope.get("path", ""))
        if model is None:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._metrics.requests.labels(model, status).inc()
            self._metrics.seconds.labels(model).observe(time.perf_counter() - started)
