"""Model folders made to hang, to fill the memory or to answer NaN."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch

from tests.helpers.ended_commands import Case, replace

Writer = Callable[[Path], Any]


def changed_config(change: Callable[[dict[str, Any]], Any]) -> Writer:
    def write(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_bytes())
        change(content)
        replace(folder / "config.json", json.dumps(content).encode())

    return write


def changed_task(**changes: Any) -> Writer:
    return changed_config(lambda content: content["zh_albert"]["task"].update(changes))


def changed_ours(**changes: Any) -> Writer:
    return changed_config(lambda content: content["zh_albert"].update(changes))


def sized(**sizes: Any) -> Writer:
    return changed_config(lambda content: content.update(sizes))


def content_of(name: str, content: bytes) -> Writer:
    return lambda folder: replace(folder / name, content)


def special(name: str) -> Writer:
    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return write


def endless(name: str) -> Writer:
    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("/dev/zero")

    return write


def sparse(name: str) -> Writer:
    def write(folder: Path) -> None:
        replace(folder / name, b"")
        os.truncate(folder / name, 10 << 30)

    return write


def changed_tensor(ending: str, change: Callable[[torch.Tensor], Any]) -> Writer:
    def write(folder: Path) -> None:
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        name = next(name for name in sorted(tensors) if name.endswith(ending))
        new = change(tensors[name])
        tensors[name] = tensors[name] if new is None else new
        replace(folder / "model.safetensors", safetensors.torch.save(tensors))

    return write


def changed_ngrams(**changes: Any) -> Writer:
    def write(folder: Path) -> None:
        with np.load(folder / "ngrams.npz") as archive:
            arrays = {**archive}
        file = io.BytesIO()
        np.savez_compressed(file, **{**arrays, **changes}, allow_pickle=False)
        replace(folder / "ngrams.npz", file.getvalue())

    return write


def promising(*shape: int, stored: int) -> Writer:
    """An archive of arrays of that shape in 3 MB or less; ``stored`` bytes really follow."""

    def write(folder: Path) -> None:
        file, piece = io.BytesIO(), bytes(1 << 20)
        with (
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("names.npy", "w", force_zip64=True) as part,
        ):
            header = {"descr": "|u1", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(part, header)
            for _ in range(stored >> 20):
                part.write(piece)
        replace(folder / "ngrams.npz", file.getvalue())

    return write


def bomb(_: torch.Tensor) -> torch.Tensor:
    deflate, piece = zlib.compressobj(9), bytes(1 << 20)
    packed = b"".join(deflate.compress(piece) for _ in range(2048)) + deflate.flush()
    return torch.from_numpy(np.frombuffer(packed, np.uint8).copy())


def index(content: Any) -> Writer:
    def write(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps(content))

    return write


def ones(count: int) -> list[str]:
    return [str(number) for number in range(count)]


CASES: dict[str, Case] = {
    "NaN": Case(changed_tensor("classifier.weight", lambda t: t[0].fill_(torch.nan)), "finite"),
    "infinite scale": Case(changed_tensor(".scale", lambda t: t.fill_(torch.inf)), "finite scales"),
    "large scale": Case(changed_tensor(".scale", lambda t: t.fill_(3e38)), "found NaN or infinity"),
    "overflow": Case(
        changed_tensor("embeddings.norm.weight", lambda t: t.fill_(6e4)), may_answer=True
    ),
    "int8 bomb": Case(changed_tensor("word.weight", bomb), "ZH_ALBERT_MAX_MB"),
    "npz bomb": Case(promising(4, 1 << 29, stored=2 << 30), "ZH_ALBERT_MAX_MB"),
    "npz shape": Case(promising(4, 10**12, stored=1 << 20), "promises 4,000,000,000,000 bytes"),
    "npz NaN": Case(changed_ngrams(offsets=np.full(2, np.nan, "f2")), "offsets: expected finite"),
    "npz scales": Case(changed_ngrams(scales=np.full(2, np.inf, "f4")), "scales: expected finite"),
    "npz shapes": Case(changed_ngrams(offsets=np.zeros(5, "f2")), "found the shapes"),
    "npz orders": Case(changed_ngrams(orders=np.array(10**9)), "whole number of 1 to"),
    "npz objects": Case(changed_ngrams(rarity=np.array(["a"])), "ngrams.npz: missing or damaged"),
    "layers": Case(sized(num_hidden_layers=10**6), "num_hidden_layers must be at most 1,000"),
    "groups": Case(sized(num_hidden_groups=10**6), "num_hidden_groups must be at most 1,000"),
    "positions": Case(sized(max_position_embeddings=10**9), "expected sizes that fit the weights"),
    "width": Case(sized(hidden_size=12 * 10**5), "expected sizes that fit the weights"),
    "inner": Case(sized(intermediate_size=10**12), "expected sizes that fit the weights"),
    "vocabulary": Case(sized(vocab_size=10**15), "expected sizes that fit the weights"),
    "head width": Case(changed_ours(head_size=10**12), "expected sizes that fit the weights"),
    "neurons": Case(
        changed_ours(block_neurons=[10**12] * 4), "expected sizes that fit the weights"
    ),
    "heads": Case(changed_ours(block_heads=[10**6] * 4), "block_heads must be at most 1,000 each"),
    "plan": Case(changed_ours(plan=[[0, 0]] * 10**6), "plan must have an entry for each of the"),
    "number as plan": Case(changed_ours(plan=5), "plan: expected a valid tuple, found 5"),
    "epsilon": Case(sized(layer_norm_eps=float("nan")), "layer_norm_eps must be a finite number"),
    "many labels": Case(changed_task(labels=ones(10**6)), "expected sizes that fit the weights"),
    "same labels": Case(changed_task(labels=["a", "a"]), "found 'a' twice"),
    "no strings": Case(changed_task(labels=[1, 2]), "labels: expected a list of strings, found [1"),
    "number as labels": Case(changed_task(labels=5), "labels: expected a list of strings, found 5"),
    "word as threshold": Case(changed_task(threshold="x"), "threshold: expected a number"),
    "share": Case(
        changed_task(ngrams={"weight": float("nan"), "scale": 1}), "weight: expected a fin"
    ),
    "word as share": Case(
        changed_task(ngrams={"weight": "x", "scale": 1}), "ngrams: expected numbers"
    ),
    "word as length": Case(changed_task(max_length="x"), "max_length: expected a whole number"),
    "number as widths": Case(changed_task(widths=3), "widths: expected a list of whole numbers"),
    "deep config": Case(content_of("config.json", b"[" * 10**6), "nested too deep"),
    "deep manifest": Case(content_of("manifest.json", b"[" * 10**6), "damaged"),
    "deep export": Case(content_of("export.json", b"[" * 10**6), "run zh-albert export again"),
    "deep tokenizer": Case(content_of("tokenizer_config.json", b"[" * 10**6), "nested too deep"),
    "deep index": Case(index({"weight_map": 1}), "expected JSON with a weight_map"),
    "number in index": Case(index({"weight_map": {"a": 5}}), "5 is not a file name"),
    "path in index": Case(index({"weight_map": {"a": "../a.safetensors"}}), "is not a file name"),
    "endless config": Case(sparse("config.json"), "more than 67,108,864 bytes"),
    "endless line": Case(
        sparse("vocab.txt"), "line 1: expected a line of at most 67,108,864 bytes"
    ),
    "sparse weights": Case(sparse("model.safetensors"), "not a complete safetensors file"),
    "sparse n-grams": Case(sparse("ngrams.npz"), "ngrams.npz: missing or damaged"),
    **{
        f"{what} {name}": Case(make(name), name.removesuffix(".txt"))
        for what, make in {"pipe": special, "device": endless}.items()
        for name in (
            "config.json",
            "manifest.json",
            "export.json",
            "model.safetensors",
            "vocab.txt",
            "tokenizer_config.json",
            "ngrams.npz",
            "model.onnx",
        )
        if name != "model.onnx" or what == "pipe"
    },
}
