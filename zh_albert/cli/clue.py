"""``zh-albert clue``: official files of CLUE and FewCLUE, submissions, and the whole suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zh_albert.cli.options import Init, Json
from zh_albert.files.textio import results_json

app = typer.Typer(
    help="CLUE and FewCLUE: official files, submissions, the suite.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="See zh-albert clue tasks.")]
Version = Annotated[
    str | None, typer.Option(help="Of the test set; by default determined by its file's name.")
]


@app.command()
def tasks(as_json: Json = False) -> None:
    """List the tasks and the names of their submission files.

    Example: zh-albert clue tasks
    """
    from zh_albert.clue.tasks import CLUE_TASKS

    if as_json:
        rows = [
            {
                "name": task.name,
                "about": task.about,
                "task": task.trained_as,
                "labels": len(task.labels),
                "submissions": {v: test.submission for v, test in task.tests.items()},
            }
            for task in CLUE_TASKS.values()
        ]
        typer.echo(results_json({"tasks": rows}))
        return
    for task in CLUE_TASKS.values():
        files = ", ".join(test.submission for test in list(task.tests.values())[:2])
        typer.echo(f"{task.name:<12} {task.trained_as:<15} {files:<46} {task.about}")


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="TASK…", help="Which tasks.")],
    to: Annotated[Path, typer.Option(help="Folder to write; each task gets a subfolder.")],
    mirror: Annotated[
        str | None, typer.Option(help="Another address with files of the same names.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Download official releases; an interrupted download is continued.

    Mind the licences: most sets are for research only, see docs/clue.md.

    Example: zh-albert clue fetch tnews afqmc --to clue-data
    """
    from zh_albert.cli.progress import DownloadDisplay
    from zh_albert.clue.downloading import fetch_task
    from zh_albert.clue.tasks import task_named

    chosen = [task_named(name) for name in names]
    folders = []
    with DownloadDisplay() as display:
        for task in chosen:
            folders.append(str(fetch_task(task, to, mirror=mirror, progress=display)))
            if not as_json:
                typer.echo(folders[-1])
    if as_json:
        typer.echo(results_json({"folders": folders}, ascii_only=True))


@app.command()
def convert(
    task: TaskArgument,
    files: Annotated[list[Path], typer.Argument(help="Official files, concatenated.")],
    out: Annotated[Path, typer.Option(help="Task-format file to write (.jsonl).")],
    as_json: Json = False,
) -> None:
    """Convert official files to the task format.

    With the preprocessing of the task, see docs/clue.md.

    Example: zh-albert clue convert c3 c3/d-dev.json c3/m-dev.json --out dev.jsonl
    """
    from itertools import chain

    from zh_albert.cli.progress import echo
    from zh_albert.clue.readers import read_official
    from zh_albert.clue.suite import write_rows
    from zh_albert.clue.tasks import task_named
    from zh_albert.errors import ConfigError
    from zh_albert.files.plain_files import refuse_same

    refuse_same(out, *files)
    if out.suffix != ".jsonl":
        raise ConfigError(f"--out {out}: expected a name that ends in .jsonl")
    described = task_named(task)
    rows = chain.from_iterable(read_official(described, file) for file in files)
    count = write_rows(rows, out)
    echo(f"{out}: rows: {count:,}")
    if as_json:
        typer.echo(results_json({"file": str(out), "rows": count}, ascii_only=True))


@app.command()
def predict(
    task: TaskArgument,
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    data: Annotated[Path, typer.Argument(help="Official test file, or the release's folder.")],
    out: Annotated[
        Path, typer.Option(help="File to write, or a folder, for a file of the official name.")
    ],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """Answer an official test file and write the submission.

    Example: zh-albert clue predict tnews news clue-data/tnews/test.json --out submission/
    """
    from zh_albert.cli.progress import echo, track
    from zh_albert.clue.prediction import predict as answer
    from zh_albert.clue.tasks import task_named

    done = answer(
        task_named(task),
        model,
        data,
        out,
        version=version,
        follow=lambda answers, total: track(answers, total=total, what="answers"),
    )
    if done.guessed:
        echo(f"note: rows without an answer of the model, filled with a guess: {done.guessed}")
    if done.file.name != done.official_name:
        echo(f"note: the evaluation expects this file name: {done.official_name}")
    for fault in done.faults:
        echo(f"note: {fault.problem}")
    echo(f"{done.file}: {done.answers:,} answers")
    if as_json:
        result = {
            "file": str(done.file),
            "answers": done.answers,
            "guessed": done.guessed,
            "faults": [fault._asdict() for fault in done.faults],
        }
        typer.echo(results_json(result, ascii_only=True))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Submission to check.")],
    task: Annotated[str, typer.Option(help="See zh-albert clue tasks.")],
    data: Annotated[Path, typer.Option(help="Official test file, or the release's folder.")],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """List the faults of a submission.

    One per line; the exit code is 2 if there are any.

    Example: zh-albert clue check tnews11_predict.json --task tnews --data clue-data/tnews/test.json
    """
    from zh_albert.clue.checking import check as faults_of
    from zh_albert.clue.tasks import task_named

    faults = faults_of(task_named(task), file, data, version=version)
    if as_json:
        result = {"file": str(file), "faults": [fault._asdict() for fault in faults]}
        typer.echo(results_json(result, ascii_only=True))
    else:
        for fault in faults:
            place = f"{file}, line {fault.line}" if fault.line else str(file)
            typer.echo(f"{place}: {' '.join(fault.problem.split())}")
        if not faults:
            typer.echo(f"{file}: no fault")
    if faults:
        raise typer.Exit(2)


@app.command()
def run(
    names: Annotated[str, typer.Option("--tasks", help="Names, separated by commas.")],
    data: Annotated[Path, typer.Option(help="Folder with a subfolder for each task.")],
    out: Annotated[Path, typer.Option(help="Folder for the runs, TASK/seed-N.")],
    init: Init = "encoder",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each task.")] = 3,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="One setting for all, e.g. train.epochs=5.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fine-tune and score tasks, with several seeds.

    Prints mean and standard deviation beside published scores. Finished runs are skipped, so the
    same command continues after an interruption.

    Example: zh-albert clue run --tasks tnews,cluener --data clue-data --out runs
    """
    from zh_albert.checkpoints.resolve import resolve_init
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.cli.progress import TrainingDisplay, echo
    from zh_albert.clue.suite import as_json as rows_of
    from zh_albert.clue.suite import prepare, recipe_of, run_task, table
    from zh_albert.clue.tasks import task_named
    from zh_albert.configio import parse_overrides

    keep_freed_memory()
    chosen = [task_named(name) for name in dict.fromkeys(map(str.strip, names.split(",")))]
    folder = resolve_init(init)
    overrides = parse_overrides(set_ or [])
    display, splits = TrainingDisplay(), {}
    for task in chosen:  # errors in any task's files show before the first training
        recipe_of(task, overrides, seed=1)
        splits[task.name] = prepare(task, data / task.name, out / task.name, progress=display)
    results = []
    try:
        with display:
            for task in chosen:
                echo(f"{task.name} ({task.trained_as}), runs: {seeds}")
                result = run_task(
                    task,
                    splits[task.name],
                    out / task.name,
                    init=folder,
                    seeds=seeds,
                    overrides=overrides,
                    progress=display,
                )
                results.append(result)
    except KeyboardInterrupt:
        echo("stopped; the same command goes on")
        sys.exit(130)
    finally:  # also show the scores of the others if a task fails
        if as_json:
            typer.echo(results_json({"results": rows_of(results)}))
        elif results:
            typer.echo(table(results))
