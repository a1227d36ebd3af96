"""The commands ``finetune``, ``pretrain``, ``distil``, ``evaluate`` and ``baseline``."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from zh_albert.cli.options import (
    Exclude,
    Init,
    Json,
    LabelColumn,
    Resume,
    Settings,
    Sheet,
    TextColumn,
)
from zh_albert.files.textio import results_json
from zh_albert.tasks.catalog import TASKS, forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zh_albert.cli.progress import TrainingDisplay
    from zh_albert.tables.columns import TableLayout
    from zh_albert.tasks.task import Task
    from zh_albert.training.resume import RunState

    _Name = str
else:
    _Name = Literal[tuple(TASKS)]

TaskName = Annotated[_Name, typer.Option(help="Task of the files.")]


def finetune(
    train: Annotated[list[Path], typer.Option(help="Task-format file to learn from; repeatable.")],
    dev: Annotated[
        list[Path], typer.Option(help="Task-format file that chooses the best weights; repeatable.")
    ],
    out: Annotated[Path, typer.Option(help="Model folder to write.")],
    task: TaskName = "classification",
    init: Init = "encoder",
    config: Annotated[Path | None, typer.Option(help="TOML file with settings.")] = None,
    set_: Settings = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    sheet: Sheet = None,
    exclude: Exclude = None,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(help="Texts without labels, for a teacher (teacher.model); repeatable."),
    ] = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Train a model for a task.

    The files have one JSON object a line, or are tables (.csv, .tsv, .xlsx) with a column for each
    field, where a label is a class, or exports of annotation tools. FORMS.

    Example: zh-albert finetune --task classification --train train.jsonl --dev dev.jsonl
    --out runs/mine --set train.epochs=5
    """
    from zh_albert.checkpoints.resolve import resolve_init
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.cli.progress import echo, tell_if_nothing_resumes
    from zh_albert.errors import ConfigError
    from zh_albert.tasks.run import finetune as finetune_task
    from zh_albert.tasks.texts import overlap, refuse_none, without
    from zh_albert.training.loop import is_first_process
    from zh_albert.training.run_folder import refuse_taken

    keep_freed_memory()
    face = TASKS[task]
    settings = _settings(face.job.config_type, config, set_)
    start = resolve_init(init)
    refuse_taken(out, resume=resume)
    tell_if_nothing_resumes(out, resume=resume)
    layout = _layout(text_column, label_column, sheet, train + dev)
    examples, dev_examples, excluded = (
        _read(face, paths, layout) for paths in (train, dev, exclude or [])
    )
    kept = without(examples, excluded)
    if len(kept) < len(examples):
        echo(f"{len(examples) - len(kept)} training texts dropped: they occur in --exclude files")
    refuse_none(kept)
    if shared := overlap(dev_examples, kept):
        echo(f"note: {shared} of {len(dev_examples)} dev texts also occur in the training texts")
    further: dict[str, Any] = {}
    if unlabelled:
        if face.read_unlabelled is None:
            able = [name for name in TASKS if TASKS[name].read_unlabelled]
            raise ConfigError(f"--unlabelled is for {', '.join(able)}, not for {task}")
        unnamed = _layout(text_column, None, sheet, train + dev)
        texts = [text for path in unlabelled for text in face.read_unlabelled(path, unnamed)]
        further["unlabelled"] = without(texts, excluded)
        if dropped := len(texts) - len(further["unlabelled"]):
            echo(f"{dropped} unlabelled texts dropped: they occur in --exclude files")
    for remark in face.remarks(kept):
        echo(remark)
    if start is None:
        echo(f"starting from random weights ({settings.model.preset})")
    with training_display() as display:
        _, position = finetune_task(
            face.job,
            kept,
            dev_examples,
            settings,
            init=start,
            out=out,
            resume=resume,
            observers=[display],
            **further,
        )
    result = {
        "model": str(out),
        "task": task,
        **position.best_metrics,
        "train_examples": len(kept),
        "train_seconds": round(position.seconds, 1),
        **_updates(position),
    }
    if is_first_process():
        _show(result, as_json=as_json)


finetune.__doc__ = str(finetune.__doc__).replace("FORMS", forms())


def pretrain(
    config: Annotated[Path, typer.Argument(help="TOML file; docs/pretraining.md shows one.")],
    set_: Settings = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Pretrain an encoder: masked words, order of sentences.

    Example: zh-albert pretrain tiny.toml --resume
    """
    from zh_albert.pretraining.run import PretrainConfig
    from zh_albert.pretraining.run import pretrain as job

    _run_encoder_job(job, _settings(PretrainConfig, config, set_), resume=resume, as_json=as_json)


def distil(
    config: Annotated[Path, typer.Argument(help="TOML file; docs/distillation.md shows one.")],
    set_: Settings = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Distil a smaller encoder from a larger one, on a corpus.

    Example: zh-albert distil small.toml --resume
    """
    from zh_albert.pretraining.distil import DistilConfig
    from zh_albert.pretraining.distil import distil as job

    _run_encoder_job(job, _settings(DistilConfig, config, set_), resume=resume, as_json=as_json)


def _settings(kind: type[Any], config: Path | None, overrides: list[str] | None) -> Any:
    """Return the settings of a file, if there is one, with those of ``--set`` over them."""
    from zh_albert import configio

    values = configio.read_toml(config) if config else {}
    values = configio.merged(values, configio.parse_overrides(overrides or []))
    return configio.build(kind, values, source=str(config or "--set"))


@contextmanager
def training_display() -> Iterator[TrainingDisplay]:
    """Show a run's progress; after Ctrl-C say how to go on, and end with its code."""
    from zh_albert.cli.progress import TrainingDisplay, echo

    try:
        with TrainingDisplay() as display:
            yield display
    except KeyboardInterrupt:
        echo("stopped; the same command with --resume goes on")
        sys.exit(130)


def _run_encoder_job(
    job: Callable[..., RunState], settings: Any, *, resume: bool, as_json: bool
) -> None:
    from zh_albert.cli.memory import keep_freed_memory
    from zh_albert.cli.progress import tell_if_nothing_resumes
    from zh_albert.training.loop import is_first_process

    keep_freed_memory()
    tell_if_nothing_resumes(Path(settings.out), resume=resume)
    with training_display() as display:
        position = job(settings, resume=resume, observers=[display])
    result = {
        "model": str(settings.out),
        **position.best_metrics,
        "train_seconds": round(position.seconds, 1),
        "tokens": position.tokens,
        **_updates(position),
    }
    if is_first_process():
        _show(result, as_json=as_json)


def _updates(position: RunState) -> dict[str, Any]:
    """Return what a run's result says about its updates."""
    early = {"stopped_early": True} if position.stopped_early else {}
    return {"updates": position.update, "best_update": position.best_update, **early}


def evaluate(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    file: Annotated[Path, typer.Argument(help="Task-format file with labels.")],
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    sheet: Sheet = None,
    as_json: Json = False,
) -> None:
    """Score a model on a labelled file.

    Example: zh-albert evaluate sentiment dev.jsonl --json
    """
    from zh_albert.checkpoints.resolve import resolve_model
    from zh_albert.checkpoints.store import load_config
    from zh_albert.cli.progress import TrainingDisplay
    from zh_albert.tasks.catalog import task_of

    folder = resolve_model(model)
    _, metadata = load_config(folder)
    with TrainingDisplay() as display:
        layout = _layout(text_column, label_column, sheet, [file])
        scores = task_of(folder, metadata).score(folder, file, layout=layout, progress=display)
    _show(scores, as_json=as_json)


def baseline(
    train: Annotated[list[Path], typer.Option(help="Task-format file to learn from; repeatable.")],
    dev: Annotated[list[Path], typer.Option(help="Task-format file to score on; repeatable.")],
    task: TaskName = "classification",
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    sheet: Sheet = None,
    exclude: Exclude = None,
    as_json: Json = False,
) -> None:
    """Score a baseline of the task on the same files.

    A linear model or a search over TF-IDF of characters, for tags a linear-chain CRF; docs/tasks
    says which.

    Example: zh-albert baseline --task classification --train train.jsonl --dev dev.jsonl
    """
    from zh_albert.cli.progress import echo
    from zh_albert.tasks.fields import is_number
    from zh_albert.tasks.texts import refuse_none, without

    face = TASKS[task]
    layout = _layout(text_column, label_column, sheet, train + dev)
    examples = without(_read(face, train, layout), _read(face, exclude or [], layout))
    refuse_none(examples)
    scores = face.score_baseline(examples, _read(face, dev, layout))
    labels = [getattr(example, "label", None) for example in examples]
    if "pearson" in scores and task in ("classification", "pair"):
        echo('note: the labels are numbers, so values are learned; for classes write them as "0"')
    elif any(isinstance(label, str) and "." in label and is_number(label) for label in labels):
        echo("note: numbers of a table are names of classes here; values want JSON Lines")
    _show({**scores, "task": task}, as_json=as_json)


def _layout(
    text: str | None, label: str | None, sheet: str | None, files: list[Path]
) -> TableLayout:
    """Return what the options say about tables."""
    from zh_albert.tables.columns import TableLayout
    from zh_albert.tables.workbook import refuse_sheet

    refuse_sheet(sheet, files)
    columns = {"text": text, "label": label}
    return TableLayout({field: name for field, name in columns.items() if name}, sheet)


def _read(task: Task, paths: list[Path], layout: TableLayout) -> list[Any]:
    return [example for path in paths for example in task.read(path, layout)]


def _show(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(results_json(result))
        return
    for name, value in result.items():
        if isinstance(value, dict):
            typer.echo(f"{name}:")
            for part, scores in value.items():
                typer.echo(
                    f"  {part:<15} {'  '.join(f'{k} {_shown(v)}' for k, v in scores.items())}"
                )
        else:
            typer.echo(f"{name:<15} {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if value <= 1 else f"{value:.2f}"
    return str(value)
