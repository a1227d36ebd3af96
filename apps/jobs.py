"""Long work behind the page: one job at a time, on a thread of its own; others wait in a row.

Every job has a folder for its files, and a page that was closed or sleeps finds its job again. One
that nobody has asked after for a while is given up, and its files go with it.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Literal

State = Literal["waiting", "running", "done", "stopped", "failed"]
KEPT_S = 2 * 60 * 60  # without anybody asking; the page says so
YIELDS_S = 5 * 60  # the same, while it runs and others wait


class StoppedError(Exception):
    """Raised within a job whose owner does not want it any more."""


class Job(ABC):
    """Work that can be watched and stopped.

    Attributes:
        folder: For its files; there once it is in a queue.
        state: How far it is.
        failure: What went wrong; None unless it failed.
        started: When it began, by ``time.monotonic``; 0 while it waits.
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.state: State = "waiting"
        self.failure: Exception | None = None
        self.started = 0.0
        self._stopping = threading.Event()

    @property
    def active(self) -> bool:
        """Whether it is still to be waited for."""
        return self.state in ("waiting", "running")

    def stop(self) -> None:
        """Ask it to end soon."""
        self._stopping.set()

    def check(self) -> None:
        """Go on, or not; called by the work itself, often.

        Raises:
            StoppedError: If somebody asked for it.
        """
        if self._stopping.is_set():
            raise StoppedError

    @abstractmethod
    def work(self) -> None:
        """Do it."""

    def run(self) -> None:
        """Do it, and keep how it ended."""
        self.started = time.monotonic()
        try:
            self.check()
            self.state = "running"
            self.work()
        except StoppedError:
            self.state = "stopped"
        except Exception as error:  # whatever it is: the page has to tell, and the next one waits
            self.failure = error
            self.state = "failed"
        else:
            self.state = "done"


class JobQueue:
    """Runs jobs one after the other, the latest of each owner.

    Args:
        parent: Where their folders are made; None: where the system keeps temporary files.
        kept_s: Seconds after which a job is given up if nobody asks after it.
        yields_s: The same, of one that runs while others wait.
    """

    def __init__(
        self, parent: Path | None = None, *, kept_s: float = KEPT_S, yields_s: float = YIELDS_S
    ) -> None:
        self._parent, self._kept_s, self._yields_s = parent, kept_s, yields_s
        self._changed = threading.Condition()
        self._waiting: list[Job] = []
        self._owned: dict[str, Job] = {}
        self._asked: dict[str, float] = {}  # when each owner did so last
        self._current: Job | None = None
        for work in (self._work_off, self._give_up_forgotten):
            threading.Thread(target=work, daemon=True, name="zh-albert-jobs").start()

    def put(self, owner: str, job: Job) -> None:
        """Run a job when its turn comes; an earlier one of the same owner is given up."""
        self.drop(owner)
        job.folder = Path(tempfile.mkdtemp(prefix="job-", dir=self._parent))
        with self._changed:
            self._owned[owner] = job
            self._asked[owner] = time.monotonic()
            self._waiting.append(job)
            self._changed.notify()

    def of(self, owner: str) -> Job | None:
        """Return an owner's job; for a while it is kept."""
        with self._changed:
            if owner in self._owned:
                self._asked[owner] = time.monotonic()
            return self._owned.get(owner)

    def ahead_of(self, job: Job) -> int:
        """Count the jobs that come before a waiting one."""
        with self._changed:
            place = self._waiting.index(job) if job in self._waiting else 0
            return place + (self._current is not None and self._current is not job)

    def drop(self, owner: str) -> None:
        """Give up an owner's job; its files go as soon as nothing writes them."""
        with self._changed:
            job = self._owned.pop(owner, None)
            if job is None:
                return
            del self._asked[owner]
            job.stop()
            if job in self._waiting:
                self._waiting.remove(job)
                job.state = "stopped"
            if job is not self._current:
                shutil.rmtree(job.folder, ignore_errors=True)

    def close(self) -> None:
        """Give up all jobs, and wait a moment for the one that runs."""
        for owner in list(self._owned):
            self.drop(owner)
        end = time.monotonic() + 5
        while self._current is not None and time.monotonic() < end:
            time.sleep(0.05)

    def _work_off(self) -> None:
        while True:
            with self._changed:
                self._current = None
                self._changed.wait_for(lambda: self._waiting)
                job = self._current = self._waiting.pop(0)
            job.run()
            with self._changed:
                if job not in self._owned.values():
                    shutil.rmtree(job.folder, ignore_errors=True)

    def _give_up_forgotten(self) -> None:
        while True:
            time.sleep(min(self._kept_s, self._yields_s, 60) / 4)
            with self._changed:
                forgotten = [owner for owner in self._owned if self._is_forgotten(owner)]
            for owner in forgotten:
                self.drop(owner)

    def _is_forgotten(self, owner: str) -> bool:
        in_the_way = self._waiting and self._owned[owner] is self._current
        kept = min(self._kept_s, self._yields_s) if in_the_way else self._kept_s
        return self._asked[owner] < time.monotonic() - kept


class Jobs:
    """The queues of a page: whole files do not wait for training.

    Args:
        parent: See ``JobQueue``.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.bulk, self.training = JobQueue(parent), JobQueue(parent)

    def close(self) -> None:
        """Give up all jobs."""
        for queue in (self.bulk, self.training):
            queue.close()
