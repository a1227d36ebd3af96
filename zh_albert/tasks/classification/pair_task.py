"""Pairs of texts: classification of two texts that are read together."""

from __future__ import annotations

from dataclasses import replace

from zh_albert.tasks.classification.examples import read_pair_examples, read_unlabelled_pairs
from zh_albert.tasks.classification.task import TASK as ONE_TEXT

TASK = replace(ONE_TEXT, read=read_pair_examples, read_unlabelled=read_unlabelled_pairs)
