"""The command tree. Errors that a user can cause print one line and exit with code 2."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from zh_albert.checkpoints.resolve import expanded
from zh_albert.cli import clue, compress, curves, data, export, models, predict, serve, train
from zh_albert.errors import ZhAlbertError

app = typer.Typer(
    name="zh-albert",
    help="Chinese ALBERT: train, evaluate, predict, convert, export; a demo in the browser.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(version("zh-albert"))
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


app.command("models")(models.models)
app.command("inspect")(models.inspect)
app.command("predict")(predict.predict)
app.command("evaluate")(train.evaluate)
app.command("finetune")(train.finetune)
app.command("pretrain")(train.pretrain)
app.command("distil")(train.distil)
app.command("convert-data")(data.convert_data)
app.command("curves")(curves.curves)
app.command("baseline")(train.baseline)
app.command("convert")(models.convert)
app.command("export")(export.export)
app.command("serve")(serve.serve)
app.command("demo")(predict.demo)
app.add_typer(clue.app, name="clue")
app.add_typer(compress.app, name="compress")


def main() -> None:
    """Run the command line."""
    run(app)


def run(tree: typer.Typer) -> None:
    """Run a command tree; show expected errors as one line, without a traceback."""
    for name in ("stdout", "stderr"):  # closed by who calls, as by >&- in a shell
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    sys.argv[1:] = map(_at_home, sys.argv[1:])
    warnings.formatwarning = lambda message, *_, **__: f"note: {message}\n"
    try:
        code = tree(standalone_mode=False)
    except typer.Abort:  # raised by typer for Ctrl-C until 0.29
        _end("interrupted", 130)
    except ZhAlbertError as error:
        _end(f"error: {error}", 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _end(f"error: {where}{error.strerror or error}; check the path, its rights and the disk", 2)
    except Exception as error:
        # Wrong options; the class is private to typer and differs between its versions.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.stderr.write(f"{message}\n")
            sys.exit(2)
        _end(f"error: {message.rstrip('.')}. See --help", 2)
    if code == 130:  # Ctrl-C in later versions of typer
        _end("interrupted", 130)
    sys.exit(code)


def _at_home(argument: str) -> str:
    """Return an argument with ``~`` replaced, which shells leave in ``--out=~/runs``."""
    option, equals, value = argument.partition("=")
    if not option.startswith("--"):
        option, equals, value = "", "", argument
    return f"{option}{equals}{expanded(value)}" if value.startswith("~") else argument


def _end(text: str, code: int) -> NoReturn:
    sys.stderr.write(" ".join(text.split()) + "\n")
    sys.exit(code)
