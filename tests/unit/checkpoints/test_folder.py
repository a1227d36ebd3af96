"""Folders replaced as a whole."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import filelock
import pytest
import torch

from zh_albert.checkpoints import folder as folder_module
from zh_albert.checkpoints.folder import SAVED, finish_save, replace_folder
from zh_albert.checkpoints.store import load_config, save_model
from zh_albert.errors import CheckpointError
from zh_albert.files.textio import atomic_write
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.pretraining_heads import AlbertForPretraining

CONFIG = AlbertConfig(
    vocab_size=20,
    embedding_size=6,
    hidden_size=12,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=19,
    max_position_embeddings=16,
)
FILES = {"vocab.txt": "[PAD]\n房\n", "README.md": b"# card\n"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small pretraining model's folder, in float32."""
    torch.manual_seed(0)
    model = AlbertForPretraining(CONFIG)
    folder = tmp_path / "model"
    save_model(folder, model=model, config=CONFIG, files=FILES, task={}, dtype=torch.float32)
    return folder


def test_a_full_disk_leaves_the_old_folder_whole(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    write = folder_module.write_file

    def full(path: Path, content: bytes) -> None:
        if path.name == "model.safetensors":
            write(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, content)

    monkeypatch.setattr(folder_module, "write_file", full)
    model = AlbertForPretraining(CONFIG)
    with pytest.raises(CheckpointError, match=r"No space left.*unchanged; free [1-9]\d* MB"):
        save_model(saved, model=model, config=CONFIG, files=FILES, task={})
    with pytest.raises(CheckpointError, match="No space left"):
        save_model(saved.parent / "new", model=model, config=CONFIG, files=FILES, task={})

    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_a_new_folder_is_readable_as_others_are(saved: Path) -> None:
    (saved.parent / "plain").mkdir()

    assert saved.stat().st_mode == (saved.parent / "plain").stat().st_mode


def test_saving_over_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("", encoding="utf-8")

    with pytest.raises(CheckpointError, match="a file of that name exists"):
        save_model(tmp_path / "m", model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})


def test_what_is_half_written_is_known_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names that are cleared are those that are written."""
    names: list[str] = []

    def kill(_: int) -> None:
        names.extend(path.name for path in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", kill)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(tmp_path / "model", {"config.json": "{}"})
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "state") as file:
        file.write(b"1")
    assert names[0].startswith(".model.half-written.")
    assert names[1].startswith(".state.half-written.")


def test_a_cut_off_save_is_finished_by_whoever_opens_the_folder(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("export.json", "notes.txt"):
        (saved / name).write_text("{}", encoding="utf-8")
    replace, moved = Path.replace, []

    def killed(path: Path, target: Path) -> None:
        if len(moved) == 1:
            raise KeyboardInterrupt
        moved.append(replace(path, target))

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(saved, {"config.json": "new", "vocab.txt": "new", "a.txt": "new"})
    monkeypatch.undo()
    assert len([*(saved / SAVED).iterdir()]) == 3
    finish_save(saved)

    files = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert {name for name, content in files.items() if content == b"new"} == {
        "config.json",
        "vocab.txt",
        "a.txt",
    }
    assert "notes.txt" in files
    assert not files.keys() & {"export.json", SAVED}


def test_a_cut_off_save_that_cannot_be_finished_is_told(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (saved / SAVED).mkdir()
    (saved / SAVED / "vocab.txt").write_text("new", encoding="utf-8")

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(CheckpointError, match=r"cut off there and cannot be finished .*may write"):
        load_config(saved)


@pytest.mark.timeout(20)
def test_only_a_folder_of_that_name_is_a_cut_off_save(saved: Path, tmp_path: Path) -> None:
    expected = load_config(saved)
    (saved / SAVED).write_text("", encoding="utf-8")
    assert load_config(saved) == expected

    (saved / SAVED).unlink()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    (saved / SAVED).symlink_to(tmp_path / "mine")
    assert load_config(saved) == expected
    assert (tmp_path / "mine" / "letter.txt").exists()


def test_an_error_after_the_decisive_step_says_that_the_model_is_saved(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", broken)
        with pytest.raises(CheckpointError, match=r"saved, but then the disk failed \(Input"):
            replace_folder(saved, {"vocab.txt": "new"})
    finish_save(saved)
    assert (saved / "vocab.txt").read_text(encoding="utf-8") == "new"


def test_a_job_that_holds_a_lock_in_the_folder_keeps_it(saved: Path) -> None:
    (saved / "training").mkdir()
    with filelock.FileLock(saved / "training/lock"):
        before = (saved / "training").stat().st_ino
        replace_folder(saved, {"vocab.txt": "new"})
        assert (saved / "training").stat().st_ino == before
        with pytest.raises(filelock.Timeout):
            filelock.FileLock(saved / "training/lock", timeout=0, is_singleton=False).acquire()
