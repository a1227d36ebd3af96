"""Cleaning and de-duplication of a corpus as stages of datatrove steps.

Tasks are determined by the input only, so the output does not depend on the number of workers or on
the executor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)

from corpora_tools.cleaning import CleanDocuments, CleaningConfig, KeepLongEnough
from corpora_tools.decontamination import (
    Decontaminate,
    contamination_index,
    evaluation_texts,
    save_index,
)
from corpora_tools.dedup import DigestDocuments, DropEqual, FindEqual, SignDocuments
from corpora_tools.documents import ReadDocuments, WriteShard
from corpora_tools.executors import Executor, PipelineStage
from corpora_tools.folders import InputFile, plan_tasks
from corpora_tools.jobs import DATA, Report, job, run_stages
from corpora_tools.normalization import Simplify, normalize, simplify


@dataclass(frozen=True, kw_only=True)
class MinHashSettings:
    """Definition of near duplicates; by default they share about 72 % of their n-grams."""

    ngram: int = 5  # characters per n-gram
    buckets: int = 14
    hashes: int = 8  # per bucket; more hashes raise the similarity threshold, more buckets lower it

    def config(self) -> MinhashConfig:
        """Return datatrove's settings."""
        return MinhashConfig(
            n_grams=self.ngram, num_buckets=self.buckets, hashes_per_bucket=self.hashes
        )


def clean(
    inputs: Sequence[InputFile],
    out: Path,
    config: CleaningConfig,
    *,
    exclude: Sequence[Path] = (),
    shard_format: str = "zst",
    source: str | None = None,
    domain: str = "other",
    executor: Executor = "local",
    workers: int | None = 1,
    report: Report | None = None,
) -> dict[str, Any]:
    """Normalize, clean and decontaminate documents into shards; return the statistics.

    Args:
        inputs: The files; see ``find_inputs``.
        out: A folder: new, empty, or that of the same job, which is then continued; only the tasks
            of changed and added inputs are done again.
        config: Rules for paragraphs and documents.
        exclude: Evaluation files whose texts must not be in the corpus.
        shard_format: ``zst`` or ``xz``.
        source: Replaces the documents' own.
        domain: Domain of documents without one.
        executor: Where tasks run; a job can be continued by another executor.
        workers: Tasks at once; None: one per core, or all on a cluster.
        report: Called whenever a task is finished.

    Raises:
        DataError: If an input cannot be read, or ``out`` holds something else.
    """
    settings = {
        "config": asdict(config),
        "format": shard_format,
        "source": source,
        "domain": domain,
    }
    out = out.absolute()
    tasks = plan_tasks(inputs)
    with job(out, "clean", settings, tasks, exclude, "clean") as state:
        steps: list[Any] = [
            ReadDocuments(tasks, source=source, domain=domain),
            CleanDocuments(config),
        ]
        if exclude:
            index = state / DATA / "evaluation.npy"
            if not index.exists():
                save_index(contamination_index(_as_cleaned(exclude, config.simplify)), index)
            steps += [Decontaminate(index), KeepLongEnough(config.min_document)]
        steps.append(WriteShard(out, shard_format))
        stages = [PipelineStage("clean", steps, len(tasks))]
        return run_stages(out, state, stages, executor, workers, report)


def _as_cleaned(paths: Sequence[Path], when: Simplify) -> Iterator[str]:
    """Yield evaluation texts as they stand in cleaned documents.

    With ``auto`` a document decides, so both forms may occur.
    """
    for path in paths:
        for text in map(normalize, evaluation_texts(path)):
            yield text
            if when != "never":
                yield simplify(text, "always")


def dedup(
    inputs: Sequence[InputFile],
    out: Path,
    minhash: MinHashSettings | None,
    *,
    shard_format: str = "zst",
    executor: Executor = "local",
    workers: int | None = 1,
    report: Report | None = None,
) -> dict[str, Any]:
    """Keep one of several equal or nearly equal documents; return the statistics.

    Args:
        inputs: Files written by ``clean``, or any others.
        out: A folder: new, empty, or that of the same job, which is then continued. Changed inputs
            are read again, the others only once the job had finished.
        minhash: Definition of near duplicates; None keeps them.
        shard_format: ``zst`` or ``xz``.
        executor: Where tasks run; a job can be continued by another executor.
        workers: Tasks at once; None: one per core, or all on a cluster.
        report: Called whenever a task is finished.

    Raises:
        DataError: If an input cannot be read, or ``out`` holds something else.
    """
    settings = {"minhash": asdict(minhash) if minhash else None, "format": shard_format}
    out = out.absolute()
    tasks = plan_tasks(inputs)
    with job(out, "dedup", settings, tasks, (), "digests") as state:
        stages = dedup_stages(tasks, out, state, minhash, shard_format)
        return run_stages(out, state, stages, executor, workers, report)


def dedup_stages(
    tasks: list[list[InputFile]],
    out: Path,
    state: Path,
    minhash: MinHashSettings | None,
    shard_format: str,
) -> list[PipelineStage]:
    """Return the stages of ``dedup``, for any executor of datatrove."""
    data = state / DATA
    equal = data / "equal"
    read = [ReadDocuments(tasks)]
    keep: list[Any] = [*read, DropEqual(equal)]
    stages = [
        PipelineStage("digests", [*read, DigestDocuments(data / "digests")], len(tasks)),
        PipelineStage("equal", [FindEqual(data / "digests", equal, len(tasks))], 1),
    ]
    if minhash:
        config = minhash.config()
        signatures, pairs, remove = (data / n for n in ("signatures", "pairs", "remove"))
        find = MinhashDedupBuckets(str(signatures), str(pairs), config=config)
        cluster = MinhashDedupCluster(str(pairs), str(remove), config=config)
        stages += [
            PipelineStage("signatures", [*keep, SignDocuments(signatures, config)], len(tasks)),
            PipelineStage("pairs", [find], minhash.buckets),
            PipelineStage("clusters", [cluster], 1),
        ]
        keep = [*keep, MinhashDedupFilter(str(remove))]
    return [*stages, PipelineStage("write", [*keep, WriteShard(out, shard_format)], len(tasks))]
