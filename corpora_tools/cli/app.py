"""Command line ``zh-corpora``: vocabularies, pretraining data and lessons from text; prediction."""

from __future__ import annotations

import sys

import typer

from corpora_tools.cli import lessons, shards, text, vocab
from zh_albert.cli.app import run
from zh_albert.errors import MissingExtraError

app = typer.Typer(
    name="zh-corpora",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
for command in (
    *(text.clean, text.dedup, vocab.vocab, shards.build, shards.audit),
    *(text.predict, lessons.lessons),
):
    app.command(command.__name__)(command)


@app.callback()
def commands() -> None:
    """Raw Chinese text to vocabularies, pretraining data and lessons; answers to many files."""


def main() -> None:
    """Run the command line; show expected errors as one line, without a traceback."""
    try:
        run(app)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("corpora_tools", "zh_albert"):
            raise
        sys.stderr.write(f"error: {MissingExtraError.of(missing, 'corpora')}\n")
        sys.exit(2)
