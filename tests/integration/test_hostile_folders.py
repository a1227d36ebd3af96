"""Model folders made to hang, to fill the memory or to answer NaN: each ends in one line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from zh_albert.checkpoints.resolve import resolve_model

MORE_MB = 400  # than an honest folder takes
LONGEST_S = 30

# Runs every folder of a list through the command line, in one process: its memory shows the worst.
RUN = """
import contextlib, io, json, resource, sys, time
from pathlib import Path
from zh_albert.cli.app import main

def ran(folder):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    began = time.monotonic()
    sys.argv = ["zh-albert", "predict", str(folder), str(folder.parent / "texts.txt")]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException as error:
            code = repr(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return code, err.getvalue().strip(), peak, time.monotonic() - began

_, root, *names = sys.argv
for name in names:
    print(json.dumps([name, *ran(Path(root) / name)]), flush=True)
"""


def changed_config(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_bytes())
        change(content)
        replace(folder / "config.json", json.dumps(content).encode())

    return write


def changed_task(**changes: Any) -> Callable[[Path], None]:
    return changed_config(lambda content: content["zh_albert"]["task"].update(changes))


def sized(**sizes: Any) -> Callable[[Path], None]:
    return changed_config(lambda content: content.update(sizes))


def content_of(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: replace(folder / name, content)


def special(name: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return write


def endless(name: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("/dev/zero")

    return write


def sparse(name: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        replace(folder / name, b"")
        os.truncate(folder / name, 10 << 30)

    return write


def changed_tensor(ending: str, change: Callable[[torch.Tensor], Any]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        name = next(name for name in sorted(tensors) if name.endswith(ending))
        new = change(tensors[name])
        tensors[name] = tensors[name] if new is None else new
        replace(folder / "model.safetensors", safetensors.torch.save(tensors))

    return write


def changed_ngrams(**changes: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        with np.load(folder / "ngrams.npz") as archive:
            arrays = {**archive}
        file = io.BytesIO()
        np.savez_compressed(file, **{**arrays, **changes}, allow_pickle=False)
        replace(folder / "ngrams.npz", file.getvalue())

    return write


def promising(*shape: int, stored: int) -> Callable[[Path], None]:
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


def index(content: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors.index.json").write_text(json.dumps(content))

    return write


def replace(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)  # it may be a link into the package
    path.write_bytes(content)


def ones(count: int) -> list[str]:
    return [str(number) for number in range(count)]


CASES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "NaN": (changed_tensor("classifier.weight", lambda t: t[0].fill_(torch.nan)), "finite"),
    "infinite scale": (changed_tensor(".scale", lambda t: t.fill_(torch.inf)), "finite scales"),
    "large scale": (changed_tensor(".scale", lambda t: t.fill_(3e38)), "found NaN or infinity"),
    "overflow": (changed_tensor("embeddings.norm.weight", lambda t: t.fill_(6e4)), ""),
    "int8 bomb": (changed_tensor("word.weight", bomb), "ZH_ALBERT_MAX_MB"),
    "npz bomb": (promising(4, 1 << 29, stored=2 << 30), "ZH_ALBERT_MAX_MB"),
    "npz shape": (promising(4, 10**12, stored=1 << 20), "promises 4,000,000,000,000 bytes"),
    "npz NaN": (changed_ngrams(offsets=np.full(2, np.nan, "f2")), "offsets: expected finite"),
    "npz scales": (changed_ngrams(scales=np.full(2, np.inf, "f4")), "scales: expected finite"),
    "npz shapes": (changed_ngrams(offsets=np.zeros(5, "f2")), "found the shapes"),
    "npz orders": (changed_ngrams(orders=np.array(10**9)), "whole number of 1 to"),
    "npz objects": (changed_ngrams(rarity=np.array(["a"])), "ngrams.npz: missing or damaged"),
    "layers": (sized(num_hidden_layers=10**6), "num_hidden_layers must be at most 1,000"),
    "groups": (sized(num_hidden_groups=10**6), "num_hidden_groups must be at most 1,000"),
    "positions": (sized(max_position_embeddings=10**9), "expected sizes that fit the weights"),
    "width": (sized(hidden_size=12 * 10**5), "expected sizes that fit the weights"),
    "inner": (sized(intermediate_size=10**12), "expected sizes that fit the weights"),
    "vocabulary": (sized(vocab_size=10**15), "expected sizes that fit the weights"),
    "epsilon": (sized(layer_norm_eps=float("nan")), "layer_norm_eps must be a finite number"),
    "many labels": (changed_task(labels=ones(10**6)), "expected sizes that fit the weights"),
    "same labels": (changed_task(labels=["a", "a"]), "found 'a' twice"),
    "no strings": (changed_task(labels=[1, 2]), "labels: expected strings, found 1"),
    "share": (changed_task(ngrams={"weight": float("nan"), "scale": 1}), "weight: expected a fin"),
    "word as share": (changed_task(ngrams={"weight": "x", "scale": 1}), "ngrams: expected numbers"),
    "word as length": (changed_task(max_length="x"), "max_length: expected a whole number"),
    "deep config": (content_of("config.json", b"[" * 10**6), "nested too deep"),
    "deep manifest": (content_of("manifest.json", b"[" * 10**6), "damaged"),
    "deep export": (content_of("export.json", b"[" * 10**6), "run zh-albert export again"),
    "deep tokenizer": (content_of("tokenizer_config.json", b"[" * 10**6), "nested too deep"),
    "deep index": (index({"weight_map": 1}), "expected JSON with a weight_map"),
    "number in index": (index({"weight_map": {"a": 5}}), "5 is not a file name"),
    "path in index": (index({"weight_map": {"a": "../a.safetensors"}}), "is not a file name"),
    "endless config": (sparse("config.json"), "more than 67,108,864 bytes"),
    "endless line": (sparse("vocab.txt"), "line 1: expected a line of at most 67,108,864 bytes"),
    "sparse weights": (sparse("model.safetensors"), "not a complete safetensors file"),
    "sparse n-grams": (sparse("ngrams.npz"), "ngrams.npz: missing or damaged"),
    **{
        f"{what} {name}": (make(name), name.removesuffix(".txt"))
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


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, str, int, float]]:
    """Exit code, standard error, peak memory so far (MiB) and seconds of every folder."""
    root = tmp_path_factory.mktemp("hostile")
    (root / "texts.txt").write_text("很好\n", encoding="utf-8")
    honest = resolve_model("sentiment")
    for name in ["first", *CASES]:
        (root / name).mkdir()
        for path in honest.iterdir():
            if path.name not in ("manifest.json", "export.json"):
                (root / name / path.name).symlink_to(path)
        if name in CASES:
            CASES[name][0](root / name)
    command = [sys.executable, "-c", RUN, str(root), "first", *CASES]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return {name: (code, err, peak, seconds) for name, code, err, peak, seconds in rows}


def test_the_folder_they_were_made_from_answers(
    ends: dict[str, tuple[Any, str, int, float]],
) -> None:
    assert ends["first"][0] in (0, None), ends["first"]


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_folder_ends_in_one_line(
    name: str, ends: dict[str, tuple[Any, str, int, float]]
) -> None:
    code, err, peak, seconds = ends[name]
    if name == "overflow":  # finite in the file: whether it overflows is the network's matter
        assert code in (0, None, 2)
        return
    assert code == 2, err
    assert err.startswith("error: ")
    assert err.count("\n") == 0
    assert CASES[name][1] in err
    assert peak < ends["first"][2] + MORE_MB
    assert seconds < LONGEST_S
