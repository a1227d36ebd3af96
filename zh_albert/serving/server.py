"""The server process: loads models, binds the port and handles signals."""

from __future__ import annotations

import re
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.errors import ConfigError, ZhAlbertError
from zh_albert.inference.loading import load
from zh_albert.runtimes.exported import exported_precision
from zh_albert.serving.app import create_app
from zh_albert.serving.limits import Limits
from zh_albert.tasks.predictor import AnyPredictor


def serve(models: Sequence[str], *, host: str, port: int, limits: Limits) -> None:
    """Serve models until SIGTERM or Ctrl-C; then finish the accepted requests.

    The address is printed on standard error once the server is ready.

    Args:
        models: Bundled names, folders or hub ids. A folder is served under its last name.
        host: Address to listen on.
        port: Port; 0 takes a free one.
        limits: Limits on every request.

    Raises:
        CheckpointError: If a model cannot be opened.
        ConfigError: If two models have the same name, or a name is not valid in an address.
        ZhAlbertError: If the port cannot be used.
    """
    names = served_names(models)
    with _bound(host, port) as listening:  # first, because it is cheap and most likely to fail
        predictors = {name: open_model(model) for name, model in zip(names, models, strict=True)}
        config = uvicorn.Config(
            create_app(predictors, limits),
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=round(limits.timeout_s) + 5,
        )
        server = _Server(config)
        # uvicorn handles these two signals while it runs and raises them again when it has ended.
        # The process is ending then already, and this handler does nothing more.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, server.handle_exit)
        server.run(sockets=[listening])


def open_model(model: str) -> AnyPredictor:
    """Open a model and run it once, so that no client waits for the runtime to start.

    The precision is fp32 unless the folder has an export: in bf16 answers would depend on the other
    texts of a batch. In int8 the model is opened with ``batch_invariant``.
    """
    precision = exported_precision(resolve_model(model)) or "fp32"
    predictor = load(model, precision=precision, batch_invariant=True)
    list(predictor.stream([predictor.form.example_content()]))
    return predictor


class _Server(uvicorn.Server):
    """A uvicorn server that prints its address once it is ready."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            address = f"[{host}]" if ":" in host else host
            sys.stderr.write(f"Serving on http://{address}:{port}  (Ctrl-C ends it)\n")
            sys.stderr.flush()


def served_names(models: Sequence[str]) -> list[str]:
    """Return the name of each model in its address.

    >>> served_names(["sentiment", "runs/mine/"])
    ['sentiment', 'mine']

    Raises:
        ConfigError: If two have the same name, or a name is not valid in an address.
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


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address; connections are refused until the server listens."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
    except OSError as error:
        raise ZhAlbertError(
            f"{host}: no such address ({error.strerror}); take 127.0.0.1, or 0.0.0.0 to be reached "
            "from other computers"
        ) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise ZhAlbertError(
            f"{host}: port {port} cannot be used ({error.strerror}); choose another one, or a free "
            "one with --port 0"
        ) from None
    return listening
