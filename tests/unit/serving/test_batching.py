"""The queue before a model, with a model of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import pytest

from zh_albert.errors import DataError
from zh_albert.serving import batching
from zh_albert.serving.batching import (
    BadTextError,
    BatchingQueue,
    QueueFullError,
    WorkerError,
)
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.classification.predictor import Estimate
from zh_albert.tasks.predictor import AnyPredictor


class Length:
    """Answers each text with its length; notes what it was asked together."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.go = threading.Event()

    def stream(self, texts: Iterable[Any]) -> Iterator[Estimate | DataError]:
        batch = list(texts)  # of this thread; the other one may append meanwhile
        self.batches.append(batch)
        assert self.go.wait(10)
        for text in batch:
            if text == "broken":
                raise RuntimeError(text)
            if text == "panic":
                raise SystemExit(text)
            yield Estimate(len(text)) if text else DataError("the text is empty")

    def row(self, answer: Estimate) -> dict[str, Any]:
        return {"value": answer.value}

    def as_one_request(self, contents: Sequence[Any], request: int) -> Any:
        if isinstance(contents[0], Question):
            return Chooser.as_one_request(cast(Chooser, self), contents, request)
        return None


@pytest.fixture
def length() -> Length:
    return Length()


@pytest.fixture
def queue(length: Length) -> Iterator[BatchingQueue]:
    queue = BatchingQueue(cast(AnyPredictor, length), max_waiting=100_000)
    yield queue
    length.go.set()
    queue.close()


def put(queue: BatchingQueue, *texts: Any) -> Any:
    return queue.put(texts, [len(text) for text in texts]).answers


def busy(queue: BatchingQueue, length: Length) -> Any:
    """Return the answers of a request that is being read, so that others wait."""
    first = put(queue, "first")
    while not length.batches:
        pass
    return first


def test_what_waits_is_answered_together_and_in_order(queue: BatchingQueue, length: Length) -> None:
    first = busy(queue, length)
    others = [put(queue, "a" * number, "好") for number in (3, 1, 2)]
    length.go.set()
    assert first.result(10) == [b'{"value": 5}']
    assert [one.result(10)[0] for one in others] == [b'{"value": %d}' % n for n in (3, 1, 2)]
    assert length.batches[1:] == [["aaa", "好", "a", "好", "aa", "好"]]
    assert queue.waiting == 0


def test_a_long_request_takes_turns_with_short_ones(queue: BatchingQueue, length: Length) -> None:
    busy(queue, length)
    text = "好" * (batching.BATCH_CHARACTERS // 2)
    long, short = put(queue, *[text] * 5), put(queue, "短")
    length.go.set()
    assert len(long.result(10)) == 5
    assert short.result(10) == [b'{"value": 1}']
    assert length.batches[2][0] == "短"
    assert sum(map(len, length.batches[1:])) == 6


class Held(Length):
    """Answers short texts at once, long ones when it may."""

    def stream(self, texts: Iterable[Any]) -> Iterator[Estimate | DataError]:
        batch = list(texts)
        self.batches.append(batch)
        assert len(batch[0]) < batching.BATCH_CHARACTERS or self.go.wait(10)
        yield from [Estimate(len(text)) for text in batch]


LONG = "好" * (batching.BATCH_CHARACTERS + 1)


def test_a_long_text_holds_nobody_up() -> None:
    held = Held()
    queue = BatchingQueue(cast(AnyPredictor, held), max_waiting=100_000)
    long, mixed = put(queue, LONG), put(queue, "短", LONG, "最后")
    assert put(queue, "短").result(10) == [b'{"value": 1}']
    assert not long.done()
    assert not mixed.done()
    held.go.set()
    assert long.result(10) == [b'{"value": %d}' % len(LONG)]
    assert mixed.result(10) == [b'{"value": %d}' % n for n in (1, len(LONG), 2)]
    assert queue.waiting == 0
    queue.close()


def test_a_request_of_long_and_short_texts_is_answered_to_its_end_while_closing() -> None:
    held = Held()
    queue = BatchingQueue(cast(AnyPredictor, held), max_waiting=100_000)
    mixed = put(queue, "短", LONG, "短", LONG, "短")
    closing = threading.Thread(target=queue.close)
    closing.start()
    held.go.set()
    assert len(mixed.result(10)) == 5
    closing.join(10)
    assert not closing.is_alive()


def test_a_cancelled_request_of_which_a_part_is_read_goes_on_nowhere() -> None:
    held = Held()
    queue = BatchingQueue(cast(AnyPredictor, held), max_waiting=100_000)
    mixed = put(queue, LONG, "gone")
    while not held.batches:
        pass
    assert mixed.cancel()
    held.go.set()
    queue.close()
    assert held.batches == [[LONG]]


def test_a_cancelled_request_is_never_read(queue: BatchingQueue, length: Length) -> None:
    busy(queue, length)
    gone, stays = put(queue, "gone"), put(queue, "stays")
    before = queue.waiting
    assert gone.cancel()
    assert queue.waiting == before - len("gone") - 2
    length.go.set()
    assert stays.result(10) == [b'{"value": 5}']
    assert length.batches[1:] == [["stays"]]


def test_a_bad_text_and_a_failure_hurt_only_their_own_request(
    queue: BatchingQueue, length: Length
) -> None:
    busy(queue, length)
    good, empty, broken = put(queue, "ok"), put(queue, "ok", ""), put(queue, "broken")
    panic = put(queue, "panic")
    length.go.set()
    assert good.result(10) == [b'{"value": 2}']
    with pytest.raises(BadTextError, match=r"texts\[1\]: the text is empty") as caught:
        empty.result(10)
    assert caught.value.index == 1
    with pytest.raises(RuntimeError, match="broken"):
        broken.result(10)
    with pytest.raises(RuntimeError, match="SystemExit"):
        panic.result(10)
    assert put(queue, "still").result(10) == [b'{"value": 5}']


def test_a_full_queue_refuses_and_says_when_to_come_back(
    queue: BatchingQueue, length: Length
) -> None:
    busy(queue, length)
    put(queue, "好" * 90_000)
    with pytest.raises(QueueFullError, match="100000 may") as caught:
        put(queue, "好" * 20_000)
    assert 1 <= caught.value.retry_after_s <= 60
    put(queue, "短")


def test_closing_answers_what_was_accepted_and_refuses_more(
    queue: BatchingQueue, length: Length
) -> None:
    busy(queue, length)
    accepted = put(queue, "accepted")
    closing = threading.Thread(target=queue.close)
    closing.start()
    while queue.alive:
        pass
    with pytest.raises(QueueFullError, match="shutting down"):
        put(queue, "late")
    length.go.set()
    closing.join(10)
    assert accepted.result(0) == [b'{"value": 8}']


def test_groups_of_two_requests_stay_apart_and_whole(queue: BatchingQueue, length: Length) -> None:
    busy(queue, length)
    context = "好" * batching.BATCH_CHARACTERS
    asked = Question(context, "", ("晴", "雨"), "一")
    both = [queue.put([asked, asked], [len(context)] * 2).answers for _ in range(2)]
    length.go.set()
    assert all(len(one.result(10)) == 2 for one in both)
    assert [len(batch) for batch in length.batches[1:]] == [2, 2]
    assert len({question.group for batch in length.batches[1:] for question in batch}) == 2


def test_a_thread_that_dies_fails_its_requests_and_is_replaced(
    length: Length, caplog: pytest.LogCaptureFixture
) -> None:
    def count(texts: int) -> None:
        if texts == 3:
            raise SystemExit

    queue = BatchingQueue(cast(AnyPredictor, length), max_waiting=100_000, on_batch=count)
    busy(queue, length)
    nearly = "好" * (batching.BATCH_CHARACTERS - 2)
    waiting = [put(queue, "a", "b"), put(queue, "c"), put(queue, nearly)]
    length.go.set()
    for one in waiting:
        with pytest.raises(WorkerError, match="try again"):
            one.result(10)
    assert "the thread of a model died" in caplog.text
    assert put(queue, "again").result(10) == [b'{"value": 5}']
    assert queue.alive
    assert queue.waiting == 0
    queue.close()
    assert not queue.alive


def test_a_model_that_hangs_is_not_alive(length: Length) -> None:
    queue = BatchingQueue(cast(AnyPredictor, length), max_waiting=100, stuck_after_s=0.1)
    busy(queue, length)
    while queue.alive:
        pass
    length.go.set()
    while not queue.alive:
        pass
    queue.close()
