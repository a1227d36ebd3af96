"""Copies of bundled models that were damaged on the way: bits, ends, files of other models."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch
import torch

from tests.helpers.ended_commands import Case, replace
from tests.helpers.hostile_folders import Writer, changed_tensor
from zh_albert.checkpoints.resolve import resolve_model

FILES = (
    "config.json",
    "export.json",
    "manifest.json",
    "model.safetensors",
    "ngrams.npz",
    "tokenizer_config.json",
    "vocab.txt",
)
OTHERS = ("ner", "news", "nli", "similarity")
FLIPS = 6  # of each file


def flipped(name: str, seed: int) -> Writer:
    """Return what changes one bit of a file; every second one is near its beginning."""

    def write(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        rng = random.Random(f"{name} {seed}")
        place = rng.randrange(min(len(content), 256) if seed % 2 else len(content))
        content[place] ^= 1 << rng.randrange(8)
        replace(folder / name, bytes(content))

    return write


def cut(name: str, share: float) -> Writer:
    """Return what leaves a share of a file; of 1, all but two bytes: the last may be a line end."""

    def write(folder: Path) -> None:
        content = (folder / name).read_bytes()
        replace(folder / name, content[: min(int(len(content) * share), len(content) - 2)])

    return write


def longer(name: str) -> Writer:
    """Return what appends a byte to a file."""
    return lambda folder: replace(folder / name, (folder / name).read_bytes() + b"\0")


def missing(name: str) -> Writer:
    """Return what removes a file."""
    return lambda folder: (folder / name).unlink()


def of_another(name: str, model: str) -> Writer:
    """Return what puts the file of another model in place of a model's own."""
    return lambda folder: replace(folder / name, (resolve_model(model) / name).read_bytes())


def damaged() -> dict[str, Case]:
    """Return all of them, by what was done.

    With their manifest, all are refused. Without, a damage that leaves a file that could be right
    (a bit of a weight, the name of a label) cannot be seen.
    """
    return {
        f"{what}, {'with its manifest' if checked else 'without a manifest'}": Case(
            write,
            # The manifest cannot tell that it is missing itself.
            may_answer=not checked or what == "manifest.json missing",
            checked=checked,
        )
        for checked in (True, False)
        for what, write in _damages()
        if checked or what.split()[0] not in ("manifest.json", "export.json")
    } | {f"NaN in {name}": Case(changed_tensor(name, _broken), "finite") for name in _numbers()}


def _broken(tensor: torch.Tensor) -> None:
    tensor.view(-1)[-1] = torch.nan


def _numbers() -> list[str]:
    """Return the names of tensors with numbers that can be NaN."""
    tensors = safetensors.torch.load_file(resolve_model("sentiment") / "model.safetensors")
    return [name for name, tensor in sorted(tensors.items()) if tensor.is_floating_point()]


def _damages() -> Iterator[tuple[str, Writer]]:
    for name in FILES:
        for seed in range(FLIPS):
            yield f"{name} with a changed bit ({seed + 1})", flipped(name, seed)
        for share in (0, 0.1, 0.9, 1):
            yield f"{name} cut to {share:.0%}", cut(name, share)
        yield f"{name} with a byte more", longer(name)
        yield f"{name} missing", missing(name)
        others = OTHERS if name == "model.safetensors" else OTHERS[1:2]
        for model in others:
            if name not in ("vocab.txt", "tokenizer_config.json"):  # all have the same
                yield f"{name} of {model}", of_another(name, model)
