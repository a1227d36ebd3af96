"""The command tree. Errors a user can cause end in one line and exit code 2."""

from __future__ import annotations

import sys

import typer

from zh_albert.cli import models, predict, train
from zh_albert.errors import ZhAlbertError

app = typer.Typer(
    name="zh-albert",
    help="Chinese ALBERT: train, evaluate, predict, convert; a demo in the browser.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.command("models")(models.models)
app.command("inspect")(models.inspect)
app.command("predict")(predict.predict)
app.command("evaluate")(train.evaluate)
app.command("finetune")(train.finetune)
app.command("baseline")(train.baseline)
app.command("convert")(models.convert)
app.command("demo")(predict.demo)


def main() -> None:
    """Run the command line."""
    run(app)


def run(tree: typer.Typer) -> None:
    """Run a command tree; show expected errors as one line, without a traceback."""
    try:
        tree()
    except ZhAlbertError as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
