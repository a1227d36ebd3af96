"""Server process: loads models, listens at a port and handles signals."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from zh_albert.errors import ConfigError
from zh_albert.inference.loading import load
from zh_albert.serving.app import create_app
from zh_albert.serving.connections import CloseUnread, LimitedProtocol, connections_that_fit
from zh_albert.serving.hosts import AllowedHosts
from zh_albert.serving.limits import Limits
from zh_albert.serving.listening import bound
from zh_albert.tasks.predictor import AnyPredictor

_ENDED_AT_ONCE = 130  # as shells have it: 128 and the number of SIGINT
_BACKLOG = 2048  # connections that the system holds until they are accepted
# Accepted before others are closed for them: with more, a burst would use up all open files.
_ACCEPTED_AT_ONCE = 16
_UNANSWERED_S = 10  # beyond the time for an answer: for the rest of a body, and to send


def serve(
    models: Sequence[str], *, host: str, port: int, limits: Limits, allow_hosts: Sequence[str] = ()
) -> None:
    """Serve models until SIGTERM or Ctrl-C; then finish accepted requests.

    The address is printed to standard error once requests are answered. A second Ctrl-C ends the
    process at once, with another exit code than 0.

    Args:
        models: Bundled names, folders or hub ids. A folder is served under its own name.
        host: Address to listen at.
        port: 0 selects a free one.
        limits: Of every request.
        allow_hosts: Names under which it is asked, beside its address; see ``AllowedHosts``.

    Raises:
        CheckpointError: If a model cannot be opened.
        ConfigError: If two models have the same name, or a name cannot be part of an address.
        ZhAlbertError: If the address cannot be used.
    """
    names = served_names(models)
    with bound(host, port) as listening:  # first, because it is cheap and fails most often
        predictors = {name: open_model(model) for name, model in zip(names, models, strict=True)}
        app = AllowedHosts(create_app(predictors, limits), host, allow_hosts)
        server = _Server(server_config(app, limits))
        # uvicorn handles both signals while it runs and raises them again when it has stopped; this
        # handler keeps them from ending the process a second time.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.stop)
        server.run(sockets=[listening])


def server_config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    """Return uvicorn's settings for an application, with our limits on connections."""
    limits = replace(limits, connections=connections_that_fit(limits.connections))
    protocol: Any = partial(LimitedProtocol, limits=limits)
    return uvicorn.Config(
        CloseUnread(app),
        http=protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=round(limits.timeout_s) + _UNANSWERED_S,
    )


def open_model(model: str) -> AnyPredictor:
    """Open a model for serving and run it once, so that no request waits for its initialization."""
    predictor = load(model)
    list(predictor.stream([predictor.form.example_content()]))
    return predictor


class _Server(uvicorn.Server):
    """Server that prints its address when it is ready, and ends at once by a second Ctrl-C."""

    def stop(self, *_: object) -> None:
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            os._exit(_ENDED_AT_ONCE)  # a model that computes would delay any other end
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            sockets[0].listen(_BACKLOG)  # asyncio accepts no more at once for that
            host, port = sockets[0].getsockname()[:2]
            address = f"[{host}]" if ":" in host else host
            sys.stderr.write(f"Serving on http://{address}:{port}  (Ctrl-C ends it)\n")
            sys.stderr.flush()


def served_names(models: Sequence[str]) -> list[str]:
    """Return the name of each model in its address.

    >>> served_names(["sentiment", "runs/mine/"])
    ['sentiment', 'mine']

    Raises:
        ConfigError: If two have the same name, or a name cannot be part of an address.
    """
    names = []
    for model in models:
        name = Path(model).name
        if not re.fullmatch(r"[\w-][\w.-]*", name):  # ".", "..", spaces
            name = Path(model).resolve().name
        if not re.fullmatch(r"[\w-][\w.-]*", name):
            raise ConfigError(
                f"{model}: expected a folder name of letters, digits, '.', '_' and '-', found "
                f"{name!r}; rename the folder"
            )
        if name in names:
            raise ConfigError(f"{model}: another model is called {name!r} too; rename a folder")
        names.append(name)
    return names
