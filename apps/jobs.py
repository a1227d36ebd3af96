"""Long work behind the page: one job at a time, on a thread of its own; the others wait in a queue.

Every job has a folder for its files, and a page that was closed or sleeps finds its job again. A
job that no page has asked about for a while is given up, and its files are removed.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from apps.tables import Table

JobState = Literal["waiting", "running", "done", "stopped", "failed"]
KEPT_S = 2 * 60 * 60  # of a job that no page asks about; the page says so
YIELDS_S = 5 * 60  # the same, of a job that runs while others wait


class StoppedError(Exception):
    """Raised within a job that was stopped."""


class BackgroundJob(ABC):
    """Work that can be watched and stopped.

    Attributes:
        folder: For its files; there once it is in a queue.
        outputs: The files that can be downloaded; empty until they are whole.
        state: How far it is.
        failure: What went wrong; None unless it failed.
        started: When it began, by ``time.monotonic``; 0 while it waits.
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.outputs: list[Path] = []
        self.state: JobState = "waiting"
        self.failure: BaseException | None = None
        self.started = 0.0
        self._stopping = threading.Event()

    @property
    def active(self) -> bool:
        """Return whether the job waits or runs."""
        return self.state in ("waiting", "running")

    def stop(self) -> None:
        """Ask it to end soon."""
        self._stopping.set()

    def check(self) -> None:
        """End the work if it was stopped; the work itself calls this often.

        Raises:
            StoppedError: If it was.
        """
        if self._stopping.is_set():
            raise StoppedError

    @abstractmethod
    def work(self) -> None:
        """Do the work."""

    def run(self) -> None:
        """Do the work, and note how it ended."""
        self.started = time.monotonic()
        try:
            self.check()
            self.state = "running"
            self.work()
        except StoppedError:
            self.state = "stopped"
        except BaseException as error:  # also a panic in Rust: it is shown, and the next job runs
            self.failure = error
            self.state = "failed"
        else:
            self.state = "done"


class TableJob(BackgroundJob):
    """Work on an uploaded table, which a page that is opened again finds with its settings.

    Attributes:
        table: The table.
        columns: The columns that are read.
        setting: The value of the tab's other box: a model, or a number.
        refused: HTML: why another job was not begun in this one's place; empty if none was.
    """

    def __init__(self, table: Table, columns: Sequence[str], setting: str | int) -> None:
        super().__init__()
        self.table, self.columns, self.setting = table, tuple(columns), setting
        self.refused = ""


class JobQueue:
    """Run jobs one after the other, one of each owner.

    Args:
        parent: The folder of their folders; None: the system's folder for temporary files.
        kept_s: Seconds after which a job is given up if no page asks about it.
        yields_s: The same, of one that runs while others wait.
    """

    def __init__(
        self, parent: Path | None = None, *, kept_s: float = KEPT_S, yields_s: float = YIELDS_S
    ) -> None:
        self._parent, self._kept_s, self._yields_s = parent, kept_s, yields_s
        self._changed = threading.Condition()
        self._waiting: list[BackgroundJob] = []
        self._owned: dict[str, BackgroundJob] = {}
        self._asked: dict[str, float] = {}  # when each owner last asked
        self._forgotten: set[str] = set()  # owners whose job was given up
        self._current: BackgroundJob | None = None
        for work in (self._run_jobs, self._give_up_forgotten):
            threading.Thread(target=work, daemon=True, name="zh-albert-jobs").start()

    def put(self, owner: str, job: BackgroundJob) -> None:
        """Run a job when its turn comes; an earlier one of the same owner is given up."""
        self.drop(owner)
        job.folder = Path(tempfile.mkdtemp(prefix="job-", dir=self._parent))
        with self._changed:
            self._owned[owner] = job
            self._asked[owner] = time.monotonic()
            self._waiting.append(job)
            self._changed.notify()

    def of(self, owner: str) -> BackgroundJob | None:
        """Return an owner's job; asking keeps it."""
        with self._changed:
            if owner in self._owned:
                self._asked[owner] = time.monotonic()
            return self._owned.get(owner)

    def has_forgotten(self, owner: str) -> bool:
        """Return whether an owner's last job was given up because nobody asked about it."""
        return owner in self._forgotten

    def ahead_of(self, job: BackgroundJob) -> int:
        """Count the jobs that come before a waiting one."""
        with self._changed:
            place = self._waiting.index(job) if job in self._waiting else 0
            return place + (self._current is not None and self._current is not job)

    def stop(self, owner: str) -> None:
        """Stop an owner's job; one that waits ends at once."""
        with self._changed:
            if job := self._owned.get(owner):
                self._stop(job)

    def drop(self, owner: str) -> None:
        """Give up an owner's job; its files are removed as soon as nothing writes to them."""
        with self._changed:
            self._forgotten.discard(owner)
            job = self._owned.pop(owner, None)
            if job is None:
                return
            del self._asked[owner]
            self._stop(job)
            if job is not self._current:
                shutil.rmtree(job.folder, ignore_errors=True)

    def close(self) -> None:
        """Give up all jobs, and wait a moment for the one that runs."""
        for owner in list(self._owned):
            self.drop(owner)
        end = time.monotonic() + 5
        while self._current is not None and time.monotonic() < end:
            time.sleep(0.05)

    def _stop(self, job: BackgroundJob) -> None:
        job.stop()
        if job in self._waiting:
            self._waiting.remove(job)
            job.state = "stopped"

    def _run_jobs(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                job = self._current = self._waiting.pop(0)
            job.run()
            with self._changed:
                self._current = None
                if job not in self._owned.values():
                    shutil.rmtree(job.folder, ignore_errors=True)

    def _give_up_forgotten(self) -> None:
        while True:
            time.sleep(min(self._kept_s, self._yields_s, 60) / 4)
            with self._changed:
                forgotten = [owner for owner in self._owned if self._is_forgotten(owner)]
            for owner in forgotten:
                self.drop(owner)
                self._forgotten.add(owner)

    def _is_forgotten(self, owner: str) -> bool:
        in_the_way = self._waiting and self._owned[owner] is self._current
        kept = min(self._kept_s, self._yields_s) if in_the_way else self._kept_s
        return self._asked[owner] < time.monotonic() - kept


class PageJobs:
    """The queues of a page, one for whole files and one for training.

    Args:
        parent: See ``JobQueue``.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.bulk, self.training = JobQueue(parent), JobQueue(parent)

    def close(self) -> None:
        """Give up all jobs."""
        for queue in (self.bulk, self.training):
            queue.close()
