"""A teacher's answers: asked once, and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from zh_albert.distillation import soft_targets as teaching
from zh_albert.distillation.soft_targets import TeacherConfig, ask_once, fingerprint
from zh_albert.errors import CheckpointError, ConfigError, TrainingError
from zh_albert.training.events import Event, StageProgress

LENGTHS = list(range(1, 41))


class Asked:
    """TeacherAnswers each text by its number; remembers which; can be stopped."""

    def __init__(self, stop_after: int = 10**6) -> None:
        self.texts: list[int] = []
        self.stop_after = stop_after

    def __call__(self, texts: Sequence[int]) -> NDArray[np.float32]:
        if len(self.texts) >= self.stop_after:
            raise KeyboardInterrupt
        self.texts += texts
        return np.array([[text + 1, -text - 1] for text in texts], np.float32)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "_ASKED", 100)


def answers_of(asked: Asked, folder: Path | None, known_as: str = "a") -> NDArray[np.float16]:
    kept = ask_once(asked, LENGTHS, 2, folder=folder, known_as=known_as, progress=lambda _: None)
    return kept.logits


EXPECTED = np.array([[length, -length] for length in range(1, 41)], np.float16)


@pytest.mark.parametrize("kept", [True, False])
def test_answers_come_in_the_order_of_the_texts(tmp_path: Path, kept: bool) -> None:
    np.testing.assert_array_equal(answers_of(Asked(), tmp_path if kept else None), EXPECTED)
    assert len(list(tmp_path.iterdir())) == kept


def test_an_interrupted_run_asks_only_what_is_left(tmp_path: Path) -> None:
    first, second, third = Asked(stop_after=20), Asked(), Asked()
    with pytest.raises(KeyboardInterrupt):
        answers_of(first, tmp_path)
    found = answers_of(second, tmp_path)
    np.testing.assert_array_equal(found, EXPECTED)
    assert 20 <= len(first.texts) < 40
    assert sorted(first.texts + second.texts) == list(range(40))
    answers_of(third, tmp_path)
    assert not third.texts


def test_a_text_may_have_several_answers(tmp_path: Path) -> None:
    counts = [1, 3, 2]

    def ask(texts: list[int]) -> NDArray[np.float32]:
        return np.array([[text, part] for text in texts for part in range(counts[text])])

    for _ in range(2):
        kept = ask_once(
            ask, [9, 1, 5], 2, counts=counts, folder=tmp_path, known_as="a", progress=lambda _: None
        )
        assert kept.of([2, 0]).tolist() == [[2, 0], [2, 1], [0, 0]]
        assert kept.of([1]).tolist() == [[1, 0], [1, 1], [1, 2]]


def test_answers_of_another_teacher_are_not_taken(tmp_path: Path) -> None:
    answers_of(Asked(), tmp_path)
    other = Asked()
    answers_of(other, tmp_path, known_as="b")
    assert len(other.texts) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["teacher-b.npy"]


@pytest.mark.parametrize("damage", ["short", "shape", "empty", "header"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    answers_of(Asked(), tmp_path)
    path = tmp_path / "teacher-a.npy"
    if damage == "shape":
        np.save(path, np.zeros((3, 2), np.float16))
    elif damage == "header":  # it is the text of a dictionary
        path.write_bytes(path.read_bytes().replace(b"(40, 2)", b"(40, (2", 1))
    else:
        path.write_bytes(path.read_bytes()[: 150 if damage == "short" else 0])
    with pytest.raises(CheckpointError, match=r"teacher-a\.npy.*delete it"):
        answers_of(Asked(), tmp_path)


def test_progress_tells_how_many_are_answered(tmp_path: Path) -> None:
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        answers_of(Asked(stop_after=20), tmp_path)
    ask_once(Asked(), LENGTHS, 2, folder=tmp_path, known_as="a", progress=events.append)
    last = events[-1]
    assert isinstance(last, StageProgress)
    assert (last.done, last.total, last.seconds_left) == (40, 40, 0)
    assert last.per_second > 0


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e5])
def test_a_teacher_without_numbers_is_refused(value: float) -> None:
    with pytest.raises(TrainingError, match="half precision"):
        ask_once(
            lambda texts: np.full((len(texts), 2), value, np.float32),
            LENGTHS,
            2,
            folder=None,
            known_as="",
            progress=lambda _: None,
        )


def test_the_fingerprint_knows_every_file_and_text(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "README.md").write_text("card")
    before = fingerprint(tmp_path, ["好", "吃"])
    (tmp_path / "README.md").write_text("another card")
    assert fingerprint(tmp_path, ["好", "吃"]) == before
    assert fingerprint(tmp_path, ["吃", "好"]) != before
    assert fingerprint(tmp_path, ["好", ("吃", "")]) != before
    (tmp_path / "model.safetensors").write_bytes(b"Weights")
    assert fingerprint(tmp_path, ["好", "吃"]) != before


@pytest.mark.parametrize(
    "settings", [{"weight": -0.5}, {"weight": 1.5}, {"temperature": 0.0}, {"temperature": np.inf}]
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        TeacherConfig(model="x", **settings)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_in_place_of_the_answers_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "teacher-a.npy")
    with pytest.raises(CheckpointError, match=r"teacher-a\.npy.*found a pipe"):
        answers_of(Asked(), tmp_path)
