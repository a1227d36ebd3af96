"""The command ``compress``: recipes listed, and one run on a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from zh_albert.cli.options import Exclude, Json, Resume
from zh_albert.cli.train import training_display
from zh_albert.files.textio import results_json

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Recipes(TyperGroup):
    """A group of commands in which any other first word is a recipe."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word; see ``click.Group``."""
        if args and args[0] not in self.commands:
            return args[0], self.commands["recipe"], args
        return super().resolve_command(ctx, args)


class _OneRecipe(TyperCommand):
    """The command of a recipe, which stands in its usage line as the command's name."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage line's pieces without the argument that the name is."""
        return [one for one in super().collect_usage_pieces(ctx) if "RECIPE" not in one]


app = typer.Typer(
    cls=_Recipes,
    help="Make models smaller or faster; list the recipes.\n\n"
    "zh-albert compress lists the recipes, and zh-albert compress RECIPE MODEL --train FILE "
    "--dev FILE --out FOLDER runs one.",
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def _list(context: typer.Context, as_json: Json = False) -> None:
    """Make models smaller or faster by a recipe; without one, list the recipes.

    Example: zh-albert compress kd news --train train.jsonl --dev dev.jsonl --out runs/small
    """
    if context.invoked_subcommand:
        if as_json:
            from zh_albert.errors import ConfigError

            raise ConfigError("expected --json after the recipe, found it before")
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
    typer.echo("zh-albert compress RECIPE MODEL --train FILE --dev FILE --out FOLDER runs one")


@app.command("recipe", cls=_OneRecipe, hidden=True)
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
    exclude: Exclude = None,
    ngrams: Annotated[bool, typer.Option(help="Keep the model's n-grams.")] = True,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting, e.g. tune.train.epochs=4; repeatable."),
    ] = None,
    resume: Resume = False,
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
    from zh_albert.cli.progress import echo, tell_if_nothing_resumes
    from zh_albert.compression.job import compress
    from zh_albert.compression.recipe import find_recipe
    from zh_albert.errors import ConfigError
    from zh_albert.tasks.catalog import task_of
    from zh_albert.tasks.texts import without
    from zh_albert.training.loop import is_first_process

    keep_freed_memory()
    tell_if_nothing_resumes(out, resume=resume)
    plan = find_recipe(name, set_ or [])
    source = resolve_model(model)
    further: list[Any] = []
    if plan.of_encoders:
        if len(train) != 1 or len(dev or []) != 1:
            raise ConfigError(
                f"recipe {plan.name} trains an encoder: expected one folder of shards for --train "
                "and one of held-out text for --dev"
            )
        if unlabelled or exclude or not ngrams:
            raise ConfigError(
                f"recipe {plan.name} trains an encoder on shards: --unlabelled, --exclude and "
                "--no-ngrams are for models of a task; leave them out"
            )
        given: Any = train[0]
        held: Any = (dev or [None])[0]  # type: ignore[list-item]
    else:
        task = task_of(source, load_config(source)[1])
        excluded = [example for path in exclude or [] for example in task.read(path)]
        examples = [example for path in train for example in task.read(path)]
        given = without(examples, excluded)
        if dropped := len(examples) - len(given):
            echo(f"{dropped} training texts dropped: they occur in --exclude files")
        held = [example for path in dev or [] for example in task.read(path)]
        if unlabelled and task.read_unlabelled is None:
            raise ConfigError("--unlabelled: this task learns from no texts without labels")
        for path in unlabelled or []:
            assert task.read_unlabelled is not None
            further += without(task.read_unlabelled(path), excluded)
    with training_display() as display:
        made = compress(
            source,
            plan,
            given,
            held,
            out=out,
            unlabelled=further,
            ngrams=ngrams,
            resume=resume,
            observers=[display],
        )
    if is_first_process():
        _show(made.before, made.after, out, plan.name, as_json=as_json)


@app.command("report")
def report(
    file: Annotated[
        Path, typer.Argument(metavar="TOML", help="Tasks and arms; docs/recipes has one.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of results, tables and pictures.")],
    seeds: Annotated[int, typer.Option(help="Runs of each arm.")] = 3,
    data: Annotated[
        Path, typer.Option(help="Folder that the file's paths of task files are relative to.")
    ] = Path(),
    task: Annotated[list[str] | None, typer.Option(help="Run only this task; repeatable.")] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="Run only this arm and what it is compared with; repeatable."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="One setting of all tasks, e.g. texts=500.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare recipes on the same data, with several seeds.

    After an interruption the same command continues.

    Example: zh-albert compress report docs/recipes/compression-report.toml --seeds 3
    --out runs/compression --data tasks
    """
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.cli.progress import TrainingDisplay, echo
    from zh_albert.compression.report import report as make

    keep_freed_memory()
    try:
        with TrainingDisplay() as display:
            made = make(
                file,
                out,
                seeds=seeds,
                data=data,
                tasks=task or (),
                arms=arm or (),
                settings=set_ or (),
                progress=display,
            )
    except KeyboardInterrupt:
        echo("stopped; the same command goes on")
        sys.exit(130)
    if as_json:
        typer.echo((out / "report.json").read_text("utf-8").rstrip())
        return
    typer.echo((out / "report.md").read_text("utf-8").rstrip())
    failed = sum(len(runs) for one in made.values() for runs in one.failures.values())
    note = f"; {failed} runs failed, the same command tries them again" if failed else ""
    typer.echo(f"written to {out}{note}")


@app.command("plan")
def plan(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    train: Annotated[list[Path], typer.Option(help="Task file to learn from; repeatable.")],
    dev: Annotated[list[Path], typer.Option(help="Task file that judges; repeatable.")],
    out: Annotated[Path, typer.Option(help="Model folder to write, with plan.json.")],
    max_mb: Annotated[
        float | None, typer.Option(help="Limit of the model folder's files, in MB.")
    ] = None,
    max_ms: Annotated[
        float | None, typer.Option(help="Limit of CPU time for one text on one thread, in ms.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Lowest score on dev that is accepted.")
    ] = None,
    most: Annotated[int, typer.Option(help="How many candidates to train at most.")] = 4,
    ngrams: Annotated[bool, typer.Option(help="Keep the model's n-grams.")] = True,
    beside_plain: Annotated[
        bool, typer.Option("--beside-plain", help="Also train the best one without a teacher.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="One setting of all trainings, e.g. train.epochs=1."),
    ] = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Write the best smaller model within a size and a time.

    Sizes are computed and times measured before anything is trained.

    Example: zh-albert compress plan news --max-mb 5 --train train.jsonl --dev dev.jsonl
    --out runs/small
    """
    from zh_albert.checkpoints.resolve import resolve_model
    from zh_albert.checkpoints.store import load_config
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.cli.progress import echo, tell_if_nothing_resumes
    from zh_albert.compression.budget import PLAN
    from zh_albert.compression.budget import plan as make
    from zh_albert.compression.planned import Budget
    from zh_albert.tasks.catalog import task_of
    from zh_albert.training.run_folder import refuse_taken

    keep_freed_memory()
    budget = Budget(max_mb=max_mb, max_ms=max_ms, min_score=min_score)
    refuse_taken(out, resume=resume)
    tell_if_nothing_resumes(out, resume=resume)
    source = resolve_model(model)
    task = task_of(source, load_config(source)[1])
    examples, judging = (
        [example for path in paths for example in task.read(path)] for paths in (train, dev)
    )
    with training_display() as display:
        made = make(
            model,
            examples,
            judging,
            budget=budget,
            out=out,
            most=most,
            ngrams=ngrams,
            beside_plain=beside_plain,
            settings=set_ or (),
            resume=resume,
            tell=echo,
            observers=[display],
        )
    if as_json:
        typer.echo((out / PLAN).read_text("utf-8").rstrip())
        return
    for line in made.table(task.metric):
        typer.echo(line)
    typer.echo(f"{made.best} written to {out}; all candidates are in {out / PLAN}")


def _show(
    before: Mapping[str, float], after: Mapping[str, float], out: Path, name: str, *, as_json: bool
) -> None:
    if as_json:
        result = {"model": str(out), "recipe": name, "before": before, "after": after}
        typer.echo(results_json(result))
        return
    from zh_albert.compression.record import written

    typer.echo(f"{'':<16} {'before':>12} {'after':>12}")
    for figure, value in after.items():
        if figure in before:
            typer.echo(f"{figure:<16} {written(before[figure]):>12} {written(value):>12}")
    typer.echo(f"written to {out}")
