"""Folder of a run: the model it writes and, under ``training/``, its resumable state."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from zh_albert.checkpoints.files import EXPORT_METADATA
from zh_albert.checkpoints.manifest import MANIFEST
from zh_albert.errors import ConfigError
from zh_albert.files.half_written import EVERY, left_over, remove_unheld
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.files.textio import atomic_write
from zh_albert.training.events import MetricsFile, Observer, TensorBoard
from zh_albert.training.loop import is_first_process
from zh_albert.training.resume import RunState, read_run_state, refuse_changed

_HELD: dict[Path, FileLock] = {}  # locks of this process, until it ends or releases them
_MODEL_FILES = ("config.json", "model.safetensors", "README.md", "vocab.txt", "spiece.model")


def state_folder(out: Path) -> Path:
    """Return the folder for the state of a run that writes the model folder ``out``."""
    return out / "training"


def metrics_file(out: Path) -> Path:
    """Return the path of a run's events, one JSON object per line."""
    return state_folder(out) / "metrics.jsonl"


def open_run(out: Path, settings: str, *, resume: bool) -> RunState:
    """Start a run in a folder, or continue the one that was started there.

    Args:
        out: The model folder to be written.
        settings: Resolved settings, kept as ``training/config.toml``.
        resume: Continue if a run was started there.

    Returns:
        State of the run.

    Raises:
        ConfigError: If the folder holds something that the run would replace, a run without
            ``resume``, or a finished run with other settings; or if another process is training
            there.
    """
    folder = state_folder(out)
    refuse_taken(out, resume=resume)
    saved = read_run_state(folder)
    if saved:  # before hours of preparation; the training loop checks it again
        refuse_changed(saved[1].partition("# processes")[0], settings)
    if is_first_process():
        _lock_folder(out)
        remove_unheld([*left_over(out), *out.glob(f"**/{EVERY}")])
    if not saved and is_first_process():
        with atomic_write(folder / "config.toml") as file:
            file.write(settings.encode())
    return saved[0] if saved else RunState()


def refuse_taken(out: Path, *, resume: bool) -> None:
    """Check that a folder holds nothing a run would replace, and no run unless ``resume`` is given.

    ``open_run`` checks it again; this is for callers that would first spend hours on reading data.

    Raises:
        ConfigError: See ``open_run``.
    """
    folder = state_folder(out)
    saved = read_run_state(folder)
    if not saved and not (folder / "config.toml").exists():  # not a run of this project
        _refuse_to_replace(out)
    if not resume and (saved or (out / "config.json").exists()):
        what = "an unfinished training" if saved and not saved[0].finished else "a model"
        raise ConfigError(
            f"{out} already holds {what}: add --resume to continue it, or choose another folder"
        )


def refuse_trained(out: Path, *, source: str | Path) -> None:
    """Check that writing a model into a folder does not replace one that was trained there.

    Args:
        out: Folder to write.
        source: Folder that the new model is made from; may be ``out`` itself.

    Raises:
        ConfigError: If the model there would be lost.
    """
    if state_folder(out).is_dir() and Path(source).resolve() != out.resolve():
        raise ConfigError(
            f"{out} holds a model that was trained there and would be replaced: choose another "
            "folder"
        )


def refuse_foreign(out: Path) -> None:
    """Check that writing a model does not replace files that this project did not write.

    Raises:
        ConfigError: Lists those files.
    """
    try:
        ours = "zh_albert" in parse_json(read_plain(out / "config.json"))
    except (OSError, ValueError, TypeError):
        ours = False
    # An export of a foreign model has its config.json.
    ours = ours or all((out / name).is_file() for name in (EXPORT_METADATA, MANIFEST))
    if not ours:
        _refuse_to_replace(out)


def release(out: Path) -> None:
    """Release a run's folder before the process ends, for processes that make several runs."""
    lock = _HELD.pop(state_folder(out).resolve(), None)
    if lock is not None:
        lock.release()


def run_observers(out: Path, run: RunState, *, tensorboard: bool) -> list[Observer]:
    """Return the observers that write the run's own files; none except on the first process."""
    if not is_first_process():
        return []
    folder = state_folder(out)
    observers: list[Observer] = [MetricsFile(metrics_file(out), resumed_update=run.update)]
    if tensorboard:
        observers.append(TensorBoard(folder / "tensorboard"))
    return observers


def _lock_folder(out: Path) -> None:
    """Hold the folder as long as this process lives; the system releases it after a kill."""
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


def _refuse_to_replace(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: expected a folder to write, found a file")
    if found := [name for name in _MODEL_FILES if (out / name).exists()]:
        raise ConfigError(
            f"{out} holds files from elsewhere that would be replaced "
            f"({', '.join(found)}): choose another folder"
        )
