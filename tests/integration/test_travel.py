"""A loaded model in other processes: pickles and copies of it, and forks after its use."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from tests.helpers.micro import CONFIG, save_micro_models
from zh_albert import load
from zh_albert.checkpoints.manifest import MANIFEST
from zh_albert.checkpoints.resolve import BUNDLED, bundled_models
from zh_albert.errors import CheckpointError
from zh_albert.runtimes.selection import LazyRuntime
from zh_albert.tasks.segmentation.segmenter import TextSegmenter
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

ROOT = Path(__file__).parents[2]
KINDS = (
    *("encoder", "classifier", "labeller", "regressor", "pair", "tagger", "reader", "chooser"),
    *("embedder", "segmenter"),
)
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}
PROCESSES = """
import sys
from multiprocessing import get_context
from zh_albert import load

def main():
    model = load(sys.argv[2], runtime=sys.argv[3])
    texts = ["房间很干净,[MASK]务也好" * n for n in range(1, 9)] * 2
    here = repr(model(texts))  # used before a fork
    if sys.argv[1] == "loky":
        from joblib import Parallel, delayed
        there = Parallel(n_jobs=2)(delayed(model)(texts) for _ in range(2))
    else:
        with get_context(sys.argv[1]).Pool(2) as pool:
            there = pool.map_async(model, [texts, texts]).get(timeout=60)  # no endless wait
    print([repr(answers) == here for answers in there])

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    window = WindowConfig(max_length=32, stride=8)
    segmenter = TextSegmenter(CONFIG, default_tokenizer(), window=window)
    segmenter.save(folder / "segmenter", card="random weights")
    return {**save_micro_models(folder), "segmenter": folder / "segmenter"}


def answers(model: Any) -> list[Any]:
    content = model.form.example_content()
    return [model.row(answer) for answer in model.stream([content] * 3)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_answers_the_same_elsewhere(
    kind: str, way: str, folders: dict[str, Path]
) -> None:
    model = load(folders[kind])
    there = WAYS[way](model)
    assert type(there) is type(model)
    assert there is not model
    assert answers(WAYS[way](there)) == answers(there) == answers(model)


@pytest.mark.parametrize("name", bundled_models())
def test_a_bundled_model_travels_by_its_name(name: str) -> None:
    model = load(name)
    sent = pickle.dumps(model)
    assert len(sent) < 10_000
    assert str(BUNDLED).encode() not in sent
    assert answers(pickle.loads(sent)) == answers(model)


def test_settings_travel(folders: dict[str, Path]) -> None:
    labeller: Any = load(folders["labeller"], runtime="torch", precision="bf16")
    before = answers(labeller)
    labeller.threshold = max(before[0]["scores"].values())
    labeller.labels = ["甲", "乙", "丙"]
    filler: Any = load(folders["encoder"])
    filler.max_length = 7
    assert answers(labeller) != before
    for way in WAYS.values():
        there = way(labeller)
        assert answers(there) == answers(labeller)
        assert there._model.runtime.open().name == "torch bf16"
        assert way(filler).max_length == 7


def test_a_model_is_found_from_another_directory(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders["tagger"].parent)
    sent = pickle.dumps([load("tagger"), load("sentiment")])
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folders["tagger"], "sentiment")  # a namesake of a bundled model
    tagger, sentiment = pickle.loads(sent)
    assert (tagger.kind, sentiment.kind) == (load(folders["tagger"]).kind, "classifier")


def test_a_model_that_is_gone_or_another_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(folders["classifier"], tmp_path / "model")
    sent = pickle.dumps(load(folder))

    shutil.rmtree(folder)
    with pytest.raises(CheckpointError, match="no such model folder") as gone:
        pickle.loads(sent)
    assert "\n" not in str(gone.value)

    shutil.copytree(folders["pair"], folder)
    with pytest.raises(CheckpointError, match="another than the one that was pickled") as other:
        pickle.loads(sent)
    assert "\n" not in str(other.value)


def test_a_folder_without_manifest_is_known_by_its_weights(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(folders["classifier"], tmp_path / "model")
    (folder / MANIFEST).unlink()
    model = load(folder)
    sent = pickle.dumps(model)
    assert answers(pickle.loads(sent)) == answers(model)

    shutil.copytree(folders["labeller"], folder, dirs_exist_ok=True)
    (folder / MANIFEST).unlink()
    with pytest.raises(CheckpointError, match="another than the one that was pickled"):
        pickle.loads(sent)


def test_a_forked_process_opens_its_own_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    opener: Any = lambda: opened.append(object()) or opened[-1]  # noqa: E731
    runtime = LazyRuntime(opener)
    watched = runtime.watched(lambda _: lambda _: None)
    in_parent = runtime.open()
    assert in_parent is watched.open()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert runtime.open() is watched.open() is not in_parent
    assert len(opened) == 2


@pytest.mark.parametrize(
    ("start", "name", "runtime"),
    [
        ("spawn", "sentiment", "auto"),
        ("loky", "sentiment", "auto"),
        ("fork", "sentiment", "auto"),
        ("fork", "sentiment", "torch"),
        ("fork", "encoder", "auto"),
    ],
)
def test_two_processes_answer_as_one(start: str, name: str, runtime: str, tmp_path: Path) -> None:
    if start == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    program = tmp_path / "program.py"
    program.write_text(PROCESSES, encoding="utf-8")
    command = [sys.executable, str(program), start, name, runtime]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    ran = subprocess.run(
        command, capture_output=True, check=False, text=True, timeout=120, env=environment
    )
    assert ran.stdout == "[True, True]\n", ran.stderr
