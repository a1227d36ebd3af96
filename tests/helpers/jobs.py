"""Fine-tuning jobs without the training: their instances, their batches, their losses."""

from __future__ import annotations

from typing import Any, TypeVar

from zh_albert.training.loop import Batch
from zh_albert.training.stages import silent

Job = TypeVar("Job", bound=Any)


def encoded(job: Job, model: Any = None) -> Job:
    """Make a job's training instances, as its run does.

    Args:
        job: Just made.
        model: Trained already, in the place of the job's own; None: the job's own.
    """
    if model is not None:
        job.model = model
    job.sizes = job.encode(silent)
    return job


def batches(job: Any, epoch: int = 0) -> list[Batch]:
    """Return the batches of an epoch of an encoded job."""
    return [job.load(item) for item in job.plan(epoch)]
