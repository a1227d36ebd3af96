"""The checkpoint that a folder means: its file ``checkpoint``, several, none."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.checkpoints.tensorflow.locating import find_checkpoint
from zh_albert.errors import CheckpointError


def folder_with(folder: Path, *names: str, newest: str | None = None) -> Path:
    for name in names:
        (folder / f"{name}.index").touch()
        (folder / f"{name}.data-00000-of-00001").touch()
    if newest is not None:
        text = f'model_checkpoint_path: "{newest}"\nall_model_checkpoint_paths: "x"\n'
        (folder / "checkpoint").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "newest",
    [
        "model.ckpt-900",
        "/home/somebody/output/model.ckpt-900",
        "C:\\\\output\\\\model.ckpt-900",
        "C:\\users\\model.ckpt-900",  # written by hand
    ],
)
def test_of_several_the_one_that_the_folder_names_is_taken(newest: str, tmp_path: Path) -> None:
    folder_with(tmp_path, "model.ckpt-900", "model.ckpt-1000", newest=newest)

    assert find_checkpoint(tmp_path) == tmp_path / "model.ckpt-900"


@pytest.mark.parametrize("written", ["模型.ckpt", "\\346\\250\\241\\345\\236\\213.ckpt"])
def test_a_name_may_be_chinese_as_it_is_or_in_octal(written: str, tmp_path: Path) -> None:
    folder_with(tmp_path, "模型.ckpt", "other.ckpt", newest=written)

    assert find_checkpoint(tmp_path) == tmp_path / "模型.ckpt"


def test_a_name_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    folder_with(tmp_path, "model.ckpt-900", "model.ckpt-1000", newest="model.ckpt-800")

    with pytest.raises(CheckpointError) as caught:
        find_checkpoint(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'checkpoint'}: expected the name of a checkpoint in this folder, found "
        "'model.ckpt-800'; there is model.ckpt-1000, model.ckpt-900: give one, as "
        f"{tmp_path / 'model.ckpt-900'}"
    )


def test_a_file_without_a_name_is_told(tmp_path: Path) -> None:
    (folder_with(tmp_path, "model.ckpt") / "checkpoint").write_bytes(b"\xff\x00")

    with pytest.raises(CheckpointError, match="expected a line model_checkpoint_path"):
        find_checkpoint(tmp_path)


def test_of_several_without_that_file_one_must_be_given(tmp_path: Path) -> None:
    folder_with(tmp_path, "a.ckpt", "b.ckpt")

    with pytest.raises(CheckpointError, match=r"expected one checkpoint, found a.ckpt, b.ckpt"):
        find_checkpoint(tmp_path)


def test_numbers_without_their_index_are_a_checkpoint_too(tmp_path: Path) -> None:
    (folder_with(tmp_path, "model.ckpt-5") / "model.ckpt-5.index").unlink()

    assert find_checkpoint(tmp_path) == tmp_path / "model.ckpt-5"


def test_a_folder_without_any_is_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")

    assert find_checkpoint(tmp_path) is None
