"""``load(name)``: from a model's name to something that answers."""

from __future__ import annotations

from zh_albert.checkpoints.locate import locate
from zh_albert.inference.classification import Classifier


def load(model: str) -> Classifier:
    """Open a model: a bundled name, a folder, or a hub id.

    >>> load("sentimant")
    Traceback (most recent call last):
    zh_albert.errors.CheckpointError: 'sentimant': no such model folder, nor a bundled model \
(did you mean 'sentiment'?), nor a hub id (owner/name)

    Raises:
        CheckpointError: If there is no such model, or its files are damaged.
    """
    return Classifier.load(locate(model))
