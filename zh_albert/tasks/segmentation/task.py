"""Word segmentation: the words of a Chinese text, which are written without spaces."""

from __future__ import annotations

from zh_albert.tasks.segmentation.examples import read_segmentation_examples
from zh_albert.tasks.segmentation.predictor import Segmenter
from zh_albert.tasks.segmentation.segmenter import TextSegmenter
from zh_albert.tasks.task import Task

TASK = Task(
    package=__package__,
    read=read_segmentation_examples,
    model=TextSegmenter,
    predictor=Segmenter,
    metric="f1",
)
