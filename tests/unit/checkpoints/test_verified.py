"""Model folders are read as one save wrote them, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import safetensors.torch
import transformers

from tests.helpers.micro import save_micro_models, save_micro_pretrained
from zh_albert.checkpoints import verified as module
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.manifest import read_manifest
from zh_albert.checkpoints.pretrained_encoder import open_encoder
from zh_albert.checkpoints.verified import verified, verified_digest
from zh_albert.errors import CheckpointError
from zh_albert.inference.export import export
from zh_albert.inference.introspection import EncoderView
from zh_albert.inference.loading import load
from zh_albert.tasks.classification.classifier import TextClassifier

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_micro_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def folder(models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a classifier's folder, without a wait for a writer that may be at work."""
    monkeypatch.setattr(module, "_PAUSE_S", 0)
    return Path(shutil.copytree(models["classifier"], tmp_path / "model"))


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def swap_two_rows(path: Path) -> None:
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    rows[500], rows[501] = rows[501], rows[500]
    path.write_text("".join(rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        (WEIGHTS, flip_a_bit, "has another content"),
        ("vocab.txt", swap_two_rows, "has another content"),
        ("tokenizer_config.json", Path.unlink, "is missing"),
        ("config.json", lambda path: path.write_text("{}"), r"has 2 bytes instead of \d"),
    ],
)
def test_damage_is_told_in_one_line_wherever_weights_are_read(
    folder: Path, name: str, change: Callable[[Path], object], problem: str
) -> None:
    change(folder / name)
    readers: list[Callable[[Path], object]] = [
        load,
        TextClassifier.load,
        EncoderView.load,
        open_encoder,
        lambda folder: export(folder, folder.parent / "out", form="onnx"),
    ]
    for read in readers[:1] if name == "config.json" else readers:
        with pytest.raises(CheckpointError, match=f"model/{name}: {problem}") as caught:
            read(folder)
        assert "\n" not in str(caught.value)
        assert "another program has changed the folder" in str(caught.value)
        assert f"zh-albert convert {folder}" in str(caught.value)


def test_two_saves_mixed_are_refused(models: dict[str, Path], folder: Path) -> None:
    shutil.copy(models["pair"] / "config.json", folder)

    with pytest.raises(CheckpointError, match=r"config\.json: has .* bytes"):
        load(folder)


def test_a_writer_that_is_at_work_is_waited_for_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:-1])
    # Its own, not everybody's: threads of other libraries sleep, too.
    clock = SimpleNamespace(sleep=lambda _: (folder / WEIGHTS).write_bytes(whole))
    monkeypatch.setattr("zh_albert.checkpoints.verified.time", clock)

    TextClassifier.load(folder)


def test_the_card_may_be_edited_and_files_may_be_added(folder: Path) -> None:
    (folder / "README.md").write_text("mine", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")

    TextClassifier.load(folder)


def test_a_folder_without_a_manifest_is_read_as_it_is(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    flip_a_bit(folder / WEIGHTS)

    TextClassifier.load(folder)


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(folder: Path) -> None:
    copy = folder.with_name("copy")
    shutil.copy(folder / WEIGHTS, copy)
    with (
        pytest.raises(CheckpointError, match="while it was read: open it again"),
        verified(folder),
    ):
        copy.replace(folder / WEIGHTS)


def test_a_folder_is_checked_once_however_many_read_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[Path] = []
    compare = module.first_difference
    monkeypatch.setattr(
        module, "first_difference", lambda *given: checks.append(given[0]) or compare(*given)
    )
    load(folder)

    assert checks == [folder]


def test_digests_are_known_while_a_folder_is_read(folder: Path) -> None:
    manifest = read_manifest(folder)
    assert manifest is not None
    with verified(folder):
        assert verified_digest(folder, WEIGHTS) == manifest[WEIGHTS].sha256
        assert verified_digest(folder, "notes.txt") is None
    assert verified_digest(folder, WEIGHTS) is None


def test_what_transformers_saved_in_place_is_taken_over_by_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE_S", 0)
    folder = save_micro_pretrained(tmp_path / "encoder")
    theirs = transformers.AlbertForPreTraining.from_pretrained(folder)
    theirs.albert.pooler.bias.data += 1
    theirs.save_pretrained(folder)

    with pytest.raises(CheckpointError, match="another program has changed the folder"):
        load(folder)
    with (
        pytest.warns(UserWarning, match="may be others now: dev, trained_on"),
        pytest.warns(UserWarning, match="encoder/.*: taken as it is"),
    ):
        convert(folder, tmp_path / "ours", to="zh_albert")

    found = safetensors.torch.load_file(tmp_path / "ours" / WEIGHTS)
    assert (found["albert.pooler.bias"] == theirs.albert.pooler.bias).all()
    assert load(tmp_path / "ours").stream(["去[MASK]散步"])
