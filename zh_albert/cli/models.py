"""Commands ``models``, ``inspect`` and ``convert``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from zh_albert.cli.options import Json
from zh_albert.errors import ConfigError
from zh_albert.files.textio import results_json


def models(as_json: Json = False) -> None:
    """List the bundled models.

    Example: zh-albert models --json
    """
    from zh_albert.checkpoints.files import count_parameters
    from zh_albert.checkpoints.resolve import bundled_models, resolve_model
    from zh_albert.checkpoints.store import load_config
    from zh_albert.checkpoints.verified import verified

    rows = []
    for name in bundled_models():
        folder = resolve_model(name)
        with verified(folder):
            _, task = load_config(folder)
            parameters = count_parameters(folder)
        rows.append(
            {
                "name": name,
                "task": task.get("name"),
                "labels": task.get("labels", []),
                "parameters": parameters,
                "size_bytes": sum(path.stat().st_size for path in folder.iterdir()),
                "dev": task.get("dev", {}),
                "trained_on": task.get("trained_on", ""),
                "commercial_use": task.get("commercial_use") or "not stated",
            }
        )
    if as_json:
        typer.echo(results_json({"models": rows}))
        return
    for row in rows:
        scores = ", ".join(f"{name} {value:.5g}" for name, value in row["dev"].items())
        labels = row["labels"] if len(row["labels"]) > 1 else []  # regression has a single one
        count = f", {len(labels)} labels" if labels else ""
        typer.echo(f"{row['name']}: {row['task']}{count}")
        if labels:
            typer.echo(f"  {', '.join(labels)}")
        typer.echo(f"  {row['parameters']:,} parameters, {row['size_bytes'] / 1e6:.1f} MB")
        typer.echo(f"  dev: {scores or 'not evaluated'}")
        typer.echo(f"  trained on: {row['trained_on']}")
        typer.echo(f"  commercial use of the data: {row['commercial_use']}")


def inspect(
    model: Annotated[str, typer.Argument(help="A preset (tiny … xxlarge), a name or a folder.")],
    sharing: Annotated[
        Literal["all", "attention", "ffn", "none"] | None,
        typer.Option(help="Count with another sharing of parameters across layers."),
    ] = None,
    vocab_size: Annotated[
        int | None, typer.Option(min=1, help="Count with another vocabulary size.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model's sizes and exact parameter counts.

    "encoder_parameters" are embeddings, layers and pooler; "parameters" includes both pretraining
    heads.

    Example: zh-albert inspect base --sharing none --json
    """
    import dataclasses

    from zh_albert.checkpoints.resolve import resolve_model
    from zh_albert.checkpoints.store import load_config
    from zh_albert.model.config import PRESETS, fields_of, is_pruned
    from zh_albert.model.size import parameter_counts

    task: dict[str, Any] = {}
    if model in PRESETS:
        config = PRESETS[model]
    else:
        config, task = load_config(resolve_model(model))
    if sharing is not None and (config.plan or is_pruned(config) or config.layer != "transformer"):
        raise ConfigError(f"--sharing: the layers of {model} run blocks of their own choice")
    changes: dict[str, Any] = {"sharing": sharing, "vocab_size": vocab_size}
    config = dataclasses.replace(config, **{k: v for k, v in changes.items() if v is not None})
    result: dict[str, Any] = {"model": model, **parameter_counts(config)}
    result["config"] = fields_of(config)
    if task:
        result["task"] = task
    if as_json:
        typer.echo(results_json(result))
        return
    for name, value in result.items():
        if isinstance(value, int):
            typer.echo(f"{name:<20} {value:>12,}")
    for name, value in result["config"].items():
        typer.echo(f"{name:<30} {value}")


def convert(
    source: Annotated[
        str,
        typer.Argument(
            help="Bundled name, folder or hub id; a TensorFlow checkpoint (its folder, its prefix "
            "or its .index); a PyTorch file of UER-py, or a transformers folder with one."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="Folder to write.")],
    to: Annotated[
        Literal["zh_albert", "huggingface", "sentence-transformers", "google"],
        typer.Option(help="The layout to write; google is a TensorFlow checkpoint."),
    ] = "zh_albert",
    vocab: Annotated[
        Path | None,
        typer.Option(
            help="A vocab.txt for the model: its rows are those of the same token, else of a "
            "similar one, else means of several."
        ),
    ] = None,
    merge_pieces: Annotated[
        bool,
        typer.Option(
            "--merge-pieces",
            help="Add the masked-LM bias of dropped ##字 rows to that of 字.",
        ),
    ] = False,
    weights: Annotated[
        Literal["float32", "float16", "int8"] | None,
        typer.Option(
            help="Type of the stored weights; int8 is less than half as large as float16 and only "
            "for this project's layout. By default unchanged, int8 as float32."
        ),
    ] = None,
    task: Annotated[
        Literal["encoder", "classification", "pair", "choice", "reading"] | None,
        typer.Option(
            help="What the head of a fine-tuned TensorFlow checkpoint is for; encoder leaves it "
            "out. By default what its tensors show."
        ),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="Names of the classes of such a checkpoint, in the order of its outputs.",
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Convert between checkpoint layouts.

    Those of google-research/albert, albert_zh, UER-py and transformers, and this project's model
    folders. A teacher becomes an untied encoder over this project's vocabulary.

    Example: zh-albert convert albert_tiny_zh/albert_model.ckpt out --vocab shorter.txt

    Example: zh-albert convert runs/news news-int8 --weights int8

    Example: zh-albert convert output/model.ckpt-1000 lcqmc --task pair --labels 0,1
    """
    import torch

    from zh_albert.checkpoints.convert import convert as convert_model
    from zh_albert.checkpoints.foreign.convert import convert_teacher, is_teacher
    from zh_albert.tasks.catalog import network_of
    from zh_albert.training.run_folder import refuse_trained

    if merge_pieces and vocab is None:
        raise ConfigError("--merge-pieces is about dropped rows; give --vocab, too")
    if weights and to == "google":
        raise ConfigError("--weights: a TensorFlow checkpoint has float32 weights; leave it out")
    refuse_trained(folder, source=source)
    if is_teacher(source):
        if to != "zh_albert" or vocab is not None or weights or task or labels:
            raise ConfigError(
                f"{source}: a teacher is always converted to this project's vocabulary and layout; "
                "leave out --to, --vocab, --weights, --task and --labels"
            )
        rows = convert_teacher(source, folder)
        text = (
            f"{rows.known:,} tokens known to the teacher, {rows.put_together:,} combined from its "
            f"pieces, {len(rows.unknown):,} unknown to it"
        )
        _show_converted(folder, text, as_json=as_json)
        return
    done = convert_model(
        source,
        folder,
        to=to,
        vocabulary=vocab,
        merge_pieces=merge_pieces,
        dtype=getattr(torch, weights) if weights else None,
        network_of=network_of,
        task=task,
        labels=[label.strip() for label in labels.split(",")] if labels else (),
    )
    text = str(done.vocabulary) if done.vocabulary else ""
    _show_converted(folder, text, done.notes, as_json=as_json)


def _show_converted(
    folder: Path, vocabulary: str, notes: Sequence[str] = (), *, as_json: bool
) -> None:
    if as_json:
        content = {"folder": str(folder), "vocabulary": vocabulary or None, "notes": [*notes]}
        typer.echo(results_json(content, ascii_only=True))
        return
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    if vocabulary:
        typer.echo(f"vocabulary: {vocabulary}", err=True)
    typer.echo(str(folder))
