"""Jobs run one after the other, can be stopped, and leave no files behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.jobs import BackgroundJob, JobQueue


class Held(BackgroundJob):
    """Goes on until it is let go, or stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def work(self) -> None:
        (self.folder / "file").touch()
        while not self.let_go.wait(0.01):
            self.check()


class Panic(BaseException):
    """As of a library written in Rust, which is no ``Exception``."""


class Broken(BackgroundJob):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def work(self) -> None:
        raise self.error


def wait_for(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def queue(tmp_path: Path) -> JobQueue:
    return JobQueue(tmp_path)


def test_one_runs_and_the_others_wait_their_turn(queue: JobQueue) -> None:
    jobs = [Held(), Held(), Held()]
    for number, job in enumerate(jobs):
        queue.put(f"user {number}", job)
    wait_for(lambda: jobs[0].state == "running")
    assert [queue.ahead_of(job) for job in jobs] == [0, 1, 2]
    assert [job.state for job in jobs[1:]] == ["waiting", "waiting"]

    jobs[0].let_go.set()
    wait_for(lambda: jobs[1].state == "running")
    assert jobs[0].state == "done"
    assert (jobs[0].folder / "file").exists(), "its owner may still want it"
    jobs[1].stop()
    wait_for(lambda: jobs[2].state == "running")
    assert jobs[1].state == "stopped"
    queue.close()


def test_who_leaves_leaves_no_files(queue: JobQueue, tmp_path: Path) -> None:
    running, waiting = Held(), Held()
    queue.put("a", running)
    queue.put("b", waiting)
    wait_for(lambda: running.state == "running")
    queue.drop("b")
    queue.drop("a")
    wait_for(lambda: not running.active and not list(tmp_path.iterdir()))
    assert queue.of("a") is None
    queue.drop("nobody")


def test_who_leaves_as_the_job_ends_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(threading.Condition):
        """Lets the thread of the jobs wait before it looks for the next one."""

        def __enter__(self) -> bool:
            if job.state == "done" and threading.current_thread() in workers:
                looked.append(None)
                if len(looked) == 2:
                    left.wait(10)
            return super().__enter__()

    job, left, looked = Held(), threading.Event(), list[None]()
    job.let_go.set()
    monkeypatch.setattr(threading, "Condition", Slow)
    before = {*threading.enumerate()}
    queue = JobQueue(tmp_path)
    workers = {*threading.enumerate()} - before
    queue.put("a", job)
    wait_for(lambda: len(looked) == 2)
    queue.drop("a")
    left.set()
    wait_for(lambda: queue._current is None)
    assert not list(tmp_path.iterdir())


def test_a_new_job_replaces_the_owners_old_one(queue: JobQueue, tmp_path: Path) -> None:
    first, second = Held(), Held()
    queue.put("a", first)
    queue.put("a", second)
    wait_for(lambda: second.state == "running")
    assert not first.active
    assert queue.of("a") is second
    assert list(tmp_path.iterdir()) == [second.folder]
    queue.close()
    assert not list(tmp_path.iterdir())


def test_a_job_that_nobody_asks_after_is_given_up(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path, kept_s=0.4)
    watched, forgotten = Held(), Held()
    queue.put("a", watched)
    queue.put("b", forgotten)
    wait_for(lambda: queue.of("a") is watched and not forgotten.active)
    assert watched.active
    wait_for(lambda: not watched.active and not list(tmp_path.iterdir()))
    assert queue.of("a") is None


def test_a_forgotten_job_makes_way_for_those_that_wait(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path, yields_s=0.2)
    forgotten, waiting = Held(), Held()
    queue.put("a", forgotten)
    wait_for(lambda: forgotten.state == "running")
    time.sleep(0.5)
    assert forgotten.active, "nobody waits"
    queue.put("b", waiting)
    wait_for(lambda: waiting.state == "running")
    assert forgotten.state == "stopped"
    queue.close()


@pytest.mark.parametrize("kind", [OSError, Panic])
def test_what_breaks_is_kept_and_the_next_one_runs(
    queue: JobQueue, kind: type[BaseException]
) -> None:
    broken, fine = Broken(kind("no space left")), Held()
    queue.put("a", broken)
    queue.put("b", fine)
    wait_for(lambda: fine.state == "running")
    assert broken.state == "failed"
    assert str(broken.failure) == "no space left"
    queue.close()


def test_a_job_that_waits_is_stopped_at_once(queue: JobQueue) -> None:
    jobs = [Held(), Held(), Held()]
    for number, job in enumerate(jobs):
        queue.put(f"user {number}", job)
    wait_for(lambda: jobs[0].state == "running")
    queue.stop("user 1")
    queue.stop("nobody")
    assert jobs[1].state == "stopped"
    assert not jobs[1].active
    assert queue.of("user 1") is jobs[1], "its page says that it was stopped"
    assert queue.ahead_of(jobs[2]) == 1
    queue.close()


def test_a_queue_says_whose_job_it_gave_up_until_the_next_one(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path, kept_s=0.1)
    queue.put("sleeper", Held())
    wait_for(lambda: queue.has_forgotten("sleeper"))
    assert queue.of("sleeper") is None
    assert not queue.has_forgotten("another")
    queue.put("sleeper", Held())
    assert not queue.has_forgotten("sleeper")
    queue.drop("sleeper")
    assert not queue.has_forgotten("sleeper"), "it left by itself"
    queue.close()
