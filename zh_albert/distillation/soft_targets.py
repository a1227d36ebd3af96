"""Soft targets: a trained model's logits for every training text, computed once and stored.

A small model learns more from the probabilities of a larger one than from bare labels, and it can
learn from texts that have none (Hinton et al. 2015, arXiv:1503.02531).
"""

from __future__ import annotations

import hashlib
import json
import random
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.configio import check_above_0, check_at_least, check_fraction
from zh_albert.distillation.losses import divergence, logit_error
from zh_albert.errors import CheckpointError, ConfigError, TrainingError
from zh_albert.files.plain_files import refuse_special
from zh_albert.files.textio import atomic_write
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import Size, sorted_batches
from zh_albert.training.events import Observer
from zh_albert.training.stages import StageMeter

ANSWERS = "teacher-*.npy"
"""Files of a teacher's answers in the state folder of a run."""
_ASKED = 8192  # characters or tokens at a time: some seconds' work, lost if it is interrupted


@dataclass(frozen=True, kw_only=True)
class TeacherConfig:
    """A trained model of the same task, to learn from beside the labels; or several."""

    # Bundled name, folder or hub id. Several take turns, unless ``together``: then the mean of
    # their logits is learned.
    model: str | tuple[str, ...]
    together: bool = False
    # "equal": each for as many updates; "greedy": as soon as its answers are not much farther from
    # the student's than those of the one before, see ``route``
    turns: Literal["equal", "greedy"] = "equal"
    weight: float = 0.7  # of its answers in the loss; the labels have the rest. 0: none are asked
    temperature: float = 2.0  # above 1, answers that it thinks unlikely count more
    # "mse": of the logits, what the divergence becomes at high temperatures
    loss: Literal["divergence", "mse"] = "divergence"
    # Weight of matching its hidden states; 0: its answers alone are learned. It needs the student's
    # vocabulary and at least as many layers, and runs along: training takes half as long again.
    states: float = 0.0

    def __post_init__(self) -> None:
        if not self.models:
            raise ConfigError("teacher.model must name a model, found an empty list")
        if self.turns == "greedy" and (self.together or len(self.models) < 2 or not self.weight):
            raise ConfigError(
                "teacher.turns = 'greedy' is for several teachers one after another, whose answers "
                "are learned: name several, without together and with a weight above 0"
            )
        check_fraction("teacher.weight", self.weight)
        check_above_0("teacher.temperature", self.temperature)
        check_at_least(0, "teacher.states", self.states)

    @property
    def models(self) -> tuple[str, ...]:
        """The teachers, in their order."""
        return (self.model,) if isinstance(self.model, str) else self.model

    def distance(self, logits: Tensor, soft_targets: Tensor) -> Tensor:
        """Return what is lost of the teacher's answers. Shape: (…, logits) → (…)."""
        if self.loss == "mse":
            return logit_error(logits, soft_targets)
        return divergence(logits, soft_targets, self.temperature)


def refuse_untaught(
    unlabelled: Sequence[Any], teacher: TeacherConfig | None, *, matched: bool = False
) -> None:
    """Check that there is a teacher for texts without labels.

    Args:
        unlabelled: The texts.
        teacher: Whose answers are learned, unless they weigh nothing.
        matched: Whether only what is matched is learned, so that no answers are needed.

    Raises:
        ConfigError: If there is none.
    """
    if unlabelled and not matched and not (teacher and teacher.weight):
        raise ConfigError(
            "texts without labels need a teacher to say what they are: --set teacher.model=…"
        )


def find_teacher(model: str, task: str) -> tuple[Path, dict[str, Any]]:
    """Return a teacher's model folder, and what it says of its task.

    Args:
        model: Bundled name, folder or hub id.
        task: What it must be for.

    Raises:
        CheckpointError: If there is no such model, or it is for another task.
    """
    folder = resolve_model(model)
    _, metadata = load_config(folder)
    if (found := metadata.get("name")) != task:
        raise CheckpointError(
            f"{folder}: expected a teacher for the task {task}, found a model for "
            f"{found or 'no task (an encoder)'}; fine-tune it first: zh-albert finetune "
            f"--task {task} --init {model} …"
        )
    return folder, metadata


def refuse_other_tokens(teacher: Path, tokenizer: Tokenizer) -> None:
    """Check that a teacher has its student's tokens: its answers are compared token by token.

    Raises:
        CheckpointError: If it does not.
    """
    theirs = matching_tokenizer(teacher, load_config(teacher)[0])
    if theirs.save_files() != tokenizer.save_files():
        raise CheckpointError(
            f"{teacher}: expected a teacher with the student's vocabulary, because its answers are "
            "compared token by token; found another one"
        )


def fingerprint(teacher: Path, contents: Sequence[Any]) -> str:
    """Return a digest of the teacher's files, without the model card, and of its inputs.

    Args:
        teacher: A model folder.
        contents: The teacher's inputs in order, ready for JSON.
    """
    digest = hashlib.sha256()
    for path in sorted(teacher.iterdir()):
        if path.is_file() and path.name != "README.md":
            with path.open("rb") as file:
                digest.update(
                    f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
                )
    digest.update(json.dumps(contents).encode())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class TeacherAnswers:
    """A teacher's logits for some texts.

    Attributes:
        logits: Logits of all texts, concatenated. Shape: (answers, logits).
        ends: 0, then the end of each text's answers in ``logits``. Shape: (texts + 1,).
    """

    logits: NDArray[np.float16]
    ends: NDArray[np.int64]

    def of(self, texts: Sequence[int]) -> Tensor:
        """Return the logits of some texts, concatenated. Shape: (answers, logits)."""
        return torch.from_numpy(self.logits[self._rows(texts)].astype(np.float32))

    def missing(self, texts: Sequence[int]) -> bool:
        """Return whether some of these texts have no logits yet, or not finite ones."""
        return not np.isfinite(self.logits[self._rows(texts)]).all()

    def keep(self, texts: Sequence[int], logits: ArrayLike) -> None:
        """Set the logits of some texts, and write them to the disk if there is a file."""
        with np.errstate(over="ignore"):
            self.logits[self._rows(texts)] = logits
        if isinstance(self.logits, np.memmap):
            self.logits.flush()

    def _rows(self, texts: Sequence[int]) -> NDArray[np.int64]:
        return np.concatenate([np.arange(self.ends[text], self.ends[text + 1]) for text in texts])


def ask_once(
    ask: Callable[[list[int]], ArrayLike],
    lengths: Sequence[int],
    width: int,
    *,
    counts: Sequence[int] | None = None,
    folder: Path | None,
    known_as: str,
    keep: Sequence[str] = (),
    progress: Observer,
) -> TeacherAnswers:
    """Return a teacher's logits, computing only those that are not stored yet.

    Args:
        ask: Numbers of texts → the teacher's logits, concatenated. Shape: (answers, logits).
        lengths: Length of each text, in characters or tokens.
        width: Number of logits in an answer.
        counts: Number of answers for each text; None: one.
        folder: Folder of the memory-mapped array file. Its entries are NaN until they are computed,
            so an interrupted run continues where it stopped. None: nothing is stored.
        known_as: Part of the file's name; see ``fingerprint``.
        keep: Those of the run's other teachers. Further files of answers are deleted.
        progress: Observer of the number of answered texts and of the time left.

    Raises:
        CheckpointError: If the file is damaged.
        TrainingError: If a logit is not finite in half precision.
    """
    ends = np.cumsum([0, *(counts or [1] * len(lengths))])
    unanswered = np.broadcast_to(np.float16(np.nan), (ends[-1], width))  # takes no memory
    names = {ANSWERS.replace("*", name) for name in keep}
    path = folder / ANSWERS.replace("*", known_as) if folder else None
    logits = _kept(path, unanswered, names) if path else unanswered.copy()
    answers = TeacherAnswers(logits, ends)
    chunks = sorted_batches([Size(rows=1, length=length) for length in lengths], _ASKED)
    left = [chunk for chunk in chunks if answers.missing(chunk)]
    random.Random(0).shuffle(left)  # long and short ones: how long the rest takes can be told
    done = len(lengths) - sum(map(len, left))
    stage = StageMeter("the teacher answers", len(lengths), progress, done=done)
    for chunk in left:
        answers.keep(chunk, ask(chunk))
        if answers.missing(chunk):
            raise TrainingError(
                "the teacher's answers are not all numbers of half precision: it has diverged; "
                "take another one"
            )
        stage.advance(len(chunk))
    return answers


def _kept(path: Path, unanswered: NDArray[np.float16], names: set[str]) -> NDArray[np.float16]:
    """Map the file; where there is none it is made, and those of other teachers or texts go."""
    if not path.exists():
        for old in path.parent.glob(ANSWERS):
            if old.name not in names:
                old.unlink(missing_ok=True)
        with atomic_write(path) as file:
            np.save(file, unanswered)
    remedy = "delete it, and the teacher answers anew"
    try:
        refuse_special(path)
        np.load(path, mmap_mode="r")  # refuses a file that is too short; to be written to, it grows
        answers: NDArray[np.float16] = np.load(path, mmap_mode="r+")
    except (OSError, ValueError, EOFError, SyntaxError, tokenize.TokenError) as error:
        raise CheckpointError(f"{path}: damaged ({error}); {remedy}") from None
    if answers.shape != unanswered.shape or answers.dtype != unanswered.dtype:
        raise CheckpointError(
            f"{path}: expected {unanswered.dtype} of the shape {unanswered.shape}, found "
            f"{answers.dtype} of {answers.shape}; {remedy}"
        )
    return answers
