"""The checkpoint that a folder, a prefix or a file means.

Source: tensorflow/tensorflow, python/checkpoint/checkpoint_management.py (the file ``checkpoint``);
core/util/saved_tensor_slice_util.h (version 1).
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PureWindowsPath

from zh_albert.checkpoints.tensorflow.table import ends_as_table
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import read_plain

STATE_FILE = "checkpoint"
"""Text file in which TensorFlow names the newest of a folder's checkpoints."""
_NEWEST = re.compile(rb'^\s*model_checkpoint_path\s*:\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)


def find_checkpoint(source: Path) -> Path | None:
    """Return the prefix of the TensorFlow checkpoint that ``source`` means, None if it is none.

    Args:
        source: A folder, a prefix (``…/model.ckpt``), or one of a checkpoint's files. Of several
            checkpoints in a folder, the one that its file ``checkpoint`` names.

    Raises:
        CheckpointError: If a folder has several and names none, or one that is not there; or it is
            a checkpoint of version 1.
    """
    if source.is_dir():
        return _find_in_folder(source)
    if source.suffix == ".index" or source.suffix.startswith((".data-", ".meta")):
        return source.with_suffix("")
    if Path(f"{source}.index").exists():
        return source
    parts = source.parent.glob(f"{glob.escape(source.name)}-*-of-*")
    _refuse_version_1([source, *parts])
    return source if source.suffix.startswith(".ckpt") else None


def _find_in_folder(folder: Path) -> Path | None:
    files = [*folder.glob("*.index"), *folder.glob("*.data-*-of-*")]
    found = sorted({path.with_suffix("") for path in files})
    if not found:
        _refuse_version_1(folder.iterdir())
        return None
    state = folder / STATE_FILE
    if not state.is_file():
        if len(found) > 1:
            raise CheckpointError(
                f"{folder}: expected one checkpoint, found {_names(found)}; give one: {found[-1]}"
            )
        return found[0]
    newest = folder / _newest(state)
    if newest not in found:
        raise CheckpointError(
            f"{state}: expected the name of a checkpoint in this folder, found "
            f"{newest.name!r:.80}; there is {_names(found)}: give one, as {found[-1]}"
        )
    return newest


def _newest(state: Path) -> str:
    """Return the name in a file ``checkpoint``; its folder may have been another one then."""
    try:
        match = _NEWEST.search(read_plain(state))
    except OSError as error:
        raise CheckpointError(f"{state}: cannot be read: {error.strerror}") from None
    if not match:
        raise CheckpointError(
            f'{state}: expected a line model_checkpoint_path: "NAME", found none; correct the file '
            "or give the checkpoint's own path"
        )
    name = match[1]
    with suppress(UnicodeDecodeError):  # of "D:\\users", written by hand
        # Octal escapes stand for the bytes of a name in UTF-8.
        name = name.decode("unicode_escape").encode("latin-1", "replace")
    return PureWindowsPath(name.decode(errors="replace")).name


def _refuse_version_1(paths: Iterable[Path]) -> None:
    """Check that no file is a checkpoint of version 1, which is one table with everything."""
    for path in sorted(paths):
        if path.is_file() and ends_as_table(path):
            raise CheckpointError(
                f"{path}: a checkpoint of TensorFlow's version 1 (a single file without .index), "
                "which cannot be read here; restore it in TensorFlow and save it in version 2, by "
                "tf.compat.v1.train.Saver().save(session, NAME)"
            )


def _names(found: list[Path]) -> str:
    return ", ".join(prefix.name for prefix in found)
