"""Resumable state of a run, in one file that is replaced as a whole.

One safetensors file holds the weights, the optimizer's moments and, in its header, the run state.
It holds no random state: the loop seeds PyTorch from (seed, update, process) before every update,
so randomness is a function of the position.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from zh_albert.configio import build
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.files.plain_files import parse_json, refuse_special
from zh_albert.files.textio import atomic_write

STATE_FILE = "state.safetensors"


@dataclass
class RunState:
    """Progress of a run: everything that is not a tensor."""

    update: int = 0  # updates done
    epoch: int = 0
    batch: int = 0  # updates done in this epoch
    tokens: int = 0  # read
    best_score: float | None = None
    best_metrics: dict[str, float] = field(default_factory=dict)
    best_update: int = 0
    unimproved: int = 0  # evaluations since the best one
    stopped_early: bool = False  # by ``TrainConfig.patience``
    seconds: float = 0.0  # of training, over all resumed runs
    finished: bool = False

    def advance(self, tokens: int, *, epoch_done: bool) -> None:
        """Count one update over ``tokens`` tokens."""
        self.update += 1
        self.tokens += tokens
        self.epoch, self.batch = (self.epoch + 1, 0) if epoch_done else (self.epoch, self.batch + 1)


def save_state(
    folder: Path, model: nn.Module, optimizer: Optimizer, run: RunState, settings: str
) -> None:
    """Replace the state in ``folder``; on any error (a full disk) the old one remains intact.

    Args:
        folder: The run's own folder.
        model: Its parameters and buffers are stored.
        optimizer: Its state is stored under the parameters' names.
        run: Stored in the header.
        settings: The resolved settings; a resumed run must have the same.

    Raises:
        CheckpointError: If the file cannot be written.
    """
    tensors = {f"model.{name}": value.contiguous() for name, value in _own_state(model).items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value.contiguous()
    header = {"position": json.dumps(asdict(run)), "settings": settings}
    data = safetensors.torch.save(tensors, metadata=header)
    had_state = (folder / STATE_FILE).exists()
    try:
        with atomic_write(folder / STATE_FILE) as file:
            file.write(data)
    except OSError as error:
        raise CheckpointError(
            f"{folder / STATE_FILE}: could not save the training state ({error.strerror})"
            f"{'; the previous state is intact' * had_state}: free some space and continue with "
            "--resume"
        ) from error


def _own_state(model: nn.Module) -> dict[str, Tensor]:
    """Return a network's state; a tensor that several parts share has the first one's name."""
    seen: set[tuple[int, torch.Size]] = set()
    state: dict[str, Tensor] = {}
    for name, value in model.state_dict().items():
        place = value.data_ptr(), value.shape
        if not (value.numel() and place in seen):
            state[name] = value
        seen.add(place)
    return state


def read_run_state(folder: Path) -> tuple[RunState, str] | None:
    """Return the saved run state and settings, or None if nothing was saved."""
    path = folder / STATE_FILE
    if not path.exists():
        return None
    try:
        refuse_special(path)
        with safetensors.safe_open(path, framework="pt") as file:
            header = file.metadata()
        return build(RunState, parse_json(header["position"])), header["settings"]
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from None
    except (safetensors.SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path}: not a training state of this version ({error}); delete it to start over"
        ) from None


def load_state(folder: Path, model: nn.Module, optimizer: Optimizer) -> None:
    """Load the model and the optimizer from the state in ``folder``."""
    with safetensors.safe_open(folder / STATE_FILE, framework="pt") as file:
        stored: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    weights = {k.removeprefix("model."): v for k, v in stored.items() if k.startswith("model.")}
    if other := weights.keys() ^ _own_state(model).keys():
        raise CheckpointError(
            f"{folder / STATE_FILE}: expected the weights of this network, found others: "
            f"{', '.join(sorted(other)[:4])}; delete it to start over"
        )
    try:
        model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise CheckpointError(f"{folder / STATE_FILE}: {error}") from None
    key_sets: set[tuple[str, ...]] = set()
    intact = True
    for name, parameter in model.named_parameters():
        prefix = f"optimizer.{name}."
        state: dict[str, Any] = {
            key.removeprefix(prefix): value.to(parameter.device if value.ndim else "cpu")
            for key, value in stored.items()
            if key.startswith(prefix) and "." not in key.removeprefix(prefix)
        }
        if state:
            key_sets.add(tuple(sorted(state)))
            optimizer.state[parameter] = state
        intact &= all(not v.ndim or v.shape == parameter.shape for v in state.values())
    if len(key_sets) != 1 or not intact:
        raise CheckpointError(
            f"{folder / STATE_FILE}: damaged: the optimizer state is incomplete; delete it to "
            "start over"
        )


def seed_for(seed: int, update: int, process: int) -> int:
    """Mix the three numbers into one seed; adjacent inputs give unrelated seeds (a splitmix64
    step).
    """
    value = (seed * 0x9E3779B97F4A7C15 + update * 0xBF58476D1CE4E5B9 + process) % 2**64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) % 2**64
    return value ^ (value >> 31)


def seed_torch(seed: int, update: int, process: int) -> None:
    """Seed PyTorch's generators for one update."""
    torch.manual_seed(seed_for(seed, update, process))


def refuse_changed(old: str, new: str) -> None:
    """Check that a run is resumed with the settings it was started with.

    Its own folder (``out``) is none of them: it may have been moved.

    Raises:
        ConfigError: Lists the settings that differ.
    """
    before, now = (
        [line for line in settings.splitlines() if not line.startswith("out = ")]
        for settings in (old, new)
    )
    if before == now:
        return
    removed, added = sorted(set(before) - set(now)), sorted(set(now) - set(before))
    raise ConfigError(
        "a run goes on only with the settings it was started with; "
        f"then: {'; '.join(removed) or 'nothing'}, now: {'; '.join(added) or 'nothing'}. "
        "Give those again, or start a new run in another folder"
    )
