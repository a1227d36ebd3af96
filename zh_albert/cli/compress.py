"""The command ``compress``: recipes listed, and one run on a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from zh_albert.cli.options import Json
from zh_albert.cli.train import JobSettings, training_display
from zh_albert.textio import results_json

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Recipes(TyperGroup):
    """A group of commands in which any other first word is a recipe."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word; see ``click.Group``."""
        if args and args[0] not in self.commands:
            return "recipe", self.commands["recipe"], args
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Recipes,
    help="Make a model smaller or faster by a recipe; without one, list the recipes.",
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def _list(context: typer.Context, as_json: Json = False) -> None:
    """Make a model smaller or faster by a recipe; without one, list the recipes.

    Example: zh-albert compress kd news --train train.jsonl --dev dev.jsonl --out runs/small
    """
    if context.invoked_subcommand:
        return
    from zh_albert.compression.recipe import recipes

    rows = [
        {
            "name": name,
            "family": one.family,
            "title": one.title,
            "source": one.source,
            "needs": one.needs,
            "cost": one.cost,
            "shared": one.shared,
        }
        for name, one in recipes().items()
    ]
    if as_json:
        typer.echo(results_json(rows))
        return
    for family in dict.fromkeys(row["family"] for row in rows):
        typer.echo(f"{family}:")
        for row in rows:
            if row["family"] == family:
                typer.echo(f"  {row['name']:<18} {row['title']}")
                typer.echo(f"  {'':<18} {row['source']}; {row['needs']}; time {row['cost']}")


@app.command("recipe", hidden=True)
def recipe(
    name: Annotated[str, typer.Argument(metavar="RECIPE", help="Name, or a TOML file.")],
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    train: Annotated[
        list[Path], typer.Option(help="Task file to learn from; repeatable. Of encoders: shards.")
    ],
    out: Annotated[Path, typer.Option(help="Model folder to write.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(help="Task file that chooses the best weights. Of encoders: held-out shards."),
    ] = None,
    unlabelled: Annotated[
        list[Path] | None, typer.Option(help="Texts that the model labels; repeatable.")
    ] = None,
    set_: JobSettings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it stopped.")] = False,
    as_json: Json = False,
) -> None:
    """Compress a model by a recipe.

    Settings are STAGE.ACTION.KEY=value, or ACTION.KEY=value for all stages with that action.

    Example: zh-albert compress kd news --train train.jsonl --dev dev.jsonl --out runs/small
    --set cut.layers=2 --set tune.teacher.temperature=4
    """
    from zh_albert.checkpoints.resolve import resolve_model
    from zh_albert.checkpoints.store import load_config
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.compression.job import compress
    from zh_albert.compression.recipe import find_recipe
    from zh_albert.errors import ConfigError
    from zh_albert.tasks.catalog import task_of
    from zh_albert.training.loop import is_first_process

    keep_freed_memory()
    plan = find_recipe(name, set_ or [])
    source = resolve_model(model)
    further: list[Any] = []
    if plan.of_encoders:
        if len(train) != 1 or len(dev or []) != 1 or unlabelled:
            raise ConfigError(
                f"recipe {plan.name} trains an encoder: expected one folder of shards for --train "
                "and one of held-out text for --dev"
            )
        given: Any = train[0]
        held: Any = (dev or [None])[0]  # type: ignore[list-item]
    else:
        task = task_of(source, load_config(source)[1])
        given = [example for path in train for example in task.read(path)]
        held = [example for path in dev or [] for example in task.read(path)]
        if unlabelled and task.read_unlabelled is None:
            raise ConfigError("--unlabelled: this task learns from no texts without labels")
        for path in unlabelled or []:
            assert task.read_unlabelled is not None
            further += task.read_unlabelled(path)
    with training_display() as display:
        made = compress(
            source,
            plan,
            given,
            held,
            out=out,
            unlabelled=further,
            resume=resume,
            observers=[display],
        )
    if is_first_process():
        _show(made.before, made.after, out, plan.name, as_json=as_json)


def _show(
    before: Mapping[str, float], after: Mapping[str, float], out: Path, name: str, *, as_json: bool
) -> None:
    if as_json:
        result = {"model": str(out), "recipe": name, "before": before, "after": after}
        typer.echo(results_json(result))
        return
    typer.echo(f"{'':<16} {'before':>12} {'after':>12}")
    for figure, value in after.items():
        if figure in before:
            typer.echo(f"{figure:<16} {_number(before[figure]):>12} {_number(value):>12}")
    typer.echo(f"written to {out}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value > 1 else f"{value:.4f}"
