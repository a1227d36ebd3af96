"""Round trips through other packages, measured in one environment: one JSON line for each.

Run: make interop (or ``python -m tests.interop.rows`` in an environment that has the packages)

To add a system, write a function that yields its rows and name it in ``SYSTEMS``.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tests.helpers.micro import save_micro_models
from tests.helpers.round_trips import (
    HEADS,
    difference,
    network_here,
    numbers_here,
    numbers_there,
    opened_there,
    save_ours,
    trained_there,
)
from tests.interop.row import BACK, THERE, Row, print_rows
from zh_albert import load
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.tasks.catalog import network_of

_TEXTS = ["房间很干净，下次还来。", "今天 the weather 不错", "好", "服务太差了，一" * 3]


def transformers_heads(folder: Path) -> Iterator[Row]:
    """Every head: opened in ``transformers``, trained there for three updates, opened here."""
    system = f"transformers {version('transformers')}"
    for name, head in HEADS.items():
        ours, theirs = folder / name / "ours", folder / name / "theirs"
        ours.parent.mkdir()
        before = numbers_here(save_ours(head, ours))
        model = opened_there(head, ours)
        yield Row(system, name, THERE, difference(before, numbers_there(head, model)))
        trained = trained_there(head, model, theirs, ours)
        yield Row(system, name, BACK, difference(numbers_here(network_here(theirs)), trained))


def sentence_transformers_vectors(folder: Path) -> Iterator[Row]:
    """Sentence vectors: opened in ``sentence-transformers``, changed and saved there, and here."""
    from sentence_transformers import SentenceTransformer

    system = f"sentence-transformers {version('sentence-transformers')}"
    ours, there, back = folder / "ours", folder / "there", folder / "back"
    embedder = save_micro_models(ours)["embedder"]
    convert(embedder, there, to="sentence-transformers", network_of=network_of)
    model = SentenceTransformer(str(there), device="cpu")

    def apart(opened: Path | str) -> float:
        here = load(opened, runtime="torch")(_TEXTS)  # the bundled one computes in int8 otherwise
        return float(np.abs(np.asarray(here) - model.encode(_TEXTS)).max())

    yield Row(system, "sentence vectors", THERE, apart(embedder))
    for parameter in model.parameters():
        parameter.data *= 1.1
    model.save(str(back))
    yield Row(system, "sentence vectors", BACK, apart(back))
    bundled = resolve_model("embedder")
    convert(bundled, ours / "bundled", to="sentence-transformers", network_of=network_of)
    model = SentenceTransformer(str(ours / "bundled"), device="cpu")
    yield Row(system, "bundled embedder", THERE, apart("embedder"))


SYSTEMS: tuple[Callable[[Path], Iterator[Row]], ...] = (
    transformers_heads,
    sentence_transformers_vectors,
)


def main() -> None:
    """Print the rows of all systems."""
    import transformers

    transformers.logging.set_verbosity(logging.ERROR)
    transformers.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    for system in SYSTEMS:
        with tempfile.TemporaryDirectory() as name:
            print_rows(system(Path(name)))


if __name__ == "__main__":
    main()
