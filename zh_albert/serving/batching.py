"""Dynamic batching: a queue and two threads for each model; waiting requests share batches."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any, NamedTuple

from zh_albert.errors import DataError, ZhAlbertError
from zh_albert.files.textio import encode_json
from zh_albert.tasks.predictor import AnyPredictor

BATCH_CHARACTERS = 4096  # two forward passes: enough to fill them, short enough to be fair
_LOG = logging.getLogger(__name__)
_TEXT_CHARACTERS = 2  # cost of a text in addition to its characters: [CLS] and [SEP]


class QueueFullError(ZhAlbertError):
    """The queue holds as much as the server accepts.

    Attributes:
        retry_after_s: When the queue should have room again.
    """

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class WorkerError(ZhAlbertError):
    """A thread of the model died while a request waited."""


class BadTextError(DataError):
    """One of a request's texts cannot be answered.

    Attributes:
        index: Index of the text, from 0.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(f"texts[{index}]: {message}")
        self.index = index


class Job(NamedTuple):
    """One request.

    Attributes:
        contents: Inputs of the predictor.
        costs: Characters of each content.
        options: Further arguments of ``stream``; only jobs with the same ones share a batch.
        whole: Whether its texts must be answered at once, as their answers depend on each other.
        rows: Answers so far, as JSON.
        answers: Future of ``rows``, set when all are there. Cancelling it removes the job.
    """

    contents: Sequence[Any]
    costs: Sequence[int]
    options: Mapping[str, Any]
    whole: bool
    rows: list[bytes]
    answers: Future[list[bytes]]

    @property
    def is_long(self) -> bool:
        """Whether what is to be answered next is more than a batch by itself."""
        following = sum(self.costs) if self.whole else self.costs[len(self.rows)]
        return following > BATCH_CHARACTERS


class _Piece(NamedTuple):
    """The texts of a job that are answered in one batch."""

    job: Job
    first: int
    contents: Sequence[Any]


class _Lane:
    """What waits for one of the threads.

    Attributes:
        jobs: Requests in their order.
        batch_began: When the batch began that is read; 0: the thread waits for requests.
        thread: Reads them.
    """

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()
        self.batch_began = 0.0
        self.thread: threading.Thread


class BatchingQueue:
    """A queue that answers requests to one model in batches.

    A thread takes the waiting texts, up to ``BATCH_CHARACTERS``, and never waits for more. A longer
    request is taken in pieces and moves to the end of the queue after each, so that others do not
    wait for all of it. A text that is more than a batch by itself is read by a second thread, so
    that others do not wait for it either. The answer to a text does not depend on the other texts
    of its batch, except in the last digits of a score.

    If a thread dies, all requests get a ``WorkerError``, as any of them may have been the cause,
    and another thread begins.

    Args:
        predictor: The model.
        max_waiting: Limit on the characters of requests that are accepted and not yet answered.
        stuck_after_s: Seconds after which a batch that is not done shows that the model hangs.
        on_batch: Called with the number of texts of each batch.
    """

    def __init__(
        self,
        predictor: AnyPredictor,
        *,
        max_waiting: int,
        stuck_after_s: float = 60.0,
        on_batch: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._predictor, self._max_waiting, self._on_batch = predictor, max_waiting, on_batch
        self._stuck_after_s = stuck_after_s
        self._lanes = {long: _Lane() for long in (False, True)}
        self._unanswered: dict[int, Job] = {}  # by identity; also those a thread works on
        self._waiting = 0
        self._speed = 10_000.0  # characters a second; measured from the first batch on
        self._closing = False
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        for lane in self._lanes.values():
            self._start(lane)

    @property
    def alive(self) -> bool:
        """Whether the queue accepts requests, and its threads answer them."""
        return not self._closing and all(map(self._works, self._lanes.values()))

    @property
    def waiting(self) -> int:
        """Characters of requests that are accepted and not yet answered."""
        return self._waiting

    def put(
        self,
        contents: Sequence[Any],
        characters: Sequence[int],
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> Job:
        """Accept a request.

        Args:
            contents: Inputs of the predictor; at least one.
            characters: Cost of each content.
            options: See ``Job``.

        Raises:
            QueueFullError: If too much waits already, or the queue is closed.
        """
        costs = [count + _TEXT_CHARACTERS for count in characters]
        whole = self._predictor.as_one_request(contents, next(self._numbers))
        job = Job(whole or contents, costs, options, whole is not None, [], Future())
        with self._changed:
            if self._closing:
                raise QueueFullError("the server is shutting down; try again", 5)
            # An empty queue accepts any request that passed the limits on a single request.
            if self._waiting and self._waiting + sum(costs) > self._max_waiting:
                raise QueueFullError(
                    f"the queue is full: {self._waiting} characters wait, {self._max_waiting} "
                    "may; try again later",
                    max(1, min(60, round(self._waiting / self._speed))),
                )
            self._waiting += sum(costs)
            self._lanes[job.is_long].jobs.append(job)
            self._unanswered[id(job)] = job
            self._changed.notify_all()
        job.answers.add_done_callback(lambda _: self._forget(job))
        return job

    def close(self) -> None:
        """Answer the accepted requests, then end the threads."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for lane in self._lanes.values():
            while (thread := lane.thread).is_alive():  # one that dies leaves another
                thread.join()

    def _forget(self, job: Job) -> None:
        with self._changed:
            if self._unanswered.pop(id(job), None) is None:
                return
            self._waiting -= sum(job.costs)
            for lane in self._lanes.values():  # by identity: two requests may be equal
                lane.jobs = deque(other for other in lane.jobs if other is not job)
            self._changed.notify_all()  # threads that wait for the end

    def _works(self, lane: _Lane) -> bool:
        began = lane.batch_began
        stuck = began and time.monotonic() - began > self._stuck_after_s
        return lane.thread.is_alive() and not stuck

    def _start(self, lane: _Lane) -> None:
        # A daemon thread: a second Ctrl-C ends the process at once.
        lane.thread = threading.Thread(target=self._run, args=[lane], daemon=True)
        lane.thread.start()

    def _run(self, lane: _Lane) -> None:
        try:
            self._work(lane)
        except BaseException:
            _LOG.exception("the thread of a model died; another one begins")
            with self._changed:
                for each in self._lanes.values():
                    each.jobs.clear()
                failed = list(self._unanswered.values())
                lane.batch_began = 0.0
                self._start(lane)
            for job in failed:
                self._end(job, WorkerError("the model failed and starts again; try again"))

    def _work(self, lane: _Lane) -> None:
        while pieces := self._take(lane):
            started = lane.batch_began = time.monotonic()
            self._answer(pieces)
            lane.batch_began = 0.0
            seconds = max(time.monotonic() - started, 1e-6)
            done = sum(sum(p.job.costs[p.first : p.first + len(p.contents)]) for p in pieces)
            self._speed += (done / seconds - self._speed) / 8
            self._put_back(pieces[-1].job)

    def _put_back(self, job: Job) -> None:
        """Put a request that has more to be answered at the end of its next lane."""
        with self._changed:
            if id(job) in self._unanswered:
                self._lanes[job.is_long].jobs.append(job)
                self._changed.notify_all()

    def _take(self, lane: _Lane) -> list[_Piece]:
        """Wait for the next batch and return it; empty when the queue is closed and empty.

        Of a request it may hold a part only as the last piece.
        """
        with self._changed:
            # What the other thread reads may go on here.
            self._changed.wait_for(lambda: lane.jobs or (self._closing and not self._unanswered))
            pieces: list[_Piece] = []
            room = BATCH_CHARACTERS
            for _ in range(len(lane.jobs)):
                job = lane.jobs[0]
                if pieces and job.options != pieces[0].job.options:
                    break
                first = end = len(job.rows)
                while end < len(job.costs):
                    too_much = job.costs[end] > room and (pieces or end > first)
                    if too_much and not (job.whole and end > first):
                        break
                    room -= job.costs[end]
                    end += 1
                if end == first:
                    break
                lane.jobs.popleft()
                pieces.append(_Piece(job, first, job.contents[first:end]))
                if end < len(job.costs):
                    break
            return pieces

    def _answer(self, pieces: Sequence[_Piece]) -> None:
        contents = [content for piece in pieces for content in piece.contents]
        try:
            stream: Any = self._predictor.stream
            found = list(stream(contents, **pieces[0].job.options))
            rows = iter(
                [one if isinstance(one, DataError) else self._encoded(one) for one in found]
            )
        except BaseException as error:  # a panic in Rust, as of a tokenizer, is no Exception
            if len(pieces) == 1:
                # An asyncio task must not raise anything else.
                failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
                self._end(pieces[0].job, failure)
            else:  # only the request that causes the error must fail
                for piece in pieces:
                    self._answer([piece])
            return
        self._on_batch(len(contents))
        for piece in pieces:
            mine = list(itertools.islice(rows, len(piece.contents)))
            for index, row in enumerate(mine, start=piece.first):
                if isinstance(row, DataError):
                    self._end(piece.job, BadTextError(str(row), index))
                    break
                piece.job.rows.append(row)
            if len(piece.job.rows) == len(piece.job.costs):
                self._end(piece.job, None)

    def _encoded(self, answer: Any) -> bytes:
        return encode_json(self._predictor.row(answer))

    def _end(self, job: Job, error: Exception | None) -> None:
        answers = job.answers
        if answers.done() or not (answers.running() or answers.set_running_or_notify_cancel()):
            return  # the client has disconnected
        self._forget(job)  # before its client knows, who may ask what waits
        if error is None:
            answers.set_result(job.rows)
        else:
            answers.set_exception(error)
