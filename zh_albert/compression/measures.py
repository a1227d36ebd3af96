"""Measures of a model of a task: speed on one thread, size of its files, answers by example."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock
from numpy.typing import NDArray

from zh_albert.checkpoints.files import EXPORT_METADATA, EXPORTED_NETWORKS, NGRAMS, WEIGHTS
from zh_albert.checkpoints.shared_ngrams import ngrams_file
from zh_albert.checkpoints.store import load_config
from zh_albert.compression.work import card_of, job_on
from zh_albert.runtimes.libraries import OnnxRuntime
from zh_albert.runtimes.onnx_network import onnx_model
from zh_albert.runtimes.runtime import Runtime
from zh_albert.runtimes.selection import LazyRuntime, choose_runtime, is_installed
from zh_albert.tasks.catalog import task_of
from zh_albert.tasks.classification.heads import class_names
from zh_albert.tasks.task import Task
from zh_albert.tasks.texts import spread
from zh_albert.training.stages import silent

_WARM_UP = 3  # texts before the first that is timed
_BULK_S = 0.4  # seconds that a round of many texts is to take
_BULK = (16, 256)  # fewest and most texts of a round


def speed_of(
    task: Task, model: Any, examples: Sequence[Any], *, texts: int = 40, rounds: int = 3
) -> dict[str, float]:
    """Time a model on the contents of examples with each engine that is installed.

    CPU time and not the clock, so that other processes on the machine count little; the number of
    threads is set to 1 meanwhile.

    Args:
        task: Of the model.
        model: Its weights may be random.
        examples: At least one; of the task.
        texts: How many are timed one by one.
        rounds: Each times all of them; the least of each text counts, and the median in bulk.

    Returns:
        ``ms`` for a text alone and ``texts_per_second`` of many, tokenization included, each with
        the engine that is fastest at it.
    """
    contents = [content_of(model, example) for example in examples]
    tried, bulk = engines(model), []
    singles = single_ms(task, model, examples, tried, texts=texts, rounds=rounds)
    with _running(model):
        for runtime, ms in zip(tried, singles, strict=True):
            model.runtime = runtime
            answer_all = partial(_answer_all, task.predictor(model))
            count = min(max(int(1000 * _BULK_S / ms), _BULK[0]), _BULK[1])
            many = list(islice(cycle(contents), count))
            took = statistics.median(_seconds(answer_all, many) for _ in range(rounds))
            bulk.append(count / took)
    return {"ms": min(singles), "texts_per_second": max(bulk)}


def single_ms(
    task: Task,
    model: Any,
    examples: Sequence[Any],
    tried: Sequence[LazyRuntime],
    *,
    texts: int = 40,
    rounds: int = 3,
) -> list[float]:
    """Return the milliseconds for a text alone, with each of some engines.

    For each text the least of all rounds counts, of these the median.

    Args:
        task: Of the model.
        model: See ``speed_of``.
        examples: At least one; contents of all lengths.
        tried: Engines; see ``engines``.
        texts: How many of the examples are timed.
        rounds: The engines take turns, so that a slow moment hits all of them.
    """
    contents = [content_of(model, example) for example in spread(examples, texts)]
    took: list[list[list[float]]] = [[] for _ in tried]
    pairs = getattr(model, "pairs", False)

    def ask(predictor: Any, content: Any) -> None:
        if type(content) is tuple and not pairs:  # a reader: question and text
            predictor(*content)
        else:
            predictor([content])

    with _running(model):
        for number, engine in itertools.product(range(rounds), range(len(tried))):
            model.runtime = tried[engine]
            predictor = task.predictor(model)
            if not number:
                for content in contents[:_WARM_UP]:
                    ask(predictor, content)
            took[engine].append([_seconds(partial(ask, predictor), one) for one in contents])
    return [1000 * statistics.median(map(min, zip(*each, strict=True))) for each in took]


class TimedBeside:
    """A model that others are timed in turn with, for the speed of a busy machine changes.

    Attributes:
        ms: The least time it took for a text alone, with the engine that is the fastest for it.
    """

    def __init__(self, task: Task, model: Any, examples: Sequence[Any]) -> None:
        self._task, self._model, self._examples = task, model, examples
        tried = engines(model)
        by_engine = single_ms(task, model, examples, tried)
        self.ms = min(by_engine)
        self._engine = tried[by_engine.index(self.ms)]

    def shares(self, model: Any, tried: Sequence[LazyRuntime]) -> list[float]:
        """Return what share of this model's time another one takes with each engine."""
        asked = self._task, self._model, self._examples
        [now] = single_ms(*asked, [self._engine], texts=20, rounds=5)
        self.ms = min(self.ms, now)
        theirs = single_ms(self._task, model, self._examples, tried, texts=20, rounds=5)
        return [ms / now for ms in theirs]


def engines(model: Any) -> list[LazyRuntime]:
    """Return the engines that a network is tried with: the exact one, and int8 where there is one.

    They are what ``load`` and ``export --precision int8`` run.
    """
    exact = choose_runtime(model.module, model.outputs)
    return [exact, LazyRuntime(partial(_int8, model))] if is_installed("onnxruntime") else [exact]


def _int8(model: Any) -> Runtime:
    return OnnxRuntime(onnx_model(model.module, model.outputs, precision="int8"), "int8")


def content_of(model: Any, example: Any) -> Any:
    """Return what a model's predictor is given of a task's example."""
    if hasattr(example, "asked"):  # of multiple choice
        return example.asked
    if hasattr(example, "question"):  # of reading
        return example.question, example.context
    text = example.text
    return text if isinstance(text, str) or getattr(model, "pairs", False) else text[0]


def right_answers(model: Any, examples: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return 1 for each example that a classifier of one class answers rightly, else 0.

    Returns:
        Shape: (examples,). None if the model is of another kind: its scores are no mean of such.
    """
    head: Any = getattr(model, "head", None)
    if getattr(head, "name", None) != "classes":
        return None
    scores = model.scores([example.text for example in examples])
    gold = [class_names(example.label)[0] for example in examples]
    found = head.answers(gold, scores)
    return np.array([a == b for a, b in zip(found, gold, strict=True)], float)


def around_weights(folder: Path) -> int:
    """Return the bytes of a model folder besides its weights: vocabulary, config, n-grams."""
    besides = {WEIGHTS, NGRAMS, EXPORT_METADATA, *EXPORTED_NETWORKS}
    files = [path for path in folder.iterdir() if path.is_file() and path.name not in besides]
    if settings := load_config(folder)[1].get("ngrams"):
        files.append(ngrams_file(folder, settings))
    return sum(path.stat().st_size for path in files)


def without_ngrams(source: Path, out: Path) -> Path:
    """Return a folder with the same network alone: the source, or ``out``, which is written.

    A model with n-grams is judged by its network, because n-grams would answer for a bad one.
    """
    metadata = load_config(source)[1]
    if not metadata.get("ngrams"):
        return source
    out.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(out.with_suffix(".lock")):
        if (out / "config.json").is_file():
            return out
        model = task_of(source, metadata).model.load(source)
        model.ngrams = None
        model.save(out, card=card_of(source), dtype=torch.float32)
    return out


def training_seconds(task: Task, folder: Path, examples: Sequence[Any]) -> float:
    """Return the CPU time that a model takes to learn from one example once, to estimate a run's.

    Args:
        task: Of the model.
        folder: The model's; nothing is written.
        examples: A few dozen.
    """
    job = job_on(task, folder, examples)
    job.prepare(silent)
    network = job.model.module.train()
    began = time.process_time()
    for item in job.plan(0):
        job.loss(network, job.load(item).inputs).loss.backward()
    return (time.process_time() - began) / len(examples)


@contextmanager
def _running(model: Any) -> Iterator[None]:
    """Have one thread, and afterwards the threads and the runtime of before."""
    threads, runtime = torch.get_num_threads(), model.runtime
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        model.runtime = runtime


def _answer_all(predictor: Any, contents: Sequence[Any]) -> None:
    for _ in predictor.stream(contents):
        pass


def _seconds(work: Callable[[Any], None], content: Any) -> float:
    began = time.process_time()
    work(content)
    return time.process_time() - began
