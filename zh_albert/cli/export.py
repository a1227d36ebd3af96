"""Command ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from zh_albert.cli.options import Json
from zh_albert.files.textio import results_json

if TYPE_CHECKING:
    from zh_albert.runtimes.onnx_graph import Opset


def export(
    model: Annotated[str, typer.Argument(help="Bundled name, folder or hub id.")],
    folder: Annotated[Path, typer.Argument(help="Folder to write.")],
    form: Annotated[
        Literal["onnx", "openvino", "zh_albert"],
        typer.Option(
            "--format",
            help="Runtime of the model; zh_albert: this library, from int8 weights.",
        ),
    ],
    precision: Annotated[
        Literal["fp32", "fp16", "bf16", "int8"],
        typer.Option(help="onnx: fp32, fp16 or int8; openvino: fp32 or bf16; zh_albert: int8."),
    ] = "fp32",
    opset: Annotated[
        int,
        typer.Option(help="onnx: version of the operators, 23, or 17 for older runtimes."),
    ] = 23,
    dev: Annotated[
        Path | None,
        typer.Option(help="Labelled file to score both models on; int8 may lose 0.5 points."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="Labelled file on which the scales of onnx int8 are fixed: faster."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a model folder that runs faster.

    On ONNX Runtime, on OpenVINO, or in this library from int8 weights. The folder is a model of
    this library as before, only faster, and its .onnx or .xml file can be used without the library.
    A pretrained encoder gives hidden states and, with its masked-LM head, logits of every token.
    Nothing is written unless the outputs of the file match those of the network.

    Example: zh-albert export sentiment runs/fast --format onnx --precision int8 --dev dev.jsonl
    """
    from zh_albert.checkpoints.resolve import resolve_model
    from zh_albert.cli.progress import TrainingDisplay, echo
    from zh_albert.inference.export import export as write_export

    with TrainingDisplay() as display:
        metadata = write_export(
            resolve_model(model),
            folder,
            form=form,
            precision=precision,
            opset=cast("Opset", opset),  # export refuses others
            dev=dev,
            calibration=calibration,
            progress=display,
        )
    if precision == "int8" and dev is None:
        echo(
            "note: the loss of accuracy by int8 was not measured; of a task's model, --dev FILE "
            "measures it"
        )
    if as_json:
        typer.echo(results_json({"model": str(folder), **metadata}))
        return
    typer.echo(f"{folder}: {form} {precision}, {metadata['bytes'] / 1e6:.1f} MB")
    typer.echo(f"  differs by {metadata['largest_difference']:.2g} of the largest output")
    if dev:
        scores = {name: value for name, value in metadata["dev"].items() if name != "metric"}
        shown = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
        typer.echo(f"  {metadata['dev']['metric']} on {dev}: {shown}")
