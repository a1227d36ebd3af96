"""A job's folder: the model it writes, and under ``training/`` what it needs to go on."""

from __future__ import annotations

import json
import shutil
from glob import escape
from pathlib import Path

from filelock import FileLock, Timeout

from zh_albert.errors import ConfigError
from zh_albert.textio import HALF_WRITTEN, atomic_write
from zh_albert.training.events import MetricsFile, Observer, TensorBoard
from zh_albert.training.loop import is_first_process
from zh_albert.training.resume import RunState, read_position, refuse_changed

_HELD: dict[Path, FileLock] = {}  # by this process, until it ends or lets go
_MODEL_FILES = ("config.json", "model.safetensors", "README.md", "vocab.txt", "spiece.model")


def state_folder(out: Path) -> Path:
    """Return where a job that writes the model folder ``out`` keeps its own files."""
    return out / "training"


def metrics_file(out: Path) -> Path:
    """Return where a job writes its events, one JSON object a line."""
    return state_folder(out) / "metrics.jsonl"


def open_run(out: Path, settings: str, *, resume: bool) -> RunState:
    """Begin a job in a folder, or go on with the one that was begun there.

    Args:
        out: The model folder to be written.
        settings: Resolved settings, kept as ``training/config.toml``.
        resume: Go on, if something was begun.

    Returns:
        Where the job stands.

    Raises:
        ConfigError: If the folder holds something that the job would replace, a run without
            ``resume``, or a finished run with other settings; or if a job is running there.
    """
    folder = state_folder(out)
    refuse_taken(out, resume=resume)
    saved = read_position(folder)
    if saved:  # asked before hours go into what others would need; the training loop asks it again
        refuse_changed(saved[1].partition("# processes")[0], settings)
    if is_first_process():
        _keep_others_off(out)
        _clear_half_written(out)
    if not saved and is_first_process():
        with atomic_write(folder / "config.toml") as file:
            file.write(settings.encode())
    return saved[0] if saved else RunState()


def refuse_taken(out: Path, *, resume: bool) -> None:
    """Refuse a folder that holds something a job would replace, or a run without ``resume``.

    Raises:
        ConfigError: See ``open_run``, which asks it, too; before hours go into reading.
    """
    folder = state_folder(out)
    saved = read_position(folder)
    if not saved and not (folder / "config.toml").exists():  # what is there is no run of ours
        _refuse_to_replace(out)
    if not resume and (saved or (out / "config.json").exists()):
        what = "an unfinished training" if saved and not saved[0].finished else "a model"
        raise ConfigError(
            f"{out} already holds {what}: add --resume to go on with it, or choose another folder"
        )


def refuse_trained(out: Path, *, source: str | Path) -> None:
    """Refuse to write another model into a folder in which one was trained.

    Args:
        out: Folder to write.
        source: What is written is made of; the folder itself may be.

    Raises:
        ConfigError: If the model there would be lost.
    """
    if state_folder(out).is_dir() and Path(source).resolve() != out.resolve():
        raise ConfigError(
            f"{out} holds a model that was trained there and would be replaced: choose another "
            "folder"
        )


def refuse_foreign(out: Path) -> None:
    """Refuse to write a model where it would replace files that belong to none of ours.

    Raises:
        ConfigError: Naming them.
    """
    try:
        ours = "zh_albert" in json.loads((out / "config.json").read_bytes())
    except (OSError, ValueError, TypeError):
        ours = False
    if not ours:
        _refuse_to_replace(out)


def release(out: Path) -> None:
    """Let go of a job's folder before the process ends: of one that runs many, one by one."""
    lock = _HELD.pop(state_folder(out).resolve(), None)
    if lock is not None:
        lock.release()


def run_observers(out: Path, position: RunState, *, tensorboard: bool) -> list[Observer]:
    """Return those that write the job's own files; none but on the first process."""
    if not is_first_process():
        return []
    folder = state_folder(out)
    observers: list[Observer] = [MetricsFile(metrics_file(out), resumed_update=position.update)]
    if tensorboard:
        observers.append(TensorBoard(folder / "tensorboard"))
    return observers


def _keep_others_off(out: Path) -> None:
    """Hold the folder as long as this process lives; the system lets go of it after a kill."""
    folder = state_folder(out).resolve()
    if folder in _HELD:
        return
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ConfigError(
            f"{out}: another job is running there; wait until it ends or choose another folder"
        ) from None
    _HELD[folder] = lock


def _clear_half_written(out: Path) -> None:
    """Remove what a run that was killed while it saved has left; nobody else writes here now."""
    beside = out.parent.glob(f".{escape(out.name)}.{HALF_WRITTEN}.*")
    for path in [*beside, *out.glob(f"**/.*.{HALF_WRITTEN}.*")]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _refuse_to_replace(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: expected a folder to write, found a file")
    if found := [name for name in _MODEL_FILES if (out / name).exists()]:
        raise ConfigError(
            f"{out} holds files of another origin that would be replaced "
            f"({', '.join(found)}): choose another folder"
        )
