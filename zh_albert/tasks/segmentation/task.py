"""Word segmentation: the words of a Chinese text, which are written without spaces."""

from __future__ import annotations

from zh_albert.tasks.segmentation.baseline import score_baseline
from zh_albert.tasks.segmentation.examples import read_segmentation_examples
from zh_albert.tasks.segmentation.finetune import SegmentationJob, evaluate
from zh_albert.tasks.segmentation.predictor import Segmenter
from zh_albert.tasks.task import Task

TASK = Task(
    read=read_segmentation_examples,
    job=SegmentationJob,
    predictor=Segmenter,
    evaluate=evaluate,
    score_baseline=score_baseline,
    metric="f1",
)
